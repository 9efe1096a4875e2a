//! Flags of the verbs that serve the API, and where the built page is.

use std::path::PathBuf;

use clap::Args;

use crate::failure::Failure;
use crate::terminal::Terminal;

/// What `up` and `serve` have in common.
#[derive(Debug, Args)]
pub(crate) struct Serving {
    /// Where to listen; a busy port gives the next free one
    #[arg(
        long,
        env = "LIGHTSPEED_LISTEN",
        default_value = "127.0.0.1:8080",
        value_name = "ADDR"
    )]
    pub(crate) listen: String,
    /// The database; `up` without one runs a private server
    #[arg(long, env = "DATABASE_URL", hide_env_values = true, value_name = "URL")]
    pub(crate) database_url: Option<String>,
    /// Folder of the built web app [default: beside this program]
    #[arg(long, env = "LIGHTSPEED_WEB", value_name = "DIR")]
    web: Option<PathBuf>,
}

impl Serving {
    /// The built web app: as told, or `web/build` above this program (`target/release/lightspeed`)
    /// or here. A folder that the command line names must hold one; one that only the environment
    /// names may still have to be built, and its absence is told.
    pub(crate) fn web_folder(
        &self,
        given: &[String],
        terminal: Terminal,
    ) -> Result<Option<PathBuf>, Failure> {
        let is_built = |folder: &PathBuf| folder.join("index.html").is_file();
        if let Some(web) = self.web.as_ref().filter(|web| !is_built(web)) {
            let message = format!("{} holds no built web app (no index.html)", web.display());
            if given.iter().any(|flag| flag == "--web") {
                let hint = "build it with `npm run build` in web/, or leave --web out";
                return Err(Failure::usage(message, hint));
            }
            terminal.say(&format!("LIGHTSPEED_WEB: {message}"));
        }
        let program = std::env::current_exe().unwrap_or_default();
        let beside = program
            .ancestors()
            .nth(3)
            .map(|root| root.join("web/build"));
        let folders = self.web.clone().into_iter().chain(beside);
        Ok(folders.chain([PathBuf::from("web/build")]).find(is_built))
    }
}
