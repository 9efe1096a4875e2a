//! f16 and bf16, alone and in pairs.

use super::super::forms::{Agreement, Class, Form};

use Class::{B32, Bf16, Bf16x2, F16, F16x2};

const TYPES: [(&str, Class); 4] = [
    ("f16", F16),
    ("f16x2", F16x2),
    ("bf16", Bf16),
    ("bf16x2", Bf16x2),
];

pub fn forms() -> Vec<Form> {
    let mut forms = Vec::new();
    for (ty, class) in TYPES {
        let is_f16 = ty.starts_with('f');
        for opcode in ["add", "sub", "mul"] {
            forms.push(Form::plain(format!("{opcode}.rn.{ty}"), class, &[class; 2]));
            if is_f16 {
                for more in [".ftz", ".sat", ".ftz.sat"] {
                    let name = format!("{opcode}.rn{more}.{ty}");
                    forms.push(Form::plain(name, class, &[class; 2]));
                }
            }
        }
        let of_f16 = ["", ".ftz", ".sat", ".ftz.sat", ".relu", ".ftz.relu"];
        let of_bf16 = ["", ".relu"];
        for more in if is_f16 { &of_f16[..] } else { &of_bf16 } {
            forms.push(Form::plain(
                format!("fma.rn{more}.{ty}"),
                class,
                &[class; 3],
            ));
        }
        for opcode in ["abs", "neg"] {
            forms.push(Form::plain(format!("{opcode}.{ty}"), class, &[class]));
        }
        for opcode in ["min", "max"] {
            for more in ["", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs"] {
                let name = format!("{opcode}{more}.{ty}");
                forms.push(Form::plain(name, class, &[class; 2]));
            }
        }
        if !ty.ends_with("x2") {
            forms.extend(comparisons(ty, class));
        }
    }
    forms.extend(approximate());
    forms
}

fn comparisons(ty: &str, class: Class) -> Vec<Form> {
    let comparisons = [
        "eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan",
    ];
    let all = comparisons.iter().flat_map(|comparison| {
        [
            Form::predicate(format!("setp.{comparison}.{ty}"), &[class; 2]),
            Form::plain(format!("set.{comparison}.u32.{ty}"), B32, &[class; 2]),
        ]
    });
    all.collect()
}

/// Errors: PTX ISA, tables of `ex2` and `tanh` for half precision.
fn approximate() -> Vec<Form> {
    let form = |name: &str, class, error: f64| {
        Form::plain(name, class, &[class]).within(Agreement::Relative(error))
    };
    vec![
        form("ex2.approx.f16", F16, 2f64.powf(-9.9)),
        form("ex2.approx.f16x2", F16x2, 2f64.powf(-9.9)),
        form("ex2.approx.ftz.bf16", Bf16, 2f64.powi(-7)),
        form("ex2.approx.ftz.bf16x2", Bf16x2, 2f64.powi(-7)),
        form("tanh.approx.f16", F16, 2f64.powf(-10.987)),
        form("tanh.approx.f16x2", F16x2, 2f64.powf(-10.987)),
        form("tanh.approx.bf16", Bf16, 2f64.powi(-8)),
        form("tanh.approx.bf16x2", Bf16x2, 2f64.powi(-8)),
    ]
}
