//! Exchanges between lanes of which some are absent, or name different members. What is expected was seen on an H200.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{Arguments, Device, module};

/// The word that each of 32 threads makes by `code` in `%d`; `%t` is its number, `%v` its number plus one.
fn results(code: &str) -> Vec<u32> {
    let text = module(&format!(
        ".visible .entry k(.param .u64 p)\n{{\n\
         .reg .b32 %t, %v, %m, %d, %e;\n.reg .pred %p, %q;\n.reg .b64 %a, %o;\n\
         ld.param.u64 %a, [p];\ncvta.to.global.u64 %a, %a;\n\
         mov.u32 %t, %tid.x;\nadd.u32 %v, %t, 1;\nmov.u32 %d, 99;\n\
         {code}\n\
         END:\nmul.wide.u32 %o, %t, 4;\nadd.s64 %a, %a, %o;\nst.global.u32 [%a], %d;\nret;\n}}\n"
    ));
    let mut device = Device::new(&text);
    let words = device.words("words", &[0; 32]);
    let arguments = Arguments::new().pointer(words);
    device
        .launch("k", [1, 1, 1], [32, 1, 1], &arguments)
        .unwrap();
    device.read_words(words, 32)
}

/// The first five threads exchange, the others go past it.
fn of_five(exchange: &str) -> Vec<u32> {
    let all = results(&format!("setp.ge.u32 %p, %t, 5;\n@%p bra END;\n{exchange}"));
    assert_eq!(all[5..], [99; 27]);
    all[..5].to_vec()
}

#[test]
fn a_lane_that_is_not_there_gives_zero() {
    let of = |how: &str, lane: u32, clamp: u32| {
        of_five(&format!("shfl.sync.{how}.b32 %d, %v, {lane}, {clamp}, -1;"))
    };
    assert_eq!(of("bfly", 1, 31), [2, 1, 4, 3, 0]);
    assert_eq!(of("down", 1, 31), [2, 3, 4, 5, 0]);
    assert_eq!(of("up", 1, 0), [1, 1, 2, 3, 4]);
    assert_eq!(of("idx", 31, 31), [0; 5]);
}

#[test]
fn a_vote_is_of_those_that_are_there() {
    let vote = "setp.gt.u32 %q, %v, 2;\nvote.sync.ballot.b32 %d, %q, -1;";
    assert_eq!(of_five(vote), [28; 5]);
}

/// Even and odd lanes each name their own kind.
#[test]
fn those_that_name_the_same_members_exchange_among_themselves() {
    let masks = "and.b32 %e, %t, 1;\nmatch.any.sync.b32 %m, %e, -1;\n";
    let kind = |t: u32| {
        if t.is_multiple_of(2) {
            0x5555_5555
        } else {
            0xaaaa_aaaa
        }
    };
    let expected = |f: &dyn Fn(u32) -> u32| (0..32).map(f).collect::<Vec<_>>();
    let all = results(&format!("{masks}match.all.sync.b32 %d, %e, %m;"));
    assert_eq!(all, expected(&kind));
    // 1 + 3 + ... + 31 and 2 + 4 + ... + 32.
    let sums = results(&format!("{masks}redux.sync.add.u32 %d, %v, %m;"));
    assert_eq!(
        sums,
        expected(&|t| if t.is_multiple_of(2) { 256 } else { 272 })
    );
    let ballot = results(&format!(
        "{masks}setp.lt.u32 %q, %t, 4;\nvote.sync.ballot.b32 %d, %q, %m;"
    ));
    assert_eq!(ballot, expected(&|t| kind(t) & 0xf));
}
