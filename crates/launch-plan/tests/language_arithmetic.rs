//! Random arithmetic and conversions, against a C++ compiler.
//!
//! Where `g++` with its undefined-behaviour sanitizer is found, each expression must have the same value of
//! the same type there, or be undefined there too. Elsewhere the test says that it did not run.
#![allow(clippy::unwrap_used, missing_docs)] // a step that fails fails the test

mod common;

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::Command;

use common::dice::Dice;
use common::plan_of;
use launch_plan::{LaunchArgument, Operation};

const CASES: usize = 400;
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

const INTEGERS: [(&str, &[&str]); 11] = [
    ("bool", &["0", "1"]),
    ("char", &["0", "65", "-128", "127"]),
    ("signed char", &["-1", "-128", "100"]),
    ("unsigned char", &["0", "255", "200"]),
    ("short", &["-32768", "32767", "3", "-7"]),
    ("unsigned short", &["65535", "40000", "1"]),
    (
        "int",
        &[
            "0",
            "1",
            "-1",
            "7",
            "-13",
            "2147483647",
            "-2147483647 - 1",
            "65536",
        ],
    ),
    (
        "unsigned int",
        &["0u", "1u", "4294967295u", "2147483648u", "17u"],
    ),
    (
        "long",
        &["-5L", "9223372036854775807L", "4294967296L", "16777217L"],
    ),
    (
        "unsigned long",
        &["18446744073709551615UL", "3UL", "9007199791611905UL"],
    ),
    (
        "long long",
        &["-9223372036854775807LL - 1", "1LL", "-33554433LL"],
    ),
];
const FLOATS: [(&str, &[&str]); 2] = [
    (
        "float",
        &[
            "0.0f",
            "-0.0f",
            "1.5f",
            "-2.75f",
            "3e9f",
            "16777216.0f",
            "0.1f",
            "1e30f",
            "-1e-40f",
        ],
    ),
    (
        "double",
        &[
            "0.0",
            "0.1",
            "-123456.789",
            "1e18",
            "4294967295.5",
            "1e300",
            "-0.5",
        ],
    ),
];

impl Dice {
    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.roll(from.len())]
    }

    fn integer(&mut self, depth: u32) -> String {
        if depth == 0 {
            let (ty, values) = self.pick(&INTEGERS);
            let value = self.pick(values);
            return format!("OF({ty}, {value})");
        }
        let depth = depth - 1;
        match self.roll(9) {
            0..=3 => {
                let op = *self.pick(&["+", "-", "*", "/", "%", "&", "|", "^"]);
                format!("({} {op} {})", self.integer(depth), self.integer(depth))
            }
            4 => {
                let op = *self.pick(&["<", "<=", "==", "!=", ">", ">="]);
                format!("({} {op} {})", self.any(depth), self.any(depth))
            }
            5 => format!(
                "({}({}))",
                self.pick(&["-", "~", "!", "+"]),
                self.integer(depth)
            ),
            6 => format!("({} >> {})", self.integer(depth), self.roll(40)),
            7 => {
                let (ty, _) = self.pick(&INTEGERS);
                let inner = self.any(depth);
                format!("({ty})({inner})")
            }
            _ => format!(
                "({} ? {} : {})",
                self.any(depth),
                self.integer(depth),
                self.integer(depth)
            ),
        }
    }

    fn floating(&mut self, depth: u32) -> String {
        let (ty, values) = self.pick(&FLOATS);
        if depth == 0 {
            let value = self.pick(values);
            return format!("OF({ty}, {value})");
        }
        let depth = depth - 1;
        match self.roll(5) {
            0..=2 => {
                let op = *self.pick(&["+", "-", "*", "/"]);
                format!("({} {op} {})", self.floating(depth), self.any(depth))
            }
            3 => format!("(-({}))", self.floating(depth)),
            _ => {
                let inner = self.any(depth);
                format!("({ty})({inner})")
            }
        }
    }

    fn any(&mut self, depth: u32) -> String {
        if self.roll(3) == 0 {
            self.floating(depth)
        } else {
            self.integer(depth)
        }
    }
}

/// `emit` of each scalar type tells which one it is.
fn emitters(line: impl Fn(usize, &str, bool) -> String) -> String {
    let mut text = String::new();
    let types = INTEGERS.iter().chain(&FLOATS).map(|(ty, _)| *ty);
    for (tag, ty) in types.chain(["unsigned long long"]).enumerate() {
        let is_float = matches!(ty, "float" | "double");
        let _ = writeln!(text, "void emit({ty} x) {{ {} }}", line(tag, ty, is_float));
    }
    text
}

