//! The host subset as a tree. Every node knows where in the submitted text it was written.

use serde::{Deserialize, Serialize};

pub(crate) use super::operators::{BinaryOp, UnaryOp};
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
    Text(Box<str>),
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
        /// With template arguments only where a method is called.
        name: Name,
        through_pointer: bool,
    },
    Call(Box<Expr>, Vec<Expr>),
    Launch(Box<LaunchExpr>),
    Cast(Box<TypeSyntax>, Box<Expr>),
    /// `dim3(1, 2)`, `float(x)`.
    Construct(Box<TypeSyntax>, Vec<Expr>),
    /// `S{1}`.
    ConstructList(Box<TypeSyntax>, Vec<Expr>),
    List(Vec<Expr>),
    /// `.field = value` in a list.
    Designated(String, Box<Expr>),
    Lambda(Box<Lambda>),
    /// `pattern...`: an argument for each element of the packs that are named.
    Expand(Box<Expansion>),
    /// `(pattern + ...)`.
    Fold(Box<Fold>),
    /// `sizeof...(pack)`.
    PackSize(String),
    /// The pattern of an expansion with its packs standing for one of their elements each.
    PackElement(usize, Box<Expr>),
    SizeOfType(Box<TypeSyntax>),
    AlignOf(Box<TypeSyntax>),
    SizeOfValue(Box<Expr>),
    /// `new T[n]`, or `new T` without a length.
    New(Box<TypeSyntax>, Option<Box<Expr>>, Box<Initial>),
    Delete(Box<Expr>),
    Unsupported(Unsupported),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LaunchExpr {
    pub(crate) callee: Expr,
    pub(crate) configuration: Vec<Expr>,
    pub(crate) arguments: Vec<Expr>,
}

/// A lambda: what it takes with it, and its function.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Lambda {
    pub(crate) default: Option<CaptureKind>,
    pub(crate) captures: Vec<Capture>,
    /// `[this]`
    pub(crate) this: bool,
    /// Every name in the body, in order of first use.
    pub(crate) names: Vec<String>,
    /// Index among the file's inner functions.
    pub(crate) function: usize,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Capture {
    pub(crate) at: At,
    pub(crate) name: String,
    pub(crate) kind: CaptureKind,
    /// `[n = value]`
    pub(crate) value: Option<Expr>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum CaptureKind {
    Copy,
    Reference,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Expansion {
    /// Every name in the pattern.
    pub(crate) names: Vec<String>,
    /// Bytes of the pattern's text.
    pub(crate) size: u32,
    pub(crate) pattern: Expr,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Fold {
    pub(crate) operator: FoldOperator,
    pub(crate) expansion: Expansion,
    /// What stands on the other side of the dots.
    pub(crate) initial: Option<Expr>,
    /// `(... + pattern)`.
    pub(crate) from_left: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum FoldOperator {
    Binary(BinaryOp),
    And,
    Or,
    Comma,
}

/// `a::b<T, 3>`: the path as written and the arguments of its last part.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Name {
    pub(crate) path: String,
    pub(crate) arguments: Option<Vec<TemplateArgument>>,
    /// The class before the last `::`, where it has template arguments: `C<3>` of `C<3>::x`.
    pub(crate) owner: Option<Box<Name>>,
}

impl Name {
    /// The path without a leading `::` or `std::`.
    pub(crate) fn plain(&self) -> &str {
        let path = self.path.strip_prefix("::").unwrap_or(&self.path);
        path.strip_prefix("std::").unwrap_or(path)
    }

    /// What stands before the last `::`, and what after it.
    pub(crate) fn split(&self) -> Option<(&str, &str)> {
        self.path.rsplit_once("::")
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum TemplateArgument {
    Type(TypeSyntax),
    Value(Expr),
    /// A bare name, which only its meaning tells apart.
    TypeOrValue(TypeSyntax, Expr),
}

/// `template <class T> using A = S<T>;`
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct AliasTemplate {
    pub(crate) path: String,
    pub(crate) parameters: Vec<TemplateParameter>,
    pub(crate) ty: TypeSyntax,
}

/// A type as written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TypeSyntax {
    pub(crate) at: At,
    /// Of a reference: `&&`.
    pub(crate) rvalue: bool,
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
    /// `decltype(value)`
    TypeOf(Box<Expr>),
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
    /// Statements of the block around them.
    Sequence(Vec<Stmt>),
    Expr(Expr),
    Declare(Vec<Variable>),
    /// `auto [a, b] = value;`
    Bindings(Box<Bindings>),
    /// A struct within a function: its name there and its path among the file's.
    Record(String, String),
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
    /// `for (T x : range)`
    ForEach(Box<ForEach>),
    While(Box<Expr>, Box<Stmt>),
    DoWhile(Box<Stmt>, Box<Expr>),
    Switch(Box<Expr>, Vec<Case>),
    Break,
    Continue,
    Return(Option<Box<Expr>>),
    Unsupported(Unsupported),
}

/// Names for the parts of one value.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Bindings {
    pub(crate) at: At,
    pub(crate) names: Vec<String>,
    /// `auto&`: other names for the parts, no copies.
    pub(crate) by_reference: bool,
    pub(crate) value: Expr,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ForEach {
    /// Before the loop: `for (int i = 0; T x : range)`.
    pub(crate) first: Option<Stmt>,
    pub(crate) element: Element,
    pub(crate) range: Expr,
    pub(crate) body: Stmt,
}

/// What a range-based `for` declares.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Element {
    Variable {
        at: At,
        name: String,
        ty: TypeSyntax,
    },
    Bindings {
        at: At,
        names: Vec<String>,
        by_reference: bool,
    },
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
    /// `(a, b)`
    Arguments(Vec<Expr>),
    /// `{a, b}` or `= {a, b}`
    List(Vec<Expr>),
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
    /// `Ts... ts`
    pub(crate) pack: bool,
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
    /// `class... Ts` or `int... Ns`
    Pack,
    /// A template template parameter.
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
    /// A method that belongs to the class and to no object.
    pub(crate) is_static: bool,
    /// A method that a `const` object has.
    pub(crate) is_const: bool,
    /// What a constructor says before its body.
    pub(crate) initialisers: Vec<(String, Initial)>,
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
    /// By which its methods are found: its path, unless it is a specialisation, whose path is the template's.
    pub(crate) methods: String,
    /// `None` unless declared by `template <...>`.
    pub(crate) template: Option<Vec<TemplateParameter>>,
    /// `template <> struct S<3>`: the arguments that it is for.
    pub(crate) specialised: Option<Vec<TemplateArgument>>,
    /// Types and constants, which later members may name, in order.
    pub(crate) members: Vec<Member>,
    pub(crate) is_union: bool,
    /// Fields that may change within a `const` object.
    pub(crate) mutable: Vec<String>,
    /// `S() = default;`
    pub(crate) default_constructor: bool,
    pub(crate) has_destructor: bool,
    /// `using Base::Base;`
    pub(crate) inherits_constructors: bool,
    /// Its object is the first field, which has no name.
    pub(crate) base: Option<TypeSyntax>,
    pub(crate) layout: Layout,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Member {
    Alias(String, TypeSyntax),
    Constant(Variable),
}

/// What the objects of a class hold.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Layout {
    /// Name, type and default value of each field. Methods are found by the class's path.
    Fields(Vec<(String, TypeSyntax, Option<Expr>)>),
    /// The host cannot make such objects; why.
    Opaque(String),
}
