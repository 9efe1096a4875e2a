//! `atom` and `red` of every operation, type, space, order and scope, each on a word of the thread's own: what was
//! there, what is there afterwards.

use super::super::forms::{Class, Form};

use Class::{B16, B32, B64, Bf16, Bf16x2, F16, F16x2, F32, F64};

const SPACES: [(&str, &str); 3] = [
    (".global", "GLOBAL"),
    (".shared", "SHARED"),
    ("", "GENERIC"),
];
const OPERATIONS: [(&str, Class); 32] = [
    ("add.u32", B32),
    ("add.s32", B32),
    ("add.u64", B64),
    ("add.f32", F32),
    ("add.f64", F64),
    ("add.noftz.f16", F16),
    ("add.noftz.f16x2", F16x2),
    ("add.noftz.bf16", Bf16),
    ("add.noftz.bf16x2", Bf16x2),
    ("min.u32", B32),
    ("min.s32", B32),
    ("min.u64", B64),
    ("min.s64", B64),
    ("max.u32", B32),
    ("max.s32", B32),
    ("max.u64", B64),
    ("max.s64", B64),
    ("and.b32", B32),
    ("and.b64", B64),
    ("or.b32", B32),
    ("or.b64", B64),
    ("xor.b32", B32),
    ("xor.b64", B64),
    ("exch.b32", B32),
    ("exch.b64", B64),
    ("inc.u32", B32),
    ("dec.u32", B32),
    ("cas.b16", B16),
    ("cas.b32", B32),
    ("cas.b64", B64),
    ("exch.b128", B64),
    ("cas.b128", B64),
];

pub fn forms() -> Vec<Form> {
    let mut forms = Vec::new();
    for (space, address) in SPACES {
        for (operation, class) in OPERATIONS {
            forms.push(atomic(&format!("atom{space}.{operation}"), address, class));
            let is_for_red = !operation.starts_with("cas") && !operation.starts_with("exch");
            if is_for_red {
                forms.push(reduction(
                    &format!("red{space}.{operation}"),
                    address,
                    class,
                ));
            }
        }
        for scope in [".cta", ".cluster", ".gpu", ".sys"] {
            for order in [".relaxed", ".acquire", ".release", ".acq_rel"] {
                let name = format!("atom{order}{scope}{space}.add.u32");
                forms.push(atomic(&name, address, B32));
                let name = format!("atom{order}{scope}{space}.cas.b32");
                forms.push(atomic(&name, address, B32));
            }
            for order in [".relaxed", ".release"] {
                let name = format!("red{order}{scope}{space}.max.s32");
                forms.push(reduction(&name, address, B32));
            }
        }
    }
    forms.extend(vectors());
    forms
}

/// Register type and the plain type of a class.
fn types(class: Class) -> (&'static str, &'static str) {
    match class {
        F32 => ("f32", "f32"),
        F64 => ("f64", "f64"),
        _ if class.bits() == 16 => ("b16", "b16"),
        _ if class.bits() == 64 => ("b64", "b64"),
        _ => ("b32", "b32"),
    }
}

/// Two registers of a class, joined into the result.
fn join(class: Class, first: &str, second: &str) -> String {
    match class.bits() {
        16 => format!("mov.b32 n, {{{first}, {second}}}; cvt.u64.u32 %0, n; "),
        32 => format!("mov.b64 %0, {{{first}, {second}}}; "),
        _ => format!(
            "mov.b64 w, {first}; mul.lo.u64 w, w, 0x9E3779B97F4A7C15; mov.b64 z, {second}; add.u64 %0, w, z; "
        ),
    }
}

fn plain(name: &str) -> &'static str {
    SPACES[..2]
        .iter()
        .map(|&(space, _)| space)
        .find(|space| name.contains(space))
        .unwrap_or_default()
}

fn atomic(name: &str, address: &str, class: Class) -> Form {
    if name.ends_with("b128") {
        return atomic_128(name, address);
    }
    let (register, ty) = types(class);
    let space = plain(name);
    // Every other comparison finds what it looks for.
    let (operands, inputs) = match name.contains(".cas.") {
        true => ("c, %3", 3),
        false => ("%2", 2),
    };
    let code = format!(
        "{{ .reg .{register} old, new, c; .reg .b32 n; .reg .b64 w, z; .reg .pred p; st{space}.{ty} [{address}], %1; \
         mov.u32 n, %laneid; and.b32 n, n, 1; setp.eq.u32 p, n, 0; mov.{ty} c, %1; @p mov.{ty} c, %2; \
         {name} old, [{address}], {operands}; ld{space}.{ty} new, [{address}]; {}}}",
        join(class, "old", "new")
    );
    Form::of(
        name,
        code.replace("%laneid", "%%laneid"),
        B64,
        &vec![class; inputs],
    )
}

fn atomic_128(name: &str, address: &str) -> Form {
    let space = plain(name);
    let operands = match name.contains(".cas.") {
        true => "c, v",
        false => "v",
    };
    let code = format!(
        "{{ .reg .b128 old, c, v; .reg .b32 n; .reg .b64 w, z, x, y; .reg .pred p; \
         st{space}.v2.b64 [{address}], {{%1, %2}}; mov.u32 n, %%laneid; and.b32 n, n, 1; setp.eq.u32 p, n, 0; \
         mov.b64 w, %1; @p mov.b64 w, %3; mov.b128 c, {{w, %2}}; mov.b128 v, {{%3, %1}}; \
         {name} old, [{address}], {operands}; mov.b128 {{w, z}}, old; ld{space}.v2.b64 {{x, y}}, [{address}]; \
         mad.lo.u64 w, w, 0x9E3779B97F4A7C15, z; mad.lo.u64 w, w, 0x9E3779B97F4A7C15, x; \
         mad.lo.u64 %0, w, 0x9E3779B97F4A7C15, y; }}"
    );
    Form::of(name, code, B64, &[B64; 3])
}

fn reduction(name: &str, address: &str, class: Class) -> Form {
    let (register, ty) = types(class);
    let space = plain(name);
    let code = format!(
        "{{ .reg .{register} new; .reg .b32 n; .reg .b64 w, z; st{space}.{ty} [{address}], %1; \
         {name} [{address}], %2; ld{space}.{ty} new, [{address}]; {}}}",
        join(class, "new", "new")
    );
    Form::of(name, code, B64, &[class; 2])
}

/// Additions of several floats by one instruction.
fn vectors() -> Vec<Form> {
    let of = |name: &str| {
        let code = format!(
            "{{ .reg .f32 a, b, c, d, e, f; mov.b64 {{a, b}}, %1; mov.b64 {{c, d}}, %2; \
             st.global.v2.f32 [GLOBAL], {{a, b}}; {name}; ld.global.v2.f32 {{e, f}}, [GLOBAL]; \
             mov.b64 %0, {{e, f}}; }}"
        );
        Form::of(name.split(' ').next().unwrap(), code, B64, &[B64; 2])
    };
    vec![
        of("atom.global.v2.f32.add {e, f}, [GLOBAL], {c, d}"),
        of("red.global.v2.f32.add [GLOBAL], {c, d}"),
    ]
}
