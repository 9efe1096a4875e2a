//! `cvt` between all types, in every mode.

use super::super::forms::{Class, Form};

use Class::{B16, B32, B64, Bf16, F16, F32, F64};

const INTEGERS: [(&str, Class); 6] = [
    ("u16", B16),
    ("s16", B16),
    ("u32", B32),
    ("s32", B32),
    ("u64", B64),
    ("s64", B64),
];
const FLOATS: [(&str, Class); 3] = [("f16", F16), ("f32", F32), ("f64", F64)];
const MODES: [&str; 4] = ["rn", "rz", "rm", "rp"];

pub fn forms() -> Vec<Form> {
    let mut forms = between_integers();
    forms.extend(integers_and_floats());
    forms.extend(between_floats());
    forms.extend(brain_floats());
    forms.extend(eight_bits());
    forms
}

fn between_integers() -> Vec<Form> {
    let mut forms = Vec::new();
    for (to, result) in INTEGERS {
        for (from, operand) in INTEGERS {
            if to == from {
                continue;
            }
            forms.push(Form::plain(format!("cvt.{to}.{from}"), result, &[operand]));
            let narrows = result.bits() < operand.bits();
            let changes_sign =
                to.as_bytes()[0] != from.as_bytes()[0] && result.bits() == operand.bits();
            if narrows || changes_sign {
                let name = format!("cvt.sat.{to}.{from}");
                forms.push(Form::plain(name, result, &[operand]));
            }
        }
    }
    for (ty, sign) in [("u8", 'u'), ("s8", 's')] {
        for (wide, class) in [("32", B32), ("16", B16)] {
            let (to, from) = (
                format!("cvt.{ty}.{sign}{wide}"),
                format!("cvt.{sign}{wide}.{ty}"),
            );
            // A register of 8 bits cannot leave the assembly.
            let code = format!("{{ .reg .b16 t; {to} t, %1; {from} %0, t; }}",);
            forms.push(Form::of(format!("{to} and back"), code, class, &[class]));
        }
    }
    forms
}

fn integers_and_floats() -> Vec<Form> {
    let mut forms = Vec::new();
    for (float, class) in FLOATS {
        for (integer, other) in INTEGERS {
            for mode in MODES {
                let name = format!("cvt.{mode}.{float}.{integer}");
                forms.push(Form::plain(name, class, &[other]));
                let ftz: &[&str] = if float == "f32" { &["", ".ftz"] } else { &[""] };
                for ftz in ftz {
                    let name = format!("cvt.{mode}i{ftz}.{integer}.{float}");
                    forms.push(Form::plain(name, other, &[class]));
                }
            }
        }
    }
    forms
}

fn between_floats() -> Vec<Form> {
    let mut forms = Vec::new();
    for mode in MODES {
        for more in ["", ".sat"] {
            forms.push(Form::plain(
                format!("cvt.{mode}{more}.f32.f64"),
                F32,
                &[F64],
            ));
            let name = format!("cvt.{mode}.ftz{more}.f32.f64");
            forms.push(Form::plain(name, F32, &[F64]));
            forms.push(Form::plain(
                format!("cvt.{mode}{more}.f16.f32"),
                F16,
                &[F32],
            ));
            forms.push(Form::plain(
                format!("cvt.{mode}{more}.f16.f64"),
                F16,
                &[F64],
            ));
        }
        for (ty, class) in FLOATS {
            forms.push(Form::plain(
                format!("cvt.{mode}i.{ty}.{ty}"),
                class,
                &[class],
            ));
        }
        forms.push(Form::plain(format!("cvt.{mode}i.ftz.f32.f32"), F32, &[F32]));
        forms.push(Form::plain(format!("cvt.{mode}i.sat.f32.f32"), F32, &[F32]));
    }
    for (to, result, from, operand) in [
        ("f64", F64, "f32", F32),
        ("f64", F64, "f16", F16),
        ("f32", F32, "f16", F16),
    ] {
        forms.push(Form::plain(format!("cvt.{to}.{from}"), result, &[operand]));
        forms.push(Form::plain(
            format!("cvt.sat.{to}.{from}"),
            result,
            &[operand],
        ));
    }
    for name in ["cvt.sat.f32.f32", "cvt.ftz.f32.f32", "cvt.ftz.sat.f32.f32"] {
        forms.push(Form::plain(name, F32, &[F32]));
    }
    forms.push(Form::plain("cvt.ftz.f64.f32", F64, &[F32]));
    forms
}

fn brain_floats() -> Vec<Form> {
    let mut forms = vec![Form::plain("cvt.f32.bf16", F32, &[Bf16])];
    for mode in ["rn", "rz"] {
        for relu in ["", ".relu"] {
            forms.push(Form::plain(
                format!("cvt.{mode}{relu}.bf16.f32"),
                Bf16,
                &[F32],
            ));
            for pair in ["f16x2", "bf16x2"] {
                let name = format!("cvt.{mode}{relu}.{pair}.f32");
                forms.push(Form::plain(name, B32, &[F32; 2]));
            }
        }
    }
    forms.push(Form::plain("cvt.rna.tf32.f32", B32, &[F32]));
    forms
}

fn eight_bits() -> Vec<Form> {
    let mut forms = Vec::new();
    for ty in ["e4m3x2", "e5m2x2"] {
        for relu in ["", ".relu"] {
            let name = format!("cvt.rn.satfinite{relu}.{ty}.f32");
            forms.push(Form::plain(name, B16, &[F32; 2]));
            let name = format!("cvt.rn.satfinite{relu}.{ty}.f16x2");
            forms.push(Form::plain(name, B16, &[Class::F16x2]));
            let name = format!("cvt.rn{relu}.f16x2.{ty}");
            forms.push(Form::plain(name, B32, &[B16]));
        }
    }
    forms
}
