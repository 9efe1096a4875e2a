//! What the verbs that judge on this machine share: state folder, packages, compiler, device,
//! randomness.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use domain::{DeviceName, SystemClock};
use judge::{Environment, GpuInfo, Lane, Toolchain};
use problems::Package;

use crate::answer;
use crate::arguments::Global;
use crate::failure::Failure;
use crate::suggest::did_you_mean;
use crate::terminal::Terminal;
use crate::values;

/// Flags of every verb that judges here.
#[derive(Clone, Debug, Args)]
pub(crate) struct Judging {
    /// The device to judge on, or `auto`: the first GPU of a known model, else the emulated device
    #[arg(
        long,
        env = "LIGHTSPEED_DEVICE",
        default_value = "auto",
        value_name = "NAME"
    )]
    pub(crate) device: String,
    /// Which GPU, by the driver's number, where there are several
    #[arg(long, value_name = "N", value_parser = values::whole(0..=u32::MAX))]
    pub(crate) gpu: Option<u32>,
    /// Folder of problem packages
    #[arg(
        long,
        env = "LIGHTSPEED_PROBLEMS",
        default_value = "problems",
        value_name = "DIR"
    )]
    pub(crate) problems: PathBuf,
    /// A ready folder with the CUDA compiler [default: installed with pip into the state folder]
    #[arg(long, env = "LIGHTSPEED_TOOLCHAIN", value_name = "DIR")]
    pub(crate) toolchain: Option<PathBuf>,
    /// Judge on a host that cannot confine children; only for sources that you trust
    #[arg(long)]
    pub(crate) allow_unconfined: bool,
}

/// Flags of verbs that measure a card itself.
#[derive(Clone, Debug, Args)]
pub(crate) struct Card {
    /// Which GPU, by the driver's number
    #[arg(long, value_name = "N", default_value_t = 0)]
    gpu: u32,
    /// A ready folder with the CUDA compiler [default: installed with pip into the state folder]
    #[arg(long, env = "LIGHTSPEED_TOOLCHAIN", value_name = "DIR")]
    toolchain: Option<PathBuf>,
    /// Measure on a host that cannot confine children
    #[arg(long)]
    allow_unconfined: bool,
}

impl Card {
    /// Surroundings with this GPU.
    pub(crate) fn environment(
        &self,
        state: &Path,
        on_step: &mut dyn FnMut(&str),
    ) -> Result<Environment, Failure> {
        let judging = self.judging();
        // Before anything is downloaded, and with another way out than a judging has.
        let (name, gpu) = found_device(&judging)
            .map_err(|failure| failure.with_hint("run this on a machine that has the GPU"))?;
        let mut environment = environment(&judging, state, on_step)?;
        environment.lane = gpu.map(|gpu| lane(&environment, name, gpu, false));
        Ok(environment)
    }

    /// The same where the driver is asked in this process, because a profiler watches it.
    pub(crate) fn environment_here(
        &self,
        state: &Path,
        on_step: &mut dyn FnMut(&str),
    ) -> Result<Environment, Failure> {
        let mut environment = environment(&self.judging(), state, on_step)?;
        let (name, uuid) = judge::experiments::gpu_here(self.gpu)
            .map_err(|why| Failure::unavailable(why, "name another GPU with --gpu"))?;
        let gpu = judge::Gpu {
            name,
            uuid,
            ordinal: self.gpu,
            card: None,
            cupti: environment.toolchain.cupti(),
        };
        environment.lane = Some(Lane::new(&environment, gpu, false));
        Ok(environment)
    }

    fn judging(&self) -> Judging {
        Judging {
            device: "auto".to_owned(),
            gpu: Some(self.gpu),
            problems: PathBuf::new(),
            toolchain: self.toolchain.clone(),
            allow_unconfined: self.allow_unconfined,
        }
    }
}

/// The state folder, made if need be. Says so when it is not the one that was asked for.
pub(crate) fn state_folder(global: &Global, terminal: Terminal) -> Result<PathBuf, Failure> {
    let state = local_postgres::state_folder::resolve(&global.state)?;
    if let Some(reason) = state.moved_because {
        terminal.say(&format!("state is in {}: {reason}", state.path.display()));
    }
    Ok(state.path)
}

