//! Calibrations on disk: one TOML file a card, named by its identity.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::{Calibration, SCHEMA};

impl Calibration {
    /// Writes the file, over an earlier one of the same card, and says where it is.
    ///
    /// # Errors
    /// A sentence with the path.
    pub fn store(&self, folder: &Path) -> Result<PathBuf, String> {
        let path = path(folder, &self.gpu_uuid);
        let text = toml::to_string_pretty(self).expect("a calibration is plain data");
        let written = std::fs::create_dir_all(folder)
            .and_then(|()| tempfile::NamedTempFile::new_in(folder))
            .and_then(|mut file| {
                file.write_all(text.as_bytes())?;
                file.persist(&path).map_err(|failed| failed.error)
            });
        match written {
            Ok(_) => Ok(path),
            Err(error) => Err(format!("{}: {error}", path.display())),
        }
    }

    /// The card's calibration; `None` where there is none or it cannot be read.
    #[must_use]
    pub fn load(folder: &Path, gpu_uuid: &str) -> Option<Self> {
        let path = path(folder, gpu_uuid);
        let text = std::fs::read_to_string(&path).ok()?;
        match toml::from_str::<Self>(&text) {
            Ok(calibration) if calibration.schema == SCHEMA => Some(calibration),
            Ok(other) => {
                tracing::warn!(path = %path.display(), schema = other.schema, "left unread");
                None
            }
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "no calibration");
                None
            }
        }
    }
}

fn path(folder: &Path, gpu_uuid: &str) -> PathBuf {
    folder.join(format!("{gpu_uuid}.toml"))
}
