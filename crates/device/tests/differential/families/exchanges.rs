//! What lanes of a warp tell each other.

use super::super::forms::{Class, Form};

use Class::{B32, B64, Count};

pub fn forms() -> Vec<Form> {
    let mut forms = shuffles();
    forms.extend(votes());
    forms.extend(matches());
    forms.extend(reductions());
    forms.extend([
        Form::of("activemask.b32", "activemask.b32 %0;".into(), B32, &[B32]),
        Form::of(
            "elect.sync",
            "{ .reg .pred p; .reg .b32 n, m; elect.sync n|p, -1; selp.b32 m, 1, 0, p; mov.b64 %0, {n, m}; }".into(),
            B64,
            &[B32],
        ),
    ]);
    for (name, ty) in [("popc", "u32"), ("and", "pred"), ("or", "pred")] {
        let result = match ty {
            "u32" => "bar.red.popc.u32 %0, 0, p;".to_owned(),
            _ => format!("bar.red.{name}.pred q, 0, p; selp.u32 %0, 1, 0, q;"),
        };
        let code = format!("{{ .reg .pred p, q; {LOW_BITS} {result} }}");
        forms.push(Form::of(format!("bar.red.{name}.{ty}"), code, B32, &[B32]));
    }
    forms
}

/// Sets `p` for numbers with an odd lowest bit, `m` to the lanes that have one.
const LOW_BITS: &str = "{ .reg .b32 l; and.b32 l, %1, 1; setp.eq.u32 p, l, 1; }";

fn shuffles() -> Vec<Form> {
    let mut forms = Vec::new();
    for mode in ["up", "down", "bfly", "idx"] {
        for width in [32, 16, 4, 1] {
            let clamp = if mode == "up" { 0 } else { 0x1f };
            let limits = (32 - width) << 8 | clamp;
            let name = format!("shfl.sync.{mode}.b32 of {width}");
            let code = format!(
                "{{ .reg .pred p; .reg .b32 n, m; shfl.sync.{mode}.b32 n|p, %1, %2, {limits}, -1; \
                 selp.b32 m, 1, 0, p; mov.b64 %0, {{n, m}}; }}"
            );
            forms.push(Form::of(name, code, B64, &[B32, Count]));
        }
        // Limits and distance differ from lane to lane.
        let code = format!(
            "{{ .reg .pred p; .reg .b32 n, m; shfl.sync.{mode}.b32 n|p, %1, %2, %3, 0xffffffff; \
             selp.b32 m, 1, 0, p; mov.b64 %0, {{n, m}}; }}"
        );
        forms.push(Form::of(
            format!("shfl.sync.{mode}.b32"),
            code,
            B64,
            &[B32, B32, B32],
        ));
    }
    forms
}

fn votes() -> Vec<Form> {
    let mut forms = Vec::new();
    for mode in ["all", "any", "uni"] {
        for (values, odd) in [("mixed", "1"), ("the high", "0x80000000"), ("none", "0")] {
            let name = format!("vote.sync.{mode}.pred of {values}");
            let code = format!(
                "{{ .reg .pred p, q; .reg .b32 l; and.b32 l, %1, {odd}; setp.eq.u32 p, l, 0; \
                 vote.sync.{mode}.pred q, p, -1; selp.u32 %0, 1, 0, q; }}"
            );
            forms.push(Form::of(name, code, B32, &[B32]));
        }
    }
    let whole = format!("{{ .reg .pred p; {LOW_BITS} vote.sync.ballot.b32 %0, p, -1; }}");
    forms.push(Form::of("vote.sync.ballot.b32", whole, B32, &[B32]));
    let some = format!(
        "{{ .reg .pred p, q; .reg .b32 m; {LOW_BITS} vote.sync.ballot.b32 m, p, -1; mov.b32 %0, 9; \
         setp.gt.s32 q, %1, 99; @p vote.sync.ballot.b32 %0, !q, m; }}"
    );
    forms.push(Form::of("vote.sync.ballot.b32 of some", some, B32, &[B32]));
    forms
}

fn matches() -> Vec<Form> {
    let mut forms = Vec::new();
    for (ty, class, few) in [("b32", B32, "3"), ("b64", B64, "5")] {
        for (values, mask) in [("few", few), ("all", "-1"), ("one", "0")] {
            let start =
                format!("{{ .reg .pred p; .reg .b32 n, m; .reg .{ty} v; and.{ty} v, %1, {mask};");
            let any = format!("{start} match.any.sync.{ty} %0, v, -1; }}");
            let name = format!("match.any.sync.{ty} of {values}");
            forms.push(Form::of(name, any, B32, &[class]));
            let all = format!(
                "{start} match.all.sync.{ty} n|p, v, -1; selp.b32 m, 1, 0, p; mov.b64 %0, {{n, m}}; }}"
            );
            let name = format!("match.all.sync.{ty} of {values}");
            forms.push(Form::of(name, all, B64, &[class]));
        }
    }
    forms
}

fn reductions() -> Vec<Form> {
    let mut forms = Vec::new();
    let operations = [
        "add.u32", "add.s32", "min.u32", "min.s32", "max.u32", "max.s32", "and.b32", "or.b32",
        "xor.b32",
    ];
    for operation in operations {
        let name = format!("redux.sync.{operation}");
        let whole = format!("{name} %0, %1, -1;");
        forms.push(Form::of(name.clone(), whole, B32, &[B32]));
        let some = format!(
            "{{ .reg .pred p; .reg .b32 m; {LOW_BITS} vote.sync.ballot.b32 m, p, -1; mov.b32 %0, 9; \
             @p {name} %0, %1, m; }}"
        );
        forms.push(Form::of(format!("{name} of some"), some, B32, &[B32]));
    }
    forms
}