/// The compiler: a ready folder, or the one in the state folder, installed if it is missing.
pub(crate) fn toolchain(
    ready: Option<&Path>,
    state: &Path,
    on_step: &mut dyn FnMut(&str),
) -> Result<Toolchain, Failure> {
    let Some(folder) = ready else {
        return Toolchain::install(&Toolchain::default_dir(state), on_step)
            .map_err(|error| Failure::unavailable(with_causes(&error), ""));
    };
    let leave_out = "leave --toolchain and LIGHTSPEED_TOOLCHAIN out to have the compiler installed \
                     into the state folder, or name a folder that was installed so";
    if !folder.is_dir() {
        let message = format!(
            "the folder {} of --toolchain (LIGHTSPEED_TOOLCHAIN) does not exist",
            folder.display()
        );
        return Err(Failure::usage(message, leave_out));
    }
    Toolchain::open(folder).map_err(|error| Failure::usage(with_causes(&error), leave_out))
}

/// Surroundings of a judging on this machine.
pub(crate) fn environment(
    judging: &Judging,
    state: &Path,
    on_step: &mut dyn FnMut(&str),
) -> Result<Environment, Failure> {
    // Before minutes go into installing a compiler.
    wanted_device(judging)?;
    let support = sandbox::support();
    if !support.can_confine() && !judging.allow_unconfined {
        return Err(Failure::unavailable(
            "this host cannot confine what it judges: Landlock or seccomp is missing",
            "use Linux 5.13 or newer with Landlock enabled, or --allow-unconfined for sources you trust",
        ));
    }
    let toolchain = toolchain(judging.toolchain.as_deref(), state, on_step)?;
    let environment = Environment::new(toolchain, Arc::new(SystemClock::default()));
    let mut environment =
        environment.map_err(|error| Failure::unavailable(with_causes(&error), ""))?;
    environment.allow_unconfined = judging.allow_unconfined;
    let cache = state.join("cache");
    environment.cache = std::fs::create_dir_all(&cache).is_ok().then_some(cache);
    if let Some(bytes) = cache_bytes()? {
        environment.cache_bytes = bytes;
    }
    environment.calibrations = Some(state.join("calibration"));
    Ok(environment)
}

/// The bound of the cache of compiles, where `LIGHTSPEED_CACHE_MIB` sets one.
fn cache_bytes() -> Result<Option<u64>, Failure> {
    let Ok(text) = std::env::var("LIGHTSPEED_CACHE_MIB") else {
        return Ok(None);
    };
    let bytes = text
        .parse::<u64>()
        .ok()
        .and_then(|mib| mib.checked_mul(1 << 20));
    match bytes {
        Some(bytes) => Ok(Some(bytes)),
        None => Err(Failure::usage(
            format!("LIGHTSPEED_CACHE_MIB is `{text}`"),
            "write a whole number of MiB; 0 keeps nothing",
        )),
    }
}

/// The way out where packages are not found.
const NAME_A_FOLDER: &str =
    "name a folder of problem packages with --problems or LIGHTSPEED_PROBLEMS";

/// The package that a slug or a folder names.
pub(crate) fn package(name: &str, problems: &Path) -> Result<Arc<Package>, Failure> {
    let as_folder = PathBuf::from(name);
    let folder = if as_folder.join("problem.toml").is_file() || name.contains('/') {
        as_folder
    } else {
        problems.join(name)
    };
    if !folder.join("problem.toml").is_file() {
        return Err(unknown_problem(name, &folder, problems));
    }
    Package::load(&folder)
        .map(Arc::new)
        .map_err(|error| Failure::usage(error.to_string(), ""))
}

/// Every package of a folder. Broken ones are told of and left out.
pub(crate) fn packages(problems: &Path, terminal: Terminal) -> Result<Vec<Package>, Failure> {
    if !problems.is_dir() {
        let message = format!(
            "{}: the folder of problem packages does not exist",
            problems.display()
        );
        return Err(Failure::usage(message, NAME_A_FOLDER));
    }
    let (packages, errors) = problems::load_all(problems);
    for error in &errors {
        terminal.say(&answer::clean(&format!("left out: {error}")));
    }
    if packages.is_empty() {
        return Err(Failure::usage(
            format!("{} holds no usable problem package", problems.display()),
            NAME_A_FOLDER,
        ));
    }
    Ok(packages)
}

/// The device that the flags name, made ready in the environment. `keeps_spare`: more than one judging
/// will come, so that each next one's children are worth making ready in time.
pub(crate) fn device(
    judging: &Judging,
    environment: &mut Environment,
    keeps_spare: bool,
) -> Result<DeviceName, Failure> {
    let (name, gpu) = found_device(judging)?;
    environment.lane = gpu.map(|gpu| lane(environment, name, gpu, keeps_spare));
    Ok(name)
}

