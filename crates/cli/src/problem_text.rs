//! Problems for a person: the list, and one problem with what it asks for and what it grants.

use domain::{Axes, DeviceName};
use protocol::problem::{
    LimitsView, ProblemDetail, ProblemKind, ProblemList, ShapeView, StratumView,
};

use crate::math_text::readable;
use crate::report_text::ratio;
use crate::table::Table;
use crate::terminal::{bold, dim};

/// Who is asked: a service, with the devices that its live workers offer, or the packages here.
pub(crate) enum Told<'a> {
    ByService(&'a [&'static str]),
    ByPackages,
}

/// The list with the devices that could judge now.
pub(crate) fn list(list: &ProblemList, told: &Told) -> String {
    let mut table = Table::new(&[
        "problem",
        "title",
        "kind",
        "difficulty",
        ">solvers",
        "judged now on",
    ]);
    for problem in &list.problems {
        let kind = match problem.kind {
            ProblemKind::Lesson => "lesson",
            ProblemKind::Workload => "workload",
        };
        let (solvers, devices) = match told {
            Told::ByService(offered) => (
                problem.solvers.to_string(),
                judged_now(&problem.devices, offered),
            ),
            Told::ByPackages => (String::new(), String::new()),
        };
        table.row(vec![
            problem.slug.clone(),
            problem.title.en.clone(),
            kind.to_owned(),
            problem.difficulty.clone(),
            solvers,
            devices,
        ]);
    }
    let footer = match told {
        Told::ByService(_) => {
            "other devices are known, but no worker offers them now: `lightspeed devices`"
        }
        Told::ByPackages => "`lightspeed judge <problem> <file>` judges here, without a service",
    };
    format!("{}  {}\n", table.render(), dim(footer))
}

fn judged_now(devices: &[DeviceName], offered: &[&str]) -> String {
    let names = devices.iter().map(|device| device.as_str());
    let now: Vec<&str> = names.filter(|name| offered.contains(name)).collect();
    if now.is_empty() {
        "-".to_owned()
    } else {
        now.join(" ")
    }
}

/// One problem.
pub(crate) fn detail(problem: &ProblemDetail) -> String {
    let summary = &problem.summary;
    let version = format!("{} v{}", summary.slug, summary.version);
    let mut text = format!(
        "{}  {}\n\n  {}\n\n{}\n\n",
        bold(&summary.title.en),
        dim(version),
        problem.declaration,
        readable(problem.statement.en.trim())
    );
    text.push_str(&strata(&problem.strata));
    text.push_str(&shapes(
        "shapes on the emulated device",
        &problem.emulated_shapes,
    ));
    text.push_str(&shapes(
        "shapes checked for correctness only",
        &problem.edge_shapes,
    ));
    text.push_str(&limits(&problem.limits));
    text.push_str(&hints(&summary.slug, problem.hints.len()));
    text
}

fn strata(strata: &[StratumView]) -> String {
    let mut table = Table::new(&["stratum", "stands for", ">weight", "public shape"]);
    for stratum in strata {
        table.row(vec![
            stratum.id.clone(),
            stratum.label.clone(),
            ratio(stratum.w),
            axes(&stratum.axes),
        ]);
    }
    table.render()
}

fn shapes(title: &str, shapes: &[ShapeView]) -> String {
    if shapes.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&["shape", "stratum", "axes"]);
    for shape in shapes {
        table.row(vec![
            shape.id.clone(),
            shape.stratum.clone().unwrap_or_default(),
            axes(&shape.axes),
        ]);
    }
    format!("\n{}\n{}", bold(title), table.render())
}

