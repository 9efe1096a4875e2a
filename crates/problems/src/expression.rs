//! Integer expressions over axes: sizes, costs, constraints.
//!
//! Evaluated by `rhai` cut down to one expression over 64-bit integers: every operation is checked
//! (overflow and division by zero are errors with a line and a column), there are no loops, no
//! statements, no floats, no strings worth having, and the work is bounded. Of the other well-kept
//! candidates, `evalexpr` is under the AGPL, `fasteval`, `meval` and `exmex` compute in floating
//! point, where sizes beyond 2^53 lose bits silently, and `cel` gives no place for an overflow.

use std::sync::LazyLock;

use domain::Axes;
use rhai::packages::{ArithmeticPackage, LogicPackage, Package as _};
use rhai::{AST, Dynamic, Engine, EvalAltResult, OptimizationLevel, Position, Scope};

/// A compiled expression. Cheap to clone.
#[derive(Clone)]
pub struct Expression {
    text: String,
    tree: AST,
}

/// What is wrong with an expression, at a place inside its text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} (line {line}, column {column} of `{text}`)")]
pub struct ExpressionError {
    /// The expression.
    pub text: String,
    /// Line inside the expression, from 1.
    pub line: usize,
    /// Column in that line, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl Expression {
    /// Compiles `text`, which may use the axes called `names` and nothing else.
    pub fn compile<'a>(
        text: &str,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, ExpressionError> {
        let mut scope = Scope::new();
        for name in names {
            scope.push(name, 1_i64);
        }
        let tree = ENGINE
            .compile_expression_with_scope(&scope, text)
            .map_err(|e| error(text, e.1, e.0.to_string()))?;
        Ok(Self {
            text: text.to_owned(),
            tree,
        })
    }

    /// The expression as written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its value, where an integer is wanted.
    pub fn integer(&self, axes: &Axes) -> Result<i64, ExpressionError> {
        let value = self.evaluate(axes)?;
        value
            .as_int()
            .map_err(|found| self.mistyped(found, "an integer"))
    }

    /// Its value, where yes or no is wanted.
    pub fn condition(&self, axes: &Axes) -> Result<bool, ExpressionError> {
        let value = self.evaluate(axes)?;
        value
            .as_bool()
            .map_err(|found| self.mistyped(found, "a comparison"))
    }

    fn evaluate(&self, axes: &Axes) -> Result<Dynamic, ExpressionError> {
        let mut scope = Scope::new();
        for (name, value) in axes {
            scope.push(name.as_str(), *value);
        }
        ENGINE
            .eval_ast_with_scope(&mut scope, &self.tree)
            .map_err(|e: Box<EvalAltResult>| {
                let mut message = e.to_string();
                // The place is told apart from the words.
                if let Some(at) = message.rfind(" (line ") {
                    message.truncate(at);
                }
                error(&self.text, e.position(), message)
            })
    }

    fn mistyped(&self, found: &str, wanted: &str) -> ExpressionError {
        let message = format!("gives a value of type {found} where {wanted} is needed");
        error(&self.text, Position::NONE, message)
    }
}

impl std::fmt::Debug for Expression {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Expression").field(&self.text).finish()
    }
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

static ENGINE: LazyLock<Engine> = LazyLock::new(|| {
    let mut engine = Engine::new_raw();
    ArithmeticPackage::new().register_into_engine(&mut engine);
    LogicPackage::new().register_into_engine(&mut engine);
    engine
        .set_optimization_level(OptimizationLevel::None)
        .set_strict_variables(true)
        .set_allow_looping(false)
        .set_allow_loop_expressions(false)
        .set_allow_statement_expression(false)
        .set_allow_switch_expression(false)
        .set_allow_shadowing(false)
        .set_max_operations(10_000)
        .set_max_expr_depths(64, 64)
        .set_max_string_size(64);
    engine.register_fn("min", |a: i64, b: i64| a.min(b));
    engine.register_fn("max", |a: i64, b: i64| a.max(b));
    engine.register_fn("ceil_div", ceil_div);
    engine.register_fn("align_up", align_up);
    engine.register_fn("log2_ceil", log2_ceil);
    engine
});

