//! What differs in an output, and what it looks like the work of.

use domain::report::{LikelyCause, OutputMismatch};

use crate::terminal::bold;

/// Mismatching elements shown for each output.
const SHOWN_ELEMENTS: usize = 3;

pub(super) fn text(shape: &str, mismatch: &OutputMismatch) -> String {
    let mut notes = Vec::new();
    let counted = [
        (mismatch.unwritten, "never written"),
        (mismatch.nan, "NaN"),
        (mismatch.inf, "infinite"),
    ];
    for (count, what) in counted {
        if count > 0 {
            notes.push(format!("{count} {what}"));
        }
    }
    if let Some(error) = mismatch.max_abs_error {
        notes.push(format!("largest error {error:.3e}"));
    }
    let mut text = format!(
        "  {}: {} of {} elements of {} differ ({})\n",
        bold(shape),
        mismatch.count,
        mismatch.elements,
        mismatch.output,
        notes.join(", ")
    );
    for element in mismatch.first.iter().take(SHOWN_ELEMENTS) {
        let index: Vec<String> = element.index.iter().map(u64::to_string).collect();
        text.push_str(&format!(
            "    {}[{}] = {}, expected {} within {}\n",
            mismatch.output,
            index.join(", "),
            element.actual,
            element.expected,
            element.tolerance
        ));
    }
    if let Some(cause) = mismatch.likely_cause {
        text.push_str(&format!("    hint: {}\n", way_out(cause, &mismatch.output)));
    }
    text
}

fn way_out(cause: LikelyCause, output: &str) -> String {
    match cause {
        LikelyCause::OutputNotSet => format!(
            "outputs hold no zeros before a call. If a kernel adds to {output} (atomicAdd, +=), set it first: \
             cudaMemset({output}, 0, bytes), or store instead of adding"
        ),
    }
}
