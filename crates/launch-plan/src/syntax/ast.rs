//! The host subset as a tree. Every node knows where in the submitted text it was written.

use serde::{Deserialize, Serialize};

use crate::source::text::At;
use crate::types::Scalar;

/// A construct outside the subset: what it is and what to do instead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Unsupported {
    pub(crate) message: String,
    pub(crate) hint: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Expr {
    pub(crate) at: At,
    pub(crate) kind: ExprKind,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum ExprKind {
    Integer(u64, Scalar),
    Float(f64, Scalar),
    Text(String),
    Null,
    Name(Name),
    Unary(UnaryOp, Box<Expr>),
    /// `++x`, `x--` and their like.
    Step {
        increment: bool,
        prefix: bool,
        operand: Box<Expr>,
    },
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Assign(Option<BinaryOp>, Box<Expr>, Box<Expr>),
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    Comma(Box<Expr>, Box<Expr>),
    AddressOf(Box<Expr>),
    Dereference(Box<Expr>),
    Index(Box<Expr>, Box<Expr>),
    Field {
        object: Box<Expr>,
        name: String,
        through_pointer: bool,
    },
    Call(Box<Expr>, Vec<Expr>),
    Launch(Box<LaunchExpr>),
    Cast(Box<TypeSyntax>, Box<Expr>),
    /// `dim3(1, 2)`, `float(x)`, `S{1}`.
    Construct(Box<TypeSyntax>, Vec<Expr>),
    List(Vec<Expr>),
    SizeOfType(Box<TypeSyntax>),
    SizeOfValue(Box<Expr>),
    /// `new T[n]`, or `new T` without a length.
    New(Box<TypeSyntax>, Option<Box<Expr>>),
    Delete(Box<Expr>),
    Unsupported(Unsupported),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LaunchExpr {
    pub(crate) callee: Expr,
    pub(crate) configuration: Vec<Expr>,
    pub(crate) arguments: Vec<Expr>,
}

/// `a::b<T, 3>`: the path as written and the arguments of its last part.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Name {
    pub(crate) path: String,
    pub(crate) arguments: Option<Vec<TemplateArgument>>,
}

impl Name {
    /// The path without a leading `::` or `std::`.
    pub(crate) fn plain(&self) -> &str {
        let path = self.path.strip_prefix("::").unwrap_or(&self.path);
        path.strip_prefix("std::").unwrap_or(path)
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum TemplateArgument {
    Type(TypeSyntax),
    Value(Expr),
    /// A bare name, which only its meaning tells apart.
    TypeOrValue(TypeSyntax, Expr),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum UnaryOp {
    Plus,
    Minus,
    Not,
    Complement,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum BinaryOp {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    ShiftLeft,
    ShiftRight,
    BitAnd,
    BitOr,
    BitXor,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

impl BinaryOp {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "+" => Self::Add,
            "-" => Self::Subtract,
            "*" => Self::Multiply,
            "/" => Self::Divide,
            "%" => Self::Remainder,
            "<<" => Self::ShiftLeft,
            ">>" => Self::ShiftRight,
            "&" | "bitand" => Self::BitAnd,
            "|" | "bitor" => Self::BitOr,
            "^" | "xor" => Self::BitXor,
            "==" => Self::Equal,
            "!=" | "not_eq" => Self::NotEqual,
            "<" => Self::Less,
            "<=" => Self::LessEqual,
            ">" => Self::Greater,
            ">=" => Self::GreaterEqual,
            _ => return None,
        })
    }

    pub(crate) fn symbol(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
            Self::ShiftLeft => "<<",
            Self::ShiftRight => ">>",
            Self::BitAnd => "&",
            Self::BitOr => "|",
            Self::BitXor => "^",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
        }
    }

    pub(crate) fn is_comparison(self) -> bool {
        matches!(
            self,
            Self::Equal
                | Self::NotEqual
                | Self::Less
                | Self::LessEqual
                | Self::Greater
                | Self::GreaterEqual
        )
    }
}

/// A type as written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TypeSyntax {
    pub(crate) at: At,
    pub(crate) constant: bool,
    pub(crate) kind: TypeKind,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum TypeKind {
    Void,
    Auto,
    Scalar(Scalar),
    Named(Name),
    Pointer(Box<TypeSyntax>),
    Reference(Box<TypeSyntax>),
    Array(Box<TypeSyntax>, Option<Box<Expr>>),
    /// A function type; a pointer to one holds a kernel.
    Function,
    Unsupported(Unsupported),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Stmt {
    pub(crate) at: At,
    pub(crate) kind: StmtKind,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum StmtKind {
    Empty,
    Block(Vec<Stmt>),
    Expr(Expr),
    Declare(Vec<Variable>),
    Alias(String, TypeSyntax),
    If {
        first: Option<Box<Stmt>>,
        condition: Box<Expr>,
        then: Box<Stmt>,
        otherwise: Option<Box<Stmt>>,
    },
    For {
        first: Option<Box<Stmt>>,
        condition: Option<Box<Expr>>,
        step: Option<Box<Expr>>,
        body: Box<Stmt>,
    },
    While(Box<Expr>, Box<Stmt>),
    DoWhile(Box<Stmt>, Box<Expr>),
    Switch(Box<Expr>, Vec<Case>),
    Break,
    Continue,
    Return(Option<Box<Expr>>),
    Unsupported(Unsupported),
}

/// A label of a `switch` and what follows it up to the next.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Case {
    /// `None` for `default`.
    pub(crate) value: Option<Expr>,
    pub(crate) body: Vec<Stmt>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Variable {
    pub(crate) at: At,
    pub(crate) name: String,
    pub(crate) ty: TypeSyntax,
    pub(crate) storage: Storage,
    pub(crate) initial: Initial,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Initial {
    None,
    /// `= value`
    Value(Expr),
    /// `(a, b)` or `{a, b}`
    Arguments(Vec<Expr>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Storage {
    Automatic,
    /// `static` and not `const`: keeps its value from call to call.
    Static,
    /// `const` or `constexpr`, `static` or not.
    Constant,
    /// `__device__`, `__constant__`: lives on the device.
    Device,
    /// `__managed__` or `extern`.
    Elsewhere,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Parameter {
    pub(crate) at: At,
    pub(crate) name: String,
    pub(crate) ty: TypeSyntax,
    /// Holds a `&&`, which the type does not tell from `&`.
    pub(crate) rvalue: bool,
    pub(crate) default: Option<Expr>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TemplateParameter {
    pub(crate) name: String,
    pub(crate) kind: TemplateParameterKind,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum TemplateParameterKind {
    Type {
        default: Option<TypeSyntax>,
    },
    Value {
        ty: TypeSyntax,
        default: Option<Expr>,
    },
    /// A pack or a template template parameter.
    Other,
}

/// Where a function runs, by its annotations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Space {
    /// No annotation, or `__host__`.
    Host,
    Kernel,
    Device,
    /// `__host__ __device__`
    Both,
}

/// A function: for kernels only the head counts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Function {
    pub(crate) at: At,
    /// With its namespaces.
    pub(crate) path: String,
    pub(crate) space: Space,
    /// `None` unless declared by `template <...>`.
    pub(crate) template: Option<Vec<TemplateParameter>>,
    /// `template <>`: written for given arguments.
    pub(crate) specialisation: bool,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) variadic: bool,
    pub(crate) returns: TypeSyntax,
    pub(crate) body: Option<Body>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Body {
    Statements(Vec<Stmt>),
    /// The parser could not read it; the first place and what stands there.
    SyntaxError(At, String),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RecordSyntax {
    pub(crate) at: At,
    pub(crate) path: String,
    /// `None` where it is not plain: methods that construct, bases, templates.
    pub(crate) fields: Option<Vec<(String, TypeSyntax, Option<Expr>)>>,
}