/// A lane for a GPU of this machine.
pub(crate) fn lane(
    environment: &Environment,
    name: DeviceName,
    gpu: GpuInfo,
    keeps_spare: bool,
) -> Arc<Lane> {
    let gpu = judge::Gpu {
        name,
        card: gpu.card(),
        uuid: gpu.uuid,
        ordinal: gpu.ordinal,
        cupti: environment.toolchain.cupti(),
    };
    Lane::new(environment, gpu, keeps_spare)
}

/// The device that the flags name, and which GPU it is.
pub(crate) fn found_device(judging: &Judging) -> Result<(DeviceName, Option<GpuInfo>), Failure> {
    let (name, gpus) = found_devices(judging)?;
    Ok((name, gpus.into_iter().next()))
}

/// The device that the flags name, and every GPU that is one.
pub(crate) fn found_devices(judging: &Judging) -> Result<(DeviceName, Vec<GpuInfo>), Failure> {
    let wanted = wanted_device(judging)?;
    let emulated = (DeviceName::Emulated, Vec::new());
    if wanted == Some(DeviceName::Emulated) {
        return Ok(emulated);
    }
    let gpus = std::env::current_exe()
        .map_err(|error| error.to_string())
        .and_then(|program| judge::gpus(&program, judging.allow_unconfined));
    match choose(gpus, wanted, judging.gpu) {
        Ok(found) => Ok(found),
        // Nobody asked for a GPU.
        Err(_) if wanted.is_none() && judging.gpu.is_none() => Ok(emulated),
        Err(reason) => Err(Failure::unavailable(
            reason,
            "judge on the emulated device, or submit to a service that has this one",
        )),
    }
}

/// The device that `--device` names; `None` for `auto`. Asks no driver.
fn wanted_device(judging: &Judging) -> Result<Option<DeviceName>, Failure> {
    let wanted = match judging.device.as_str() {
        "auto" => None,
        name => Some(parse_device(name)?),
    };
    match (wanted, judging.gpu) {
        (Some(DeviceName::Emulated), Some(number)) => Err(Failure::usage(
            format!("--gpu {number} names a GPU, and --device emulated uses none"),
            "leave one of the two out (the device may come from LIGHTSPEED_DEVICE)",
        )),
        _ => Ok(wanted),
    }
}

/// The GPUs of the wanted model and number; of the first known model, where none was named.
fn choose(
    gpus: Result<Vec<GpuInfo>, String>,
    wanted: Option<DeviceName>,
    number: Option<u32>,
) -> Result<(DeviceName, Vec<GpuInfo>), String> {
    let what = wanted.map_or("GPU of a known model".to_owned(), |name| {
        format!("`{name}`")
    });
    let place = number.map_or_else(String::new, |number| format!(" as number {number}"));
    let gpus = gpus.map_err(|reason| {
        // Whose sentence it is tells a person nothing.
        let reason = reason.trim_start_matches("device: ");
        format!("this machine has no {what}: {reason}")
    })?;
    let fits = |gpu: &&GpuInfo| {
        number.is_none_or(|number| gpu.ordinal == number)
            && gpu
                .device
                .is_some_and(|name| wanted.is_none_or(|w| w == name))
    };
    let first = gpus.iter().find(fits).and_then(|gpu| gpu.device);
    let name = first.ok_or_else(|| {
        let names: Vec<&str> = gpus.iter().map(|gpu| gpu.name.as_str()).collect();
        format!(
            "this machine has no {what}{place}; it has: {}",
            names.join(", ")
        )
    })?;
    let alike = gpus.iter().filter(fits);
    let alike = alike.filter(|gpu| gpu.device == Some(name));
    Ok((name, alike.cloned().collect()))
}

/// A device by its name, or the sentence that says there is none.
pub(crate) fn parse_device(name: &str) -> Result<DeviceName, Failure> {
    name.parse().map_err(|_| {
        let known: Vec<&str> = DeviceName::ALL.iter().map(|d| d.as_str()).collect();
        let question = did_you_mean(name, known.iter().copied());
        let hint = format!("{question}known: auto {}", known.join(" "));
        Failure::usage(format!("there is no device `{name}`"), hint).with_code("unknown_device")
    })
}

/// A seed that nobody knows before.
pub(crate) fn fresh_seed() -> [u8; 32] {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).expect("the operating system gives random bytes");
    seed
}

/// An error with what caused it, in one line.
pub(crate) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(&format!(": {inner}"));
        cause = inner.source();
    }
    text
}

fn unknown_problem(name: &str, folder: &Path, problems: &Path) -> Failure {
    let known = known(problems);
    let looked_for = folder.join("problem.toml");
    let hint = if name.contains('/') {
        format!("{} was looked for", looked_for.display())
    } else if known.is_empty() {
        let what = if problems.is_dir() {
            "is empty"
        } else {
            "does not exist"
        };
        format!("the folder {} {what}: {NAME_A_FOLDER}", problems.display())
    } else {
        let question = did_you_mean(name, known.iter().map(String::as_str));
        format!(
            "{question}{} was looked for; known here: {}",
            looked_for.display(),
            known.join(" ")
        )
    };
    Failure::usage(format!("there is no problem `{name}`"), hint).with_code("unknown_problem")
}

