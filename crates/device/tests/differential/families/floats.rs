//! f32 and f64: rounded operations in every mode, approximate ones within what the PTX ISA documents.

use super::super::forms::{Agreement, Class, Form};

use Class::{B32, F32, F64};

const MODES: [&str; 4] = ["rn", "rz", "rm", "rp"];
const ORDERED: [&str; 6] = ["eq", "ne", "lt", "le", "gt", "ge"];
const UNORDERED: [&str; 8] = ["equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"];

pub fn forms() -> Vec<Form> {
    let mut forms = rounded();
    forms.extend(signs_and_extremes());
    forms.extend(comparisons());
    forms.extend(approximate());
    forms
}

fn rounded() -> Vec<Form> {
    let mut forms = Vec::new();
    for mode in MODES {
        for ftz in ["", ".ftz"] {
            for sat in ["", ".sat"] {
                for opcode in ["add", "sub", "mul"] {
                    let name = format!("{opcode}.{mode}{ftz}{sat}.f32");
                    forms.push(Form::plain(name, F32, &[F32; 2]));
                }
                let name = format!("fma.{mode}{ftz}{sat}.f32");
                forms.push(Form::plain(name, F32, &[F32; 3]));
            }
            forms.push(Form::plain(format!("div.{mode}{ftz}.f32"), F32, &[F32; 2]));
            for opcode in ["rcp", "sqrt"] {
                let name = format!("{opcode}.{mode}{ftz}.f32");
                forms.push(Form::plain(name, F32, &[F32]));
            }
        }
        for opcode in ["add", "sub", "mul", "div"] {
            forms.push(Form::plain(format!("{opcode}.{mode}.f64"), F64, &[F64; 2]));
        }
        forms.push(Form::plain(format!("fma.{mode}.f64"), F64, &[F64; 3]));
        for opcode in ["rcp", "sqrt"] {
            forms.push(Form::plain(format!("{opcode}.{mode}.f64"), F64, &[F64]));
        }
    }
    forms
}

fn signs_and_extremes() -> Vec<Form> {
    let mut forms = Vec::new();
    for ftz in ["", ".ftz"] {
        for opcode in ["abs", "neg"] {
            forms.push(Form::plain(format!("{opcode}{ftz}.f32"), F32, &[F32]));
        }
        for opcode in ["min", "max"] {
            for kind in ["", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs"] {
                let name = format!("{opcode}{ftz}{kind}.f32");
                forms.push(Form::plain(name, F32, &[F32; 2]));
            }
        }
    }
    for opcode in ["abs", "neg"] {
        forms.push(Form::plain(format!("{opcode}.f64"), F64, &[F64]));
    }
    for opcode in ["min", "max", "copysign"] {
        forms.push(Form::plain(format!("{opcode}.f64"), F64, &[F64; 2]));
    }
    forms.push(Form::plain("copysign.f32", F32, &[F32; 2]));
    for class in [
        "finite",
        "infinite",
        "number",
        "notanumber",
        "normal",
        "subnormal",
    ] {
        forms.push(Form::predicate(format!("testp.{class}.f32"), &[F32]));
        forms.push(Form::predicate(format!("testp.{class}.f64"), &[F64]));
    }
    forms
}

fn comparisons() -> Vec<Form> {
    let mut forms = Vec::new();
    for comparison in ORDERED.iter().chain(&UNORDERED) {
        for (ty, class) in [("f32", F32), ("f64", F64)] {
            forms.push(Form::predicate(
                format!("setp.{comparison}.{ty}"),
                &[class; 2],
            ));
            let name = format!("set.{comparison}.u32.{ty}");
            forms.push(Form::plain(name, B32, &[class; 2]));
        }
        forms.push(Form::predicate(
            format!("setp.{comparison}.ftz.f32"),
            &[F32; 2],
        ));
        let name = format!("set.{comparison}.f32.f32");
        forms.push(Form::plain(name, F32, &[F32; 2]));
    }
    forms.push(Form::plain("slct.f32.f32", F32, &[F32; 3]));
    forms.push(Form::plain("slct.ftz.f32.f32", F32, &[F32; 3]));
    forms
}

/// Errors: PTX ISA, each instruction's own table.
fn approximate() -> Vec<Form> {
    let ulp = 2f64.powi(-23);
    let mut forms = Vec::new();
    for ftz in ["", ".ftz"] {
        let mut one = |opcode: &str, agreement| {
            let name = format!("{opcode}.approx{ftz}.f32");
            forms.push(Form::plain(name, F32, &[F32]).within(agreement));
        };
        one("rcp", Agreement::Relative(ulp));
        one("sqrt", Agreement::Relative(ulp));
        one("rsqrt", Agreement::Relative(2f64.powf(-22.9)));
        one("ex2", Agreement::Relative(2f64.powi(-22)));
        one("lg2", Agreement::Either(2f64.powi(-22)));
        let periodic = Agreement::Absolute {
            error: 2f64.powf(-20.5),
            up_to: 2.0 * std::f64::consts::PI,
        };
        one("sin", periodic);
        one("cos", periodic);
        for kind in ["approx", "full"] {
            let name = format!("div.{kind}{ftz}.f32");
            let division = Form::plain(name, F32, &[F32; 2]);
            forms.push(division.within(Agreement::Relative(2.0 * ulp)));
        }
    }
    let tanh = Form::plain("tanh.approx.f32", F32, &[F32]);
    forms.push(tanh.within(Agreement::Relative(2f64.powi(-11))));
    for opcode in ["rcp", "rsqrt"] {
        let form = Form::plain(format!("{opcode}.approx.ftz.f64"), F64, &[F64]);
        forms.push(form.within(Agreement::Relative(2f64.powi(-20))));
    }
    forms
}
