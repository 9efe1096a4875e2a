//! Which line of the submission each line of generated code was made from.
//!
//! PTX says so by `.loc` directives, a disassembly by comments. Code of headers counts for the line of the
//! submission that it was inlined at.

use std::fmt::Write as _;

use crate::log::SOURCE_NAME;

/// Generated code, line by line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing<'a> {
    /// Each line of code, and the line of the submission, from 1.
    lines: Vec<(&'a str, Option<u32>)>,
}

impl<'a> Listing<'a> {
    /// PTX as the compiler writes it.
    #[must_use]
    pub fn of_ptx(ptx: &'a str) -> Self {
        let file = submission_file(ptx);
        let mut at = None;
        let line = |line: &'a str| {
            let text = line.trim_start();
            if let Some(place) = text.strip_prefix(".loc") {
                at = file.and_then(|file| located(place, file));
            } else if text == "}" || kernel_head(text).is_some() || text.contains(".func ") {
                at = None; // every function names its first place itself
            }
            (line, at)
        };
        Self {
            lines: ptx.lines().map(line).collect(),
        }
    }

    /// What `nvdisasm --print-line-info-inline` writes.
    #[must_use]
    pub fn of_sass(sass: &'a str) -> Self {
        let (mut at, mut in_places) = (None, false);
        let line = |line: &'a str| {
            let text = line.trim_start();
            if let Some(place) = text.strip_prefix("//## File ") {
                // From the innermost function outwards: the first place in the submission counts.
                at = at.filter(|_| in_places).or_else(|| commented(place));
                in_places = true;
            } else {
                in_places = false;
                if text.starts_with(".section") {
                    at = None;
                }
            }
            (line, at)
        };
        Self {
            lines: sass.lines().map(line).collect(),
        }
    }

    /// Each line of code, and the line of the submission that it was made from.
    pub fn code(&self) -> impl Iterator<Item = (&'a str, Option<u32>)> + '_ {
        let lines = self.lines.iter().copied();
        lines.filter(|(line, _)| !is_place(line))
    }

    /// The line of the submission that line `number` (from 1) of the code was made from.
    pub(crate) fn source_line(&self, number: usize) -> Option<u32> {
        self.lines.get(number.checked_sub(1)?)?.1
    }

    /// The line of the submission at which a kernel of PTX begins.
    pub(crate) fn kernel_line(&self, lowered_name: &str) -> Option<u32> {
        let mut lines = self.lines.iter();
        lines.find(|(line, _)| kernel_head(line.trim_start()) == Some(lowered_name))?;
        lines
            .take_while(|(line, _)| kernel_head(line.trim_start()).is_none())
            .find_map(|(_, at)| *at)
    }

    /// The code, with each line of the submission quoted above what was made from it.
    #[must_use]
    pub fn with_source(&self, submission: &str) -> String {
        let submission: Vec<&str> = submission.lines().collect();
        let (mut text, mut quoted) = (String::new(), None);
        for (line, at) in self.code() {
            if at != quoted {
                if let Some(number) = at {
                    let written = submission.get(number as usize - 1).unwrap_or(&"");
                    let _ = writeln!(text, "// {number}: {}", written.trim());
                }
                quoted = at;
            }
            text.push_str(line);
            text.push('\n');
        }
        text
    }
}

/// Lines that only tell where the next ones come from; some name folders of the host.
fn is_place(line: &str) -> bool {
    let line = line.trim_start();
    [".loc", "//## ", ".file"]
        .iter()
        .any(|prefix| line.starts_with(prefix))
}

/// The name of the kernel that a line of PTX opens.
fn kernel_head(line: &str) -> Option<&str> {
    let (before, after) = line.split_once(".entry ")?;
    let opens = before.is_empty() || before.starts_with('.');
    opens.then(|| after.split(['(', ' ']).next())?
}

/// The number that a module gives to the submission.
fn submission_file(ptx: &str) -> Option<u32> {
    ptx.lines().find_map(|line| {
        let rest = line.trim_start().strip_prefix(".file")?;
        let (number, path) = rest.trim_start().split_once(char::is_whitespace)?;
        let path = path.split('"').nth(1)?;
        is_submission(path).then(|| number.parse().ok())?
    })
}

fn is_submission(path: &str) -> bool {
    path.rsplit('/').next() == Some(SOURCE_NAME)
}

