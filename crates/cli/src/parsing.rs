//! From the words of the command line to [`CommandLine`], and what is said when they make no sense.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches};

use crate::arguments::CommandLine;
use crate::failure::Failure;

/// The way out where nothing says it better.
const HELP: &str = "`lightspeed help` and `lightspeed <verb> --help` tell what belongs there";

/// A command line that was understood.
pub(crate) struct Parsed {
    pub(crate) line: CommandLine,
    /// Flags of the verb that stand in the line itself, as `--listen`. What the environment says is
    /// not among them: the launcher sets some of it.
    pub(crate) given: Vec<String>,
}

/// A command line that was not, or one that only asked for help.
pub(crate) enum Refused {
    /// Help or the version: what clap prints is the answer.
    Answer(clap::Error),
    /// Clap's own words, with its tips and the usage line.
    Words(clap::Error, Failure),
    /// A sentence of ours.
    Sentence(Failure),
}

/// Reads the words.
pub(crate) fn parse(
    words: impl IntoIterator<Item = std::ffi::OsString>,
) -> Result<Parsed, Refused> {
    let mut command = CommandLine::command();
    let matches = command.try_get_matches_from_mut(words).map_err(refused)?;
    let line = CommandLine::from_arg_matches(&matches)
        .map_err(|error| refused(error.format(&mut command)))?;
    let given = matches
        .subcommand()
        .map_or_else(Vec::new, |(_, verb)| given(verb));
    Ok(Parsed { line, given })
}

/// Whether the words ask for JSON, for when nothing else of them is understood.
pub(crate) fn asks_for_json(words: &[std::ffi::OsString]) -> bool {
    let flags = words.iter().take_while(|word| *word != "--");
    flags.into_iter().any(|word| word == "--json")
}

fn given(verb: &ArgMatches) -> Vec<String> {
    verb.ids()
        .map(clap::Id::as_str)
        // Groups of flattened arguments are ids, too, and have names of types.
        .filter(|id| id.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
        .filter(|id| verb.value_source(id) == Some(ValueSource::CommandLine))
        .map(|id| format!("--{}", id.replace('_', "-")))
        .collect()
}

fn refused(error: clap::Error) -> Refused {
    match error.kind() {
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => Refused::Answer(error),
        ErrorKind::ValueValidation => Refused::Sentence(sentence(&error)),
        _ => {
            let failure = words(&error);
            Refused::Words(error, failure)
        }
    }
}

/// `--mode: ...`, from what our parser said.
fn sentence(error: &clap::Error) -> Failure {
    let said = std::error::Error::source(error).map(ToString::to_string);
    let flag = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(flag)) => flag.split_whitespace().next(),
        _ => None,
    };
    // A positional argument is `<SUBMISSION>` here, which its sentence names better.
    let place = flag.filter(|flag| flag.starts_with('-'));
    let place = place.map_or_else(String::new, |flag| format!("{flag}: "));
    let said = said.unwrap_or_else(|| "a value does not fit".to_owned());
    Failure::usage(format!("{place}{said}"), HELP)
}

/// What clap says, taken apart for programs: the first line, and what stands below it.
fn words(error: &clap::Error) -> Failure {
    let text = error.render().to_string();
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let message = first.strip_prefix("error: ").unwrap_or(first);
    // What is missing or possible stands in lines of its own below a colon.
    let (mut message, mut hint) = (message.to_owned(), String::new());
    for line in lines.take_while(|line| !line.starts_with("Usage:")) {
        match line.strip_prefix("tip: ") {
            Some(tip) => hint = tip.to_owned(),
            None => message = format!("{message} {line}"),
        }
    }
    if hint.is_empty() {
        HELP.clone_into(&mut hint);
    }
    Failure::usage(message, hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Parsed, Refused> {
        parse(words.iter().map(Into::into))
    }

    fn said(words: &[&str]) -> (String, String) {
        match parsed(words) {
            Err(Refused::Words(_, failure) | Refused::Sentence(failure)) => {
                assert_eq!(failure.exit_code(), 2);
                let hint = failure.hint().unwrap_or_default().to_owned();
                (failure.to_string(), hint)
            }
            _ => panic!("{words:?} is no error"),
        }
    }

    #[test]
    fn values_are_refused_in_our_words() {
        let (message, _) = said(&["lightspeed", "watch", "foo"]);
        assert!(
            message.starts_with("`foo` is no id of a submission"),
            "{message}"
        );
        let (message, _) = said(&["lightspeed", "submit", "p", "f.cu", "--mode", "x"]);
        assert_eq!(message, "--mode: `x` is no mode: write ranked or practice");
        let pause = &["lightspeed", "judge", "p", "f", "--batch", "--pause-s", "x"];
        let (message, _) = said(pause);
        assert!(
            message.starts_with("--pause-s: `x` is no time to wait: give seconds"),
            "{message}"
        );
    }

    #[test]
    fn claps_words_are_taken_apart() {
        let (message, hint) = said(&["lightspeed", "sumbit"]);
        assert_eq!(message, "unrecognized subcommand 'sumbit'");
        assert_eq!(hint, "a similar subcommand exists: 'submit'");
        let (message, hint) = said(&["lightspeed", "judge", "vector_add"]);
        assert!(message.ends_with("not provided: <FILE>..."), "{message}");
        assert!(hint.contains("--help"), "{hint}");
        let (message, _) = said(&["lightspeed", "devices", "--color", "x"]);
        assert!(message.contains("always"), "{message}");
    }

    #[test]
    fn only_flags_of_the_line_count_as_given() {
        let words = ["lightspeed", "up", "--listen", "127.0.0.1:1", "--quiet"];
        let Ok(parsed) = parsed(&words) else {
            panic!("it is understood");
        };
        assert!(parsed.given.contains(&"--listen".to_owned()));
        assert!(!parsed.given.contains(&"--device".to_owned()));
    }

    #[test]
    fn json_is_asked_for_by_its_flag_alone() {
        let asks = |words: &[&str]| {
            let words: Vec<std::ffi::OsString> = words.iter().map(Into::into).collect();
            asks_for_json(&words)
        };
        assert!(asks(&["lightspeed", "judge", "--json"]));
        assert!(!asks(&["lightspeed", "judge", "--", "--json"]));
    }
}
