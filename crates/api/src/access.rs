//! Who may see what of a submission: the one place that decides, for pages, API and streams alike.
//!
//! Owner and operators see everything. Everybody sees the result of an accepted ranked judging,
//! which stands on a board, without anything that quotes the source. The rest does not exist.

use domain::{Mode, Report, UserId, Verdict};

use crate::auth::Caller;

/// What of a submission or judging a caller may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    /// All of it.
    Full,
    /// Its result.
    Result,
    /// Not even that it exists.
    Nothing,
}

/// What `caller` may see of something of `owner`'s that was judged in `mode` and came to `verdict`.
pub(crate) fn view(caller: &Caller, owner: UserId, mode: Mode, verdict: Option<Verdict>) -> View {
    match caller.user() {
        Some(user) if user.id == owner || user.operator => View::Full,
        _ if mode == Mode::Ranked && verdict == Some(Verdict::Accepted) => View::Result,
        _ => View::Nothing,
    }
}

/// Removes from a report what only [`View::Full`] may see: whatever quotes the source or was printed
/// by it.
pub(crate) fn redact(view: View, report: &mut Report) {
    if view == View::Full {
        return;
    }
    report.diagnostics.clear();
    report.kernels.clear();
    report.warnings.clear();
    report.printed = None;
}

#[cfg(test)]
mod tests {
    use database::accounts::User;

    use super::*;

    fn user(n: u8, operator: bool) -> Caller {
        Caller::User(User {
            id: id(n),
            name: format!("user {n}"),
            operator,
        })
    }

    fn id(n: u8) -> UserId {
        format!("0190b5a0-0000-7000-8000-0000000000{n:02}")
            .parse()
            .unwrap()
    }

    #[test]
    fn others_see_accepted_ranked_results_and_nothing_else() {
        let owner = id(1);
        let cases = [
            (Mode::Ranked, Some(Verdict::Accepted), View::Result),
            (Mode::Ranked, Some(Verdict::WrongAnswer), View::Nothing),
            (Mode::Ranked, Some(Verdict::Held), View::Nothing),
            (Mode::Ranked, None, View::Nothing),
            (Mode::Practice, Some(Verdict::Accepted), View::Nothing),
        ];
        for (mode, verdict, others) in cases {
            assert_eq!(view(&user(1, false), owner, mode, verdict), View::Full);
            assert_eq!(view(&user(2, true), owner, mode, verdict), View::Full);
            assert_eq!(view(&user(2, false), owner, mode, verdict), others);
            assert_eq!(view(&Caller::Anonymous, owner, mode, verdict), others);
        }
    }
}
