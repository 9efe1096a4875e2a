//! Loads and stores of every type, vector, space, cache operator and order, in memory of the thread's own.

use super::super::forms::{Class, Form};

use Class::B64;

/// A space by its suffix, and the word for an address in it.
const SPACES: [(&str, &str); 4] = [
    (".global", "GLOBAL"),
    ("", "GENERIC"),
    (".shared", "SHARED"),
    (".local", "LOCAL"),
];
/// Types, the registers that hold them, and how one becomes 64 bits.
const TYPES: [(&str, &str, &str); 14] = [
    ("b8", "b16", "cvt.u64.u16"),
    ("u8", "u16", "cvt.u64.u16"),
    ("s8", "s16", "cvt.u64.u16"),
    ("b16", "b16", "cvt.u64.u16"),
    ("u16", "u16", "cvt.u64.u16"),
    ("s16", "s16", "cvt.u64.u16"),
    ("b32", "b32", "cvt.u64.u32"),
    ("u32", "u32", "cvt.u64.u32"),
    ("s32", "s32", "cvt.u64.u32"),
    ("f32", "f32", ""),
    ("b64", "b64", "mov.b64"),
    ("u64", "u64", "mov.b64"),
    ("s64", "s64", "mov.b64"),
    ("f64", "f64", "mov.b64"),
];

pub fn forms() -> Vec<Form> {
    let mut forms = Vec::new();
    for (space, address) in SPACES {
        for ty in TYPES {
            for vector in ["", ".v2", ".v4"] {
                if bytes(ty.0) * count(vector) <= 16 {
                    forms.push(load(space, "", address, vector, ty));
                    forms.push(store(space, "", address, vector, ty));
                }
            }
        }
    }
    let wide = TYPES[6];
    let loads = [
        ".ca",
        ".cg",
        ".cs",
        ".lu",
        ".cv",
        ".nc",
        ".ca.nc",
        ".cg.nc",
        ".cs.nc",
        ".L1::no_allocate",
        ".L1::evict_first",
        ".L1::evict_last",
        ".L1::evict_normal",
        ".L1::evict_unchanged",
        ".L2::64B",
        ".L2::128B",
        ".L2::256B",
        ".nc.L1::no_allocate.L2::128B",
    ];
    for operator in loads {
        // Behind the space, as in `ld.global.ca.b32`.
        let (space, nothing) = (format!(".global{operator}"), "");
        forms.push(load(&space, nothing, "GLOBAL", "", wide));
        forms.push(load(&space, nothing, "GLOBAL", ".v4", wide));
    }
    let stores = [
        ".wb",
        ".cg",
        ".cs",
        ".wt",
        ".L1::no_allocate",
        ".L1::evict_first",
        ".L1::evict_last",
    ];
    for operator in stores {
        forms.push(store(
            &format!(".global{operator}"),
            "",
            "GLOBAL",
            ".v2",
            wide,
        ));
    }
    for (space, address) in &SPACES[..3] {
        forms.push(load(space, ".volatile", address, "", wide));
        forms.push(store(space, ".volatile", address, "", wide));
        for scope in [".cta", ".cluster", ".gpu", ".sys"] {
            for order in [".relaxed", ".acquire"] {
                forms.push(load(space, &format!("{order}{scope}"), address, "", wide));
            }
            for order in [".relaxed", ".release"] {
                forms.push(store(space, &format!("{order}{scope}"), address, "", wide));
            }
        }
    }
    forms.push(load(".global", ".mmio.relaxed.sys", "GLOBAL", "", wide));
    forms.push(store(".global", ".mmio.relaxed.sys", "GLOBAL", "", wide));
    forms
}

fn bytes(ty: &str) -> u32 {
    ty[1..].parse::<u32>().unwrap() / 8
}

fn count(vector: &str) -> u32 {
    match vector {
        ".v2" => 2,
        ".v4" => 4,
        _ => 1,
    }
}

/// The elements' registers as an operand.
fn registers(vector: &str) -> String {
    match count(vector) {
        1 => "e0".to_owned(),
        count => {
            let names: Vec<_> = (0..count).map(|at| format!("e{at}")).collect();
            format!("{{{}}}", names.join(", "))
        }
    }
}

/// Adds 64 bits to the result, each time at another weight.
fn mix(more: &str) -> String {
    format!("mad.lo.u64 %0, %0, 0x9E3779B97F4A7C15, {more}; ")
}

fn load(
    space: &str,
    order: &str,
    address: &str,
    vector: &str,
    (ty, register, widen): (&str, &str, &str),
) -> Form {
    let plain = space
        .split('.')
        .nth(1)
        .map_or(String::new(), |name| format!(".{name}"));
    let name = format!("ld{order}{space}{vector}.{ty}");
    let elements = registers(vector);
    let mut code = format!(
        "{{ .reg .{register} e<4>; .reg .b32 n; .reg .b64 w; st{plain}.v2.b64 [{address}], {{%1, %2}}; \
         {name} {elements}, [{address}]; mov.b64 %0, 0; "
    );
    for at in 0..count(vector) {
        code += &match widen {
            "" => format!("mov.b32 n, e{at}; cvt.u64.u32 w, n; "),
            _ => format!("{widen} w, e{at}; "),
        };
        code += &mix("w");
    }
    Form::of(name, code + "}", B64, &[B64; 2])
}

fn store(
    space: &str,
    order: &str,
    address: &str,
    vector: &str,
    (ty, register, _): (&str, &str, &str),
) -> Form {
    let plain = space
        .split('.')
        .nth(1)
        .map_or(String::new(), |name| format!(".{name}"));
    let name = format!("st{order}{space}{vector}.{ty}");
    let elements = registers(vector);
    let mut code = format!(
        "{{ .reg .{register} e<4>; .reg .b32 n; .reg .b64 w, z; mov.b64 z, 0x5555; \
         st{plain}.v2.b64 [{address}], {{z, z}}; "
    );
    for at in 0..count(vector) {
        code += &format!("mad.lo.u64 w, %2, {at}, %1; ");
        code += &match (bytes(ty), ty.starts_with('f')) {
            (1 | 2, _) => format!("cvt.u16.u64 e{at}, w; "),
            (4, false) => format!("cvt.u32.u64 e{at}, w; "),
            (4, true) => format!("cvt.u32.u64 n, w; mov.b32 e{at}, n; "),
            _ => format!("mov.b64 e{at}, w; "),
        };
    }
    code += &format!(
        "{name} [{address}], {elements}; ld{plain}.v2.b64 {{w, z}}, [{address}]; mov.b64 %0, w; "
    );
    Form::of(name, code + &mix("z") + "}", B64, &[B64; 2])
}