/// Tag and bits of the value, or `None` where it is undefined.
fn interpreted(expression: &str) -> Option<String> {
    let emitters = emitters(|tag, _, is_float| {
        if is_float {
            format!("f<<<1, 1>>>({tag}, x);")
        } else {
            format!("i<<<1, 1>>>({tag}, x);")
        }
    });
    let source = format!(
        "#define OF(T, x) (T)(x)\n__global__ void i(int t, unsigned long long x) {{}}\n__global__ void f(int t, double x) {{}}\n\
         {emitters}void solve(const float* A, const float* B, float* C, int N) {{ emit({expression}); }}"
    );
    let plan = match plan_of(&source, 1) {
        Ok(plan) => plan,
        Err(failure) if failure.kind.to_string() == "host_fault" => return None,
        Err(failure) => panic!("{expression}: {failure}"),
    };
    let Operation::Launch(launch) = &plan.operations[0] else {
        panic!("no launch");
    };
    let bytes = |argument: &LaunchArgument| match argument {
        LaunchArgument::Value(bytes) => bytes.clone(),
        _ => panic!("no value"),
    };
    let tag = i32::from_le_bytes(bytes(&launch.arguments[0]).try_into().unwrap());
    let bits = u64::from_le_bytes(bytes(&launch.arguments[1]).try_into().unwrap());
    let is_nan = launch.kernel.0 == "f" && f64::from_bits(bits).is_nan();
    Some(if is_nan {
        format!("{tag} nan")
    } else {
        format!("{tag} {bits:x}")
    })
}

/// The same from the C++ compiler, for all expressions; `Err` says why there is none.
fn compiled(expressions: &[String]) -> Result<Vec<Option<String>>, String> {
    let directory =
        std::env::temp_dir().join(format!("lightspeed-arithmetic-{}", std::process::id()));
    std::fs::create_dir_all(&directory).map_err(|error| error.to_string())?;
    let emitters = emitters(|tag, _, is_float| {
        if is_float {
            format!("flt({tag}, x);")
        } else {
            format!("std::printf(\"{tag} %llx\\n\", (unsigned long long)x);")
        }
    });
    let mut source = format!(
        "#include <cstdio>\n#include <cstring>\n\
         // What a compiler works out by itself no sanitizer sees.\n\
         template <class T> static T of(T x) {{ volatile T y = x; return y; }}\n\
         #define OF(T, x) of((T)(x))\nstatic void flt(int t, double x) {{ unsigned long long b; \
         std::memcpy(&b, &x, 8); if (x != x) std::printf(\"%d nan\\n\", t); else std::printf(\"%d %llx\\n\", t, b); }}\n\
         {emitters}int main() {{\n"
    );
    let first_line = source.lines().count() + 1;
    for expression in expressions {
        let _ = writeln!(source, "emit({expression}); std::fflush(stdout);");
    }
    source.push_str("}\n");
    let file = directory.join("cases.cpp");
    let program = directory.join("cases");
    std::fs::File::create(&file)
        .and_then(|mut file| file.write_all(source.as_bytes()))
        .map_err(|error| error.to_string())?;
    let built = Command::new("g++")
        .args(["-std=c++20", "-O0", "-w", "-ffp-contract=off"])
        .arg("-fsanitize=undefined,float-cast-overflow")
        .args([file.as_os_str(), "-o".as_ref(), program.as_os_str()])
        .output()
        .map_err(|error| format!("g++: {error}"))?;
    if !built.status.success() {
        return Err(String::from_utf8_lossy(&built.stderr).into_owned());
    }
    // Division by zero stops a program: each case runs in one of its own share.
    let output = Command::new(&program)
        .output()
        .map_err(|error| error.to_string())?;
    let _ = std::fs::remove_dir_all(&directory);
    let complaints = String::from_utf8_lossy(&output.stderr);
    let undefined = |index: usize| {
        let place = format!("cases.cpp:{}:", first_line + index);
        complaints.contains(&place)
    };
    let printed = String::from_utf8_lossy(&output.stdout);
    let mut printed = printed.lines();
    Ok((0..expressions.len())
        .map(|index| {
            let line = printed.next().map(str::to_owned);
            line.filter(|_| !undefined(index))
        })
        .collect())
}

#[test]
fn arithmetic_is_that_of_a_cpp_compiler() {
    let mut dice = Dice(SEED);
    let mut expressions: Vec<String> = (0..CASES).map(|_| dice.any(3)).collect();
    // Integer division by zero ends a native program; here it is undefined in any case.
    expressions
        .retain(|expression| interpreted(expression).is_some() || !expression.contains(['/', '%']));
    let expected = match compiled(&expressions) {
        Ok(expected) => expected,
        Err(reason) => {
            eprintln!("SKIPPED: no C++ compiler with a sanitizer to compare with: {reason}");
            return;
        }
    };
    let mut defined = 0;
    for (expression, expected) in expressions.iter().zip(&expected) {
        let found = interpreted(expression);
        assert_eq!(found, *expected, "{expression}");
        defined += usize::from(found.is_some());
    }
    assert!(
        defined > CASES / 2,
        "only {defined} of {CASES} expressions have a value"
    );
}
