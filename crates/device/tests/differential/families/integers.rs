//! Integers, bits, comparisons of integers, selection.

use super::super::forms::{Class, Form};

use Class::{B16, B32, B64, Count};

const TYPES: [(&str, Class); 6] = [
    ("u16", B16),
    ("s16", B16),
    ("u32", B32),
    ("s32", B32),
    ("u64", B64),
    ("s64", B64),
];
const UNTYPED: [(&str, Class); 3] = [("b16", B16), ("b32", B32), ("b64", B64)];

pub fn forms() -> Vec<Form> {
    let mut forms = arithmetic();
    forms.extend(bits());
    forms.extend(shifts());
    forms.extend(comparisons());
    forms.extend(with_carry());
    forms
}

fn arithmetic() -> Vec<Form> {
    let mut forms = vec![
        Form::plain("add.sat.s32", B32, &[B32; 2]),
        Form::plain("sub.sat.s32", B32, &[B32; 2]),
        Form::plain("mad.hi.sat.s32", B32, &[B32; 3]),
    ];
    for (ty, class) in TYPES {
        for opcode in ["add", "sub", "mul.lo", "mul.hi", "min", "max", "div", "rem"] {
            forms.push(Form::plain(format!("{opcode}.{ty}"), class, &[class; 2]));
        }
        for opcode in ["mad.lo", "mad.hi"] {
            forms.push(Form::plain(format!("{opcode}.{ty}"), class, &[class; 3]));
        }
        forms.push(Form::plain(format!("sad.{ty}"), class, &[class; 3]));
        if ty.starts_with('s') {
            forms.push(Form::plain(format!("abs.{ty}"), class, &[class]));
            forms.push(Form::plain(format!("neg.{ty}"), class, &[class]));
        }
        if class != B64 {
            let wide = if class == B16 { B32 } else { B64 };
            forms.push(Form::plain(format!("mul.wide.{ty}"), wide, &[class; 2]));
            let operands = [class, class, wide];
            forms.push(Form::plain(format!("mad.wide.{ty}"), wide, &operands));
        }
    }
    for ty in ["u32", "s32"] {
        for half in ["lo", "hi"] {
            forms.push(Form::plain(format!("mul24.{half}.{ty}"), B32, &[B32; 2]));
            forms.push(Form::plain(format!("mad24.{half}.{ty}"), B32, &[B32; 3]));
        }
        for other in ["u32", "s32"] {
            forms.push(Form::plain(format!("dp4a.{ty}.{other}"), B32, &[B32; 3]));
            for half in ["lo", "hi"] {
                let name = format!("dp2a.{half}.{ty}.{other}");
                forms.push(Form::plain(name, B32, &[B32; 3]));
            }
        }
    }
    forms
}

