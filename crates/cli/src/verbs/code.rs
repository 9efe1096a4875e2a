//! `lightspeed code`: what a submission of the caller's was compiled to.

use std::path::PathBuf;

use clap::Args;
use domain::kernel_name::{plain_name, without_cast};
use domain::{CodeKind, CodeListing, CodeText, SubmissionId};

use crate::client::Client;
use crate::failure::Failure;
use crate::suggest::did_you_mean;
use crate::terminal::Terminal;
use crate::{listing_text, values};

/// Flags of `code`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lightspeed code 0190b5a0-0000-7000-8000-000000000001 | less
  lightspeed code 0190b5a0-0000-7000-8000-000000000001 --kernel 'tile<64>'
  lightspeed code 0190b5a0-0000-7000-8000-000000000001 --sass
  lightspeed code 0190b5a0-0000-7000-8000-000000000001 --keep-code code
  lightspeed code 0190b5a0-0000-7000-8000-000000000001 --json | jq '.ptx.parts[].name'")]
pub(crate) struct Code {
    /// Id that `submit` printed
    #[arg(value_parser = values::submission)]
    submission: SubmissionId,
    /// Only this kernel or function: `tile<64>`, or `tile` for every instantiation
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Print the machine code instead of the PTX
    #[arg(long, conflicts_with_all = ["keep_code", "json"])]
    sass: bool,
    /// Write it into this folder as code.ptx and code.sass instead of printing
    #[arg(long, value_name = "DIR")]
    keep_code: Option<PathBuf>,
}

/// Prints the code, each line of the source quoted above what was made from it.
pub(crate) async fn run(
    arguments: Code,
    client: &Client,
    terminal: Terminal,
) -> Result<u8, Failure> {
    let submission = client.submission(arguments.submission).await?;
    let mut code = client.code(submission.summary.judging_id).await?;
    if let Some(name) = &arguments.kernel {
        choose(&mut code.code.ptx, name)?;
        if let Some(sass) = &mut code.code.sass {
            // A function may have been inlined there.
            sass.parts.retain(|part| is_called(&part.name, name));
        }
    }
    let source = submission.source.unwrap_or_default();
    if let Some(folder) = &arguments.keep_code {
        listing_text::keep(folder, &code.code, &source, terminal)?;
    }
    if terminal.json {
        terminal.print_json(&code);
    } else if arguments.keep_code.is_none() {
        let text = match arguments.sass {
            false => &code.code.ptx,
            true => machine_code(&code.code)?,
        };
        terminal.print(&listing_text::render(text, &source));
    }
    Ok(0)
}

/// The machine code, or why there is none.
fn machine_code(code: &CodeListing) -> Result<&CodeText, Failure> {
    let hint = "`lightspeed code` without --sass prints the PTX";
    let sass = code.sass.as_ref();
    let sass = sass.ok_or_else(|| Failure::usage(listing_text::no_sass(code), hint))?;
    if sass.parts.is_empty() {
        let message = "the machine code has no such function: it is part of those that call it";
        return Err(Failure::usage(message, hint));
    }
    Ok(sass)
}

/// Leaves what is called so.
fn choose(code: &mut CodeText, name: &str) -> Result<(), Failure> {
    let known: Vec<String> = names(code).map(str::to_owned).collect();
    if !known.iter().any(|known| is_called(known, name)) {
        let question = did_you_mean(name, known.iter().map(String::as_str));
        let hint = format!("{question}it has: {}", known.join(", "));
        let message = format!("the code has no kernel or function `{name}`");
        return Err(Failure::usage(message, hint));
    }
    code.parts.retain(|part| is_called(&part.name, name));
    Ok(())
}

fn names(code: &CodeText) -> impl Iterator<Item = &str> {
    let functions = code.parts.iter();
    let functions = functions.filter(|part| part.kind != CodeKind::Module);
    functions.map(|part| part.name.as_str())
}

/// Whether a function is called so: in full, without the cast of an overload, or without its template
/// arguments too.
fn is_called(function: &str, name: &str) -> bool {
    let names = [function, without_cast(function), plain_name(function)];
    !name.is_empty() && names.contains(&name)
}

#[cfg(test)]
mod tests {
    use domain::CodePart;

    use super::*;

    fn code() -> CodeText {
        let part = |kind, name: &str| CodePart {
            kind,
            name: name.to_owned(),
            text: "ret;".to_owned(),
            source_lines: vec![None],
        };
        let parts = vec![
            part(CodeKind::Kernel, "tile<64>"),
            part(CodeKind::Kernel, "tile<128>"),
            part(
                CodeKind::Kernel,
                "static_cast<void (*)(const float*, int)>(tanh)",
            ),
            part(CodeKind::Kernel, "static_cast<void (*)(float*)>(pack<4>)"),
            part(CodeKind::Kernel, "mode<static_cast<Mode>(1)>"),
            part(CodeKind::Function, "dot_rows"),
            part(CodeKind::Module, ""),
        ];
        CodeText {
            parts,
            lines_left_out: 0,
        }
    }

    #[test]
    fn a_kernel_is_chosen_with_or_without_its_arguments() {
        let chosen = |name: &str| {
            let mut code = code();
            choose(&mut code, name).unwrap();
            let names: Vec<String> = names(&code).map(str::to_owned).collect();
            assert_eq!(code.parts.len(), names.len());
            names
        };
        assert_eq!(chosen("tile<64>"), ["tile<64>"]);
        assert_eq!(chosen("tile"), ["tile<64>", "tile<128>"]);
        assert_eq!(chosen("dot_rows"), ["dot_rows"]);
        assert_eq!(chosen("mode"), ["mode<static_cast<Mode>(1)>"]);
    }

    #[test]
    fn an_overloaded_kernel_is_chosen_without_its_cast() {
        let has = |name: &str, whole: &str| {
            let mut code = code();
            choose(&mut code, name).unwrap();
            assert_eq!(names(&code).collect::<Vec<_>>(), [whole]);
        };
        let tanh = "static_cast<void (*)(const float*, int)>(tanh)";
        has("tanh", tanh);
        has(tanh, tanh);
        let pack = "static_cast<void (*)(float*)>(pack<4>)";
        has("pack", pack);
        has("pack<4>", pack);
        assert!(choose(&mut code(), "static_cast").is_err());
    }

    #[test]
    fn machine_code_that_is_missing_says_why() {
        let mut listing = CodeListing {
            no_sass: Some("disassembling took longer than 4 s".to_owned()),
            ..CodeListing::default()
        };
        let refused = machine_code(&listing).unwrap_err();
        let told = "no machine code: disassembling took longer than 4 s";
        assert!(refused.to_string().contains(told), "{refused}");
        listing.sass = Some(code());
        assert_eq!(machine_code(&listing).unwrap(), &code());
        listing.sass = Some(CodeText::default());
        let inlined = machine_code(&listing).unwrap_err().to_string();
        assert!(inlined.contains("no such function"), "{inlined}");
    }

    #[test]
    fn a_name_that_is_not_there_is_told_with_those_that_are() {
        let refused = choose(&mut code(), "dot_row").unwrap_err();
        assert_eq!(refused.exit_code(), 2);
        let hint = refused.hint().unwrap();
        assert!(hint.contains("did you mean `dot_rows`?"), "{hint}");
        assert!(hint.contains("it has: tile<64>, tile<128>, "), "{hint}");
        assert!(choose(&mut code(), "").is_err(), "the module has no name");
    }
}