fn limits(limits: &LimitsView) -> String {
    let forbidden = limits.forbidden_pipes.join(" ");
    let rows = [
        ("compiling", limits.compile_s.map(|s| format!("{s} s"))),
        (
            "a shape's run on a GPU",
            limits.run_s.map(|s| format!("{s} s")),
        ),
        (
            "a shape's run on the emulated device",
            limits.emulated_warp_instructions.map(|count| {
                format!(
                    "{} warp instructions over all launches; an instruction counts once for a \
                     warp, however many of its threads take part",
                    grouped(count)
                )
            }),
        ),
        ("device memory", limits.memory_bytes.map(bytes)),
        (
            "scratch that solve allocates",
            limits.scratch_bytes.map(bytes),
        ),
        (
            "pipes that must stay idle",
            Some(forbidden).filter(|pipes| !pipes.is_empty()),
        ),
    ];
    let mut table = Table::new(&["limit on", "value"]);
    for (what, value) in rows {
        if let Some(value) = value {
            table.row(vec![what.to_owned(), value]);
        }
    }
    format!("\n{}\n{}", bold("limits"), table.render())
}

/// How many there are, not what they say: who wants to think first can.
fn hints(slug: &str, count: usize) -> String {
    if count == 0 {
        return String::new();
    }
    let are = if count == 1 {
        "is 1 hint"
    } else {
        &format!("are {count} hints")
    };
    let text = format!(
        "there {are}: on the problem's page, or `lightspeed problem show {slug} --json | jq '.hints'`"
    );
    format!("\n  {}\n", dim(text))
}

fn axes(axes: &Axes) -> String {
    let pairs: Vec<String> = axes.iter().map(|(k, v)| format!("{k}={v}")).collect();
    pairs.join(" ")
}

/// Bytes in the unit that divides them.
fn bytes(count: u64) -> String {
    for (unit, shift) in [("GiB", 30), ("MiB", 20), ("KiB", 10)] {
        if count >= 1 << shift && count.is_multiple_of(1 << shift) {
            return format!("{} {unit}", count >> shift);
        }
    }
    format!("{count} B")
}

/// `25 000 000`.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package() -> problems::Package {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        problems::Package::load(&root.join("problems/vector_add")).unwrap()
    }

    #[test]
    fn the_list_names_the_devices_that_are_offered_now() {
        console::set_colors_enabled(false);
        let problems = ProblemList {
            problems: vec![crate::service::problem_summary(&package())],
        };
        let text = list(&problems, &Told::ByService(&["emulated"]));
        assert!(text.contains("judged now on"), "{text}");
        assert!(
            text.lines().nth(1).unwrap().ends_with(" 0  emulated"),
            "{text}"
        );
        assert!(!text.contains("h200"), "{text}");
        assert!(text.contains("`lightspeed devices`"), "{text}");
        let nobody = list(&problems, &Told::ByService(&[]));
        assert!(nobody.lines().nth(1).unwrap().ends_with(" -"), "{nobody}");
        let here = list(&problems, &Told::ByPackages);
        assert!(!here.contains("solvers"), "{here}");
        assert!(here.contains("vector_add"), "{here}");
    }

    #[test]
    fn a_problem_tells_its_limits_shapes_and_hints() {
        console::set_colors_enabled(false);
        let text = detail(&crate::service::problem_detail(&package()));
        for piece in [
            "C_i = A_i + B_i,   0 ≤ i < N.",
            "1 ≤ N ≤ 2²⁸",
            "shapes on the emulated device",
            "25 000 000 warp instructions over all launches; an instruction counts once for a warp",
            "device memory                         4 GiB",
            "hints: on the problem's page",
        ] {
            assert!(text.contains(piece), "{piece}:\n{text}");
        }
        assert!(!text.contains('$'), "{text}");
    }

    #[test]
    fn figures_take_the_form_that_suits_them() {
        assert_eq!(bytes(4 << 30), "4 GiB");
        assert_eq!(bytes(1 << 20), "1 MiB");
        assert_eq!(bytes(1500), "1500 B");
        assert_eq!(grouped(25_000_000), "25 000 000");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1000), "1 000");
    }
}