fn bits() -> Vec<Form> {
    let mut forms = Vec::new();
    for (ty, class) in UNTYPED {
        for opcode in ["and", "or", "xor"] {
            forms.push(Form::plain(format!("{opcode}.{ty}"), class, &[class; 2]));
        }
        forms.push(Form::plain(format!("not.{ty}"), class, &[class]));
        forms.push(Form::plain(format!("cnot.{ty}"), class, &[class]));
        let code = format!("{{ .reg .pred p; setp.ne.u32 p, %3, 0; selp.{ty} %0, %1, %2, p; }}");
        let operands = [class, class, Count];
        forms.push(Form::of(format!("selp.{ty}"), code, class, &operands));
        if class == B16 {
            continue;
        }
        for opcode in ["popc", "clz"] {
            forms.push(Form::plain(format!("{opcode}.{ty}"), B32, &[class]));
        }
        forms.push(Form::plain(format!("brev.{ty}"), class, &[class]));
        let code = format!("bfi.{ty} %0, %1, %2, %3, 11;");
        let operands = [class, class, Count];
        forms.push(Form::of(format!("bfi.{ty}"), code, class, &operands));
        let name = format!("slct.{ty}.s32");
        forms.push(Form::plain(name, class, &[class, class, B32]));
    }
    for (ty, class) in &TYPES[2..] {
        forms.push(Form::plain(format!("bfind.{ty}"), B32, &[*class]));
        forms.push(Form::plain(format!("bfind.shiftamt.{ty}"), B32, &[*class]));
        let operands = [*class, Count, Count];
        forms.push(Form::plain(format!("bfe.{ty}"), *class, &operands));
    }
    for mode in ["clamp", "wrap"] {
        forms.push(Form::plain(format!("bmsk.{mode}.b32"), B32, &[Count; 2]));
        for ty in ["u32", "s32"] {
            let name = format!("szext.{mode}.{ty}");
            forms.push(Form::plain(name, B32, &[B32, Count]));
        }
    }
    for table in ["0x80", "0xe8", "0x96", "0x1b"] {
        let code = format!("lop3.b32 %0, %1, %2, %3, {table};");
        forms.push(Form::of(format!("lop3.b32 {table}"), code, B32, &[B32; 3]));
    }
    for mode in ["", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"] {
        forms.push(Form::plain(format!("prmt.b32{mode}"), B32, &[B32; 3]));
    }
    forms
}

fn shifts() -> Vec<Form> {
    let mut forms = Vec::new();
    for (ty, class) in UNTYPED {
        forms.push(Form::plain(format!("shl.{ty}"), class, &[class, Count]));
    }
    for (ty, class) in TYPES {
        forms.push(Form::plain(format!("shr.{ty}"), class, &[class, Count]));
    }
    for side in ["l", "r"] {
        for mode in ["wrap", "clamp"] {
            let operands = [B32, B32, Count];
            forms.push(Form::plain(
                format!("shf.{side}.{mode}.b32"),
                B32,
                &operands,
            ));
        }
    }
    forms
}

fn comparisons() -> Vec<Form> {
    let mut forms = Vec::new();
    for (ty, class) in TYPES {
        let unsigned = ["lo", "ls", "hi", "hs"];
        let more = if ty.starts_with('u') {
            &unsigned[..]
        } else {
            &[]
        };
        for comparison in ["eq", "ne", "lt", "le", "gt", "ge"].iter().chain(more) {
            forms.push(Form::predicate(
                format!("setp.{comparison}.{ty}"),
                &[class; 2],
            ));
            let name = format!("set.{comparison}.u32.{ty}");
            forms.push(Form::plain(name, B32, &[class; 2]));
        }
    }
    forms
}

/// The carry flag lives between two instructions: sums, differences and products of twice the width.
fn with_carry() -> Vec<Form> {
    let narrow = [("add", "u32"), ("sub", "u32")];
    let of_narrow = narrow.map(|(opcode, ty)| {
        let code = format!(
            "{{ .reg .u32 l, h, x, y; mov.b64 {{l, h}}, %1; mov.b64 {{x, y}}, %2; \
             {opcode}.cc.{ty} l, l, x; {opcode}c.{ty} h, h, y; mov.b64 %0, {{l, h}}; }}"
        );
        Form::of(format!("{opcode}.cc {opcode}c.{ty}"), code, B64, &[B64; 2])
    });
    let wide = ["add", "sub"].map(|opcode| {
        let code =
            format!("{{ .reg .u64 l; {opcode}.cc.u64 l, %1, %2; {opcode}c.u64 %0, %3, %1; }}");
        Form::of(format!("{opcode}.cc {opcode}c.u64"), code, B64, &[B64; 3])
    });
    let products = ["lo", "hi"].map(|half| {
        let code = format!(
            "{{ .reg .u32 l; mad.{half}.cc.u32 l, %1, %2, %3; madc.hi.u32 %0, %1, %2, l; }}"
        );
        Form::of(format!("mad.{half}.cc madc.hi.u32"), code, B32, &[B32; 3])
    });
    of_narrow.into_iter().chain(wide).chain(products).collect()
}