/// `1 3 5, function_name $L__info_string0, inlined_at 1 8 9`
fn located(place: &str, file: u32) -> Option<u32> {
    let line_of = |place: &str| {
        let mut words = place
            .split([' ', '\t', ','])
            .filter(|word| !word.is_empty());
        let in_submission = words.next()?.parse() == Ok(file);
        in_submission.then(|| words.next()?.parse().ok())?
    };
    let inlined = || line_of(place.split_once("inlined_at")?.1);
    line_of(place).or_else(inlined).filter(|line| *line > 0)
}

/// `"/x/header.h", line 3 inlined at "/x/submission.cu", line 8`
fn commented(place: &str) -> Option<u32> {
    place.split(" inlined at ").find_map(|place| {
        let (path, line) = place.rsplit_once("\", line ")?;
        let number = line.split(' ').next()?.parse().ok();
        number.filter(|line| *line > 0 && is_submission(path.trim_start_matches('"')))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUBMISSION: &str = "\
#include <h.h>
__device__ float f(float x) {
    return g(x);
}
__global__ void k(float* a) {
    a[0] = f(a[0]);
}
";
    const PTX: &str = "\
.visible .entry _Z1kPf(
\t.param .u64 _Z1kPf_param_0
)
{
\t.loc\t1 5 0
\tld.param.u64 \t%rd1, [_Z1kPf_param_0];
\t.loc\t1 6 5
\tld.global.f32 \t%f1, [%rd1];
\t.loc\t1 3 5, function_name $L__info_string0, inlined_at 1 6 12
\tadd.f32 \t%f2, %f1, %f1;
\t.loc\t2 900 5, function_name $L__info_string1, inlined_at 1 3 12
\tmul.f32 \t%f3, %f2, %f2;
}
.weak .entry _Z1tIiEvPT_()
{
\t.loc\t2 1 0
\tret;
}
\t.file\t1 \"submission.cu\"
\t.file\t2 \"h.h\"
";

    #[test]
    fn ptx_is_told_apart_by_lines_of_the_submission() {
        let listing = Listing::of_ptx(PTX);
        assert_eq!(listing.source_line(6), Some(5));
        assert_eq!(listing.source_line(8), Some(6));
        assert_eq!(listing.source_line(10), Some(3));
        assert_eq!(listing.source_line(12), Some(3), "inlined from a header");
        assert_eq!(listing.source_line(1), None);
        assert_eq!(listing.source_line(0), None);
        assert_eq!(listing.kernel_line("_Z1kPf"), Some(5));
        assert_eq!(listing.kernel_line("_Z1tIiEvPT_"), None);
        assert_eq!(listing.kernel_line("absent"), None);
    }

    #[test]
    fn quoted_lines_stand_above_their_code() {
        let text = Listing::of_ptx(PTX).with_source(SUBMISSION);
        let expected = "\
{
// 5: __global__ void k(float* a) {
\tld.param.u64 \t%rd1, [_Z1kPf_param_0];
// 6: a[0] = f(a[0]);
\tld.global.f32 \t%f1, [%rd1];
// 3: return g(x);
\tadd.f32 \t%f2, %f1, %f1;
\tmul.f32 \t%f3, %f2, %f2;
}
";
        assert!(text.contains(expected), "{text}");
        assert!(!text.contains(".loc") && !text.contains(".file"), "{text}");
    }

    #[test]
    fn a_disassembly_counts_the_innermost_place_in_the_submission() {
        let sass = "\
\t.section\t.text._Z1kPf
\t//## File \"/tmp/submission.cu\", line 5
        /*0000*/   LDC R1, c[0x0][0x28] ;
\t//## File \"/tmp/submission.cu\", line 3 inlined at \"/tmp/submission.cu\", line 6
\t//## File \"/tmp/submission.cu\", line 6
        /*0010*/   FADD R2, R2, R2 ;
\t//## File \"/opt/h.h\", line 900 inlined at \"/tmp/submission.cu\", line 3
        /*0020*/   FMUL R2, R2, R2 ;
\t//## File \"/opt/h.h\", line 900
        /*0030*/   EXIT ;
";
        let listing = Listing::of_sass(sass);
        let lines = [3, 6, 8, 10].map(|number| listing.source_line(number));
        assert_eq!(lines, [Some(5), Some(3), Some(3), None]);
        let text = listing.with_source(SUBMISSION);
        assert!(!text.contains("/tmp") && !text.contains("/opt"), "{text}");
    }
}