fn known(problems: &Path) -> Vec<String> {
    let entries = problems.read_dir().into_iter().flatten().flatten();
    let mut slugs: Vec<String> = entries
        .filter(|entry| entry.path().join("problem.toml").is_file())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    slugs.sort();
    slugs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_problem_is_named_with_those_that_exist() {
        let folder = tempfile::tempdir().unwrap();
        let package_folder = folder.path().join("vector_add");
        std::fs::create_dir(&package_folder).unwrap();
        std::fs::write(package_folder.join("problem.toml"), "").unwrap();
        let failure = package("vector_ad", folder.path()).unwrap_err();
        assert_eq!(failure.exit_code(), 2);
        assert!(failure.to_string().contains("unknown_problem"), "{failure}");
        let hint = failure.hint().unwrap();
        assert!(hint.starts_with("did you mean `vector_add`? "), "{hint}");
        assert!(hint.ends_with("known here: vector_add"), "{hint}");
    }

    #[test]
    fn a_missing_folder_of_problems_is_told_with_the_ways_to_name_another() {
        let folder = tempfile::tempdir().unwrap();
        let nowhere = folder.path().join("problems");
        let ways = "name a folder of problem packages with --problems or LIGHTSPEED_PROBLEMS";
        let failure = package("vector_add", &nowhere).unwrap_err();
        let expected = format!("the folder {} does not exist: {ways}", nowhere.display());
        assert_eq!(failure.hint(), Some(expected.as_str()));
        let terminal = Terminal {
            json: false,
            quiet: true,
            animated: false,
        };
        let failure = packages(&nowhere, terminal).unwrap_err();
        assert_eq!(failure.exit_code(), 2);
        assert_eq!(failure.hint(), Some(ways));
    }

    #[test]
    fn a_missing_toolchain_is_told_with_its_flag_and_its_variable() {
        let nowhere = Path::new("/no/such/folder");
        let failure = toolchain(Some(nowhere), nowhere, &mut |_| ()).unwrap_err();
        assert_eq!(failure.exit_code(), 2);
        assert_eq!(
            failure.to_string(),
            "the folder /no/such/folder of --toolchain (LIGHTSPEED_TOOLCHAIN) does not exist"
        );
        assert!(failure.hint().unwrap().contains("leave --toolchain"));
    }

    fn gpu(ordinal: u32, name: &str, device: Option<DeviceName>) -> GpuInfo {
        GpuInfo {
            ordinal,
            name: name.to_owned(),
            uuid: String::new(),
            device,
            memory_bytes: 1 << 30,
            minor: None,
        }
    }

    #[test]
    fn a_gpu_is_chosen_by_model_and_number() {
        let gpus = vec![
            gpu(0, "GeForce GT 710", None),
            gpu(1, "NVIDIA H200", Some(DeviceName::H200)),
            gpu(2, "NVIDIA H200", Some(DeviceName::H200)),
        ];
        let choose = |wanted, number| {
            let chosen = choose(Ok(gpus.clone()), wanted, number);
            chosen.map(|(name, gpus)| {
                let ordinals: Vec<u32> = gpus.iter().map(|gpu| gpu.ordinal).collect();
                (name, ordinals)
            })
        };
        assert_eq!(choose(None, None), Ok((DeviceName::H200, vec![1, 2])));
        assert_eq!(
            choose(Some(DeviceName::H200), Some(2)),
            Ok((DeviceName::H200, vec![2]))
        );
        assert_eq!(
            choose(Some(DeviceName::T4), None).unwrap_err(),
            "this machine has no `t4`; it has: GeForce GT 710, NVIDIA H200, NVIDIA H200"
        );
        assert!(choose(None, Some(0)).is_err(), "no known model");
        let reason = super::choose(Err("device: no driver".into()), None, None).unwrap_err();
        assert_eq!(
            reason,
            "this machine has no GPU of a known model: no driver"
        );
    }

    #[test]
    fn an_unknown_device_is_told_with_the_known_ones() {
        let failure = parse_device("h201").unwrap_err();
        assert_eq!(failure.exit_code(), 2);
        assert!(failure.hint().unwrap().contains("b200"));
    }

    #[test]
    fn seeds_differ() {
        assert_ne!(fresh_seed(), fresh_seed());
    }
}
