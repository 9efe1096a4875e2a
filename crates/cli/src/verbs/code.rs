//! `lightspeed code`: what a submission of the caller's was compiled to.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use domain::{CodeKind, CodeListing, CodeText, SubmissionId};
use protocol::judging::JudgingCode;

use crate::client::Client;
use crate::failure::Failure;
use crate::suggest::did_you_mean;
use crate::terminal::Terminal;
use crate::{listing_text, values};

/// Flags of `code`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lightspeed code 0190b5a0-0000-7000-8000-000000000001 | less
  lightspeed code 0190b5a0-0000-7000-8000-000000000001 --form sass --kernel 'tile<64>'
  lightspeed code 0190b5a0-0000-7000-8000-000000000001 --keep-code code
  lightspeed code 0190b5a0-0000-7000-8000-000000000001 --json | jq '.ptx.parts[].name'")]
pub(crate) struct Code {
    /// Id that `submit` printed
    #[arg(value_parser = values::submission)]
    submission: SubmissionId,
    /// ptx: the virtual machine's code; sass: the device's, where the worker has a disassembler
    #[arg(long, value_enum, default_value_t = Form::Ptx)]
    form: Form,
    /// Only this kernel or function: `tile<64>`, or `tile` for every instantiation
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Write code.ptx and, where there is some, code.sass into this folder instead of printing
    #[arg(long, value_name = "DIR", conflicts_with = "form")]
    keep_code: Option<PathBuf>,
}

/// Which form of the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// The virtual machine's.
    Ptx,
    /// The device's.
    Sass,
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
        choose(&mut code.code, name)?;
    }
    let source = submission.source.unwrap_or_default();
    if let Some(folder) = &arguments.keep_code {
        for file in listing_text::keep(folder, &code.code, &source)? {
            terminal.say(&format!("wrote {}", file.display()));
        }
        if terminal.json {
            terminal.print_json(&code);
        }
    } else if terminal.json {
        terminal.print_json(&code);
    } else {
        let text = form(&code, arguments.form)?;
        terminal.print(&listing_text::render(text, &source));
    }
    Ok(0)
}

fn form(code: &JudgingCode, form: Form) -> Result<&CodeText, Failure> {
    match form {
        Form::Ptx => Ok(&code.code.ptx),
        Form::Sass => code.code.sass.as_ref().ok_or_else(|| {
            Failure::usage(
                "the worker that judged this had no disassembler, so there is only PTX",
                "`lightspeed judge --keep-code` writes SASS where nvdisasm is found",
            )
        }),
    }
}

/// Leaves what is called so, in each form.
fn choose(code: &mut CodeListing, name: &str) -> Result<(), Failure> {
    let known: Vec<String> = names(&code.ptx).map(str::to_owned).collect();
    if !known.iter().any(|known| is_called(known, name)) {
        let question = did_you_mean(name, known.iter().map(String::as_str));
        let hint = format!("{question}it has: {}", known.join(", "));
        let message = format!("the code has no kernel or function `{name}`");
        return Err(Failure::usage(message, hint));
    }
    for form in [Some(&mut code.ptx), code.sass.as_mut()]
        .into_iter()
        .flatten()
    {
        form.parts.retain(|part| is_called(&part.name, name));
    }
    Ok(())
}

fn names(code: &CodeText) -> impl Iterator<Item = &str> {
    let functions = code.parts.iter();
    let functions = functions.filter(|part| part.kind != CodeKind::Module);
    functions.map(|part| part.name.as_str())
}

/// Whether a function is called so, its template arguments left out if `name` has none.
fn is_called(function: &str, name: &str) -> bool {
    let plain = function.split('<').next().unwrap_or_default().trim_end();
    !name.is_empty() && (function == name || plain == name)
}

#[cfg(test)]
mod tests {
    use domain::CodePart;

    use super::*;

    fn code() -> CodeListing {
        let part = |kind, name: &str| CodePart {
            kind,
            name: name.to_owned(),
            text: "ret;".to_owned(),
            source_lines: vec![None],
        };
        let parts = vec![
            part(CodeKind::Kernel, "tile<64>"),
            part(CodeKind::Kernel, "tile<128>"),
            part(CodeKind::Function, "dot_rows"),
            part(CodeKind::Module, ""),
        ];
        CodeListing {
            ptx: CodeText {
                parts,
                lines_left_out: 0,
            },
            ..CodeListing::default()
        }
    }

    #[test]
    fn a_kernel_is_chosen_with_or_without_its_arguments() {
        let chosen = |name: &str| {
            let mut code = code();
            choose(&mut code, name).unwrap();
            let names: Vec<String> = names(&code.ptx).map(str::to_owned).collect();
            assert_eq!(code.ptx.parts.len(), names.len());
            names
        };
        assert_eq!(chosen("tile<64>"), ["tile<64>"]);
        assert_eq!(chosen("tile"), ["tile<64>", "tile<128>"]);
        assert_eq!(chosen("dot_rows"), ["dot_rows"]);
    }

    #[test]
    fn a_name_that_is_not_there_is_told_with_those_that_are() {
        let refused = choose(&mut code(), "dot_row").unwrap_err();
        assert_eq!(refused.exit_code(), 2);
        let hint = refused.hint().unwrap();
        assert!(hint.contains("did you mean `dot_rows`?"), "{hint}");
        assert!(hint.contains("tile<64>, tile<128>, dot_rows"), "{hint}");
        assert!(choose(&mut code(), "").is_err(), "the module has no name");
    }
}