fn ceil_div(a: i64, b: i64) -> Result<i64, Box<EvalAltResult>> {
    if a < 0 || b <= 0 {
        return Err("ceil_div needs a >= 0 and b > 0".into());
    }
    Ok(a / b + i64::from(a % b != 0))
}

fn align_up(a: i64, b: i64) -> Result<i64, Box<EvalAltResult>> {
    let aligned = ceil_div(a, b)?.checked_mul(b);
    aligned.ok_or_else(|| "align_up overflows".into())
}

fn log2_ceil(a: i64) -> Result<i64, Box<EvalAltResult>> {
    match a {
        ..=0 => Err("log2_ceil needs a positive number".into()),
        1 => Ok(0),
        _ => Ok(i64::from(64 - (a - 1).leading_zeros())),
    }
}

fn error(text: &str, position: Position, message: String) -> ExpressionError {
    ExpressionError {
        text: text.to_owned(),
        line: position.line().unwrap_or(1),
        column: position.position().unwrap_or(1),
        message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axes() -> Axes {
        Axes::from([("M".into(), 7), ("N".into(), 4096)])
    }

    fn integer(text: &str) -> Result<i64, ExpressionError> {
        Expression::compile(text, ["M", "N"])?.integer(&axes())
    }

    #[test]
    fn arithmetic_is_that_of_integers() {
        assert_eq!(integer("2 * M * N"), Ok(57_344));
        assert_eq!(integer("(M + 3) / 4"), Ok(2));
        assert_eq!(integer("N % (M + 1)"), Ok(0));
        assert_eq!(integer("ceil_div(M, 4) + min(M, N) + max(M, N)"), Ok(4105));
        assert_eq!(integer("align_up(M, 16)"), Ok(16));
        assert_eq!(integer("log2_ceil(1)"), Ok(0));
        assert_eq!(integer("log2_ceil(N)"), Ok(12));
        assert_eq!(integer("log2_ceil(N + 1)"), Ok(13));
        assert_eq!(integer("if M > 3 { N } else { M }"), Ok(4096));
    }

    #[test]
    fn conditions_are_told_from_integers() {
        let small = Expression::compile("M * N < 2147483648 && M >= 1", ["M", "N"]).unwrap();
        assert_eq!(small.condition(&axes()), Ok(true));
        let wrong = small.integer(&axes()).unwrap_err();
        assert!(wrong.message.contains("bool"), "{wrong}");
        assert!(wrong.message.contains("an integer"), "{wrong}");
    }

    #[test]
    fn overflow_and_division_by_zero_have_a_place() {
        let overflow = integer("M +\n N * 9223372036854775807").unwrap_err();
        assert_eq!((overflow.line, overflow.column), (2, 4), "{overflow}");
        assert!(overflow.message.contains("overflow"), "{overflow}");
        let zero = integer("N / (M - 7)").unwrap_err();
        assert_eq!((zero.line, zero.column), (1, 3), "{zero}");
        assert!(zero.message.to_lowercase().contains("zero"), "{zero}");
        assert!(integer("ceil_div(M, 0)").is_err());
        assert!(integer("align_up(9223372036854775807, 2)").is_err());
    }

    #[test]
    fn what_is_no_integer_expression_is_refused_when_compiled() {
        for text in [
            "K * 2",
            "M *",
            "1.5 * M",
            "let x = 1; x",
            "M; N",
            "loop { }",
            "while true {}",
            "",
            "switch M { 1 => 2 }",
        ] {
            let refused = Expression::compile(text, ["M", "N"]).unwrap_err();
            assert!(
                refused.line >= 1 && refused.column >= 1,
                "{text}: {refused}"
            );
        }
        let unknown = Expression::compile("M + K", ["M", "N"]).unwrap_err();
        assert_eq!((unknown.line, unknown.column), (1, 5), "{unknown}");
        assert!(unknown.message.contains('K'), "{unknown}");
    }
}
