//! Parameter packs: `pattern...` in a list of arguments, folds, `sizeof...`.

use std::cell::OnceCell;
use std::collections::HashMap;

use super::Interpreter;
use super::scope::Binding;
use super::value::{TemplateValue, Value};
use crate::failure::{Fallible, Fault};
use crate::source::text::At;
use crate::syntax::ast::{Expansion, Expr, ExprKind, Fold, FoldOperator};
use crate::types::Scalar;

/// Elements of one pack.
const MAX_ELEMENTS: usize = 256;

/// Argument lists in which packs were replaced by their elements; they live as long as the tree itself.
#[derive(Debug, Default)]
pub(super) struct Expansions {
    first: OnceCell<Box<Link>>,
}

#[derive(Debug)]
struct Link {
    arguments: Vec<Expr>,
    next: OnceCell<Box<Link>>,
}

impl Drop for Expansions {
    /// Link by link: a long chain must not need a deep stack.
    fn drop(&mut self) {
        let mut next = self.first.take();
        while let Some(mut link) = next {
            next = link.next.take();
        }
    }
}

/// Which lists were expanded, and where the next one goes.
#[derive(Debug)]
pub(super) struct Expanded<'p> {
    end: &'p OnceCell<Box<Link>>,
    /// By the address of the list in the tree and the lengths of its packs.
    known: HashMap<(usize, Vec<usize>), &'p [Expr]>,
}

impl<'p> Expanded<'p> {
    pub(super) fn new(expansions: &'p Expansions) -> Self {
        Self {
            end: &expansions.first,
            known: HashMap::new(),
        }
    }
}

impl<'p> Interpreter<'p> {
    /// The arguments with every pack replaced by its elements.
    pub(super) fn expanded(&mut self, arguments: &'p [Expr]) -> Fallible<&'p [Expr]> {
        let expansion = |argument: &'p Expr| match &argument.kind {
            ExprKind::Expand(expansion) => Some(&**expansion),
            _ => None,
        };
        let mut lengths = Vec::new();
        for argument in arguments {
            if let Some(expansion) = expansion(argument) {
                lengths.push(self.pack_length(expansion, argument.at)?);
            }
        }
        if lengths.is_empty() {
            return Ok(arguments);
        }
        let key = (arguments.as_ptr().addr(), lengths);
        if let Some(known) = self.language.expanded.known.get(&key) {
            return Ok(known);
        }
        let mut lengths = key.1.iter();
        let mut expanded = Vec::new();
        for argument in arguments {
            match expansion(argument) {
                None => expanded.push(argument.clone()),
                Some(expansion) => {
                    for index in 0..lengths.next().copied().unwrap_or(0) {
                        self.spend(1 + u64::from(expansion.size), argument.at)?;
                        let pattern = Box::new(expansion.pattern.clone());
                        expanded.push(Expr {
                            at: argument.at,
                            kind: ExprKind::PackElement(index, pattern),
                        });
                    }
                }
            }
        }
        let end = self.language.expanded.end;
        let link = end.get_or_init(|| {
            Box::new(Link {
                arguments: expanded,
                next: OnceCell::new(),
            })
        });
        self.language.expanded.end = &link.next;
        self.language.expanded.known.insert(key, &link.arguments);
        Ok(&link.arguments)
    }

    fn pack_length(&self, expansion: &Expansion, at: At) -> Fallible<usize> {
        let length = |name: &String| match self.find_local(name) {
            Some(Binding::Pack(length)) => Some(*length),
            _ => None,
        };
        match expansion.names.iter().find_map(length) {
            Some(length) if length <= MAX_ELEMENTS => Ok(length),
            Some(length) => {
                let message = format!("a parameter pack of {length} elements");
                Err(Fault::fuel(at, message))
            }
            None => Err(Fault::unsupported(
                at,
                "`...` after something that names no parameter pack",
                "write the arguments out",
            )),
        }
    }

    /// `pattern...` among template arguments.
    pub(super) fn template_elements(
        &mut self,
        expansion: &'p Expansion,
        at: At,
    ) -> Fallible<Vec<TemplateValue>> {
        let mut values = Vec::new();
        for index in 0..self.pack_length(expansion, at)? {
            self.spend(1 + u64::from(expansion.size), at)?;
            values.push(self.in_element(index, |interpreter| {
                if let ExprKind::Name(name) = &expansion.pattern.kind
                    && let Some(Binding::Template(value)) = interpreter.find_local(&name.path)
                {
                    return Ok(value.clone());
                }
                interpreter
                    .evaluate(&expansion.pattern)
                    .map(TemplateValue::Value)
            })?);
        }
        Ok(values)
    }

    /// Makes every pack stand for one of its elements; what it stood for before.
    pub(super) fn set_element(&mut self, index: Option<usize>) -> Option<usize> {
        let frame = self.frames.last_mut()?;
        std::mem::replace(&mut frame.element, index)
    }

    pub(super) fn in_element<T>(&mut self, index: usize, inner: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.set_element(Some(index));
        let result = inner(self);
        self.set_element(before);
        result
    }

    pub(super) fn fold(&mut self, fold: &'p Fold, at: At) -> Fallible<Value> {
        let length = self.pack_length(&fold.expansion, at)?;
        let mut operands: Vec<(Option<usize>, &'p Expr)> = (0..length)
            .map(|index| (Some(index), &fold.expansion.pattern))
            .collect();
        if let Some(initial) = &fold.initial {
            let place = if fold.from_left { 0 } else { operands.len() };
            operands.insert(place, (None, initial));
        }
        match fold.operator {
            FoldOperator::And | FoldOperator::Or => {
                let decides = fold.operator == FoldOperator::Or;
                for (index, operand) in operands {
                    if self.operand(index, operand)?.1 == decides {
                        return Ok(Value::boolean(decides));
                    }
                }
                Ok(Value::boolean(!decides))
            }
            FoldOperator::Comma => {
                let mut last = Value::Void;
                for (index, operand) in operands {
                    last = self.folded(index, operand)?;
                }
                Ok(last)
            }
            FoldOperator::Binary(op) => {
                let mut values = Vec::new();
                for (index, operand) in operands {
                    values.push(self.folded(index, operand)?);
                }
                if !fold.from_left {
                    values.reverse();
                }
                let mut values = values.into_iter();
                let Some(mut result) = values.next() else {
                    return Err(Fault::unsupported(
                        at,
                        "a fold of an empty parameter pack",
                        "give the fold a first value",
                    ));
                };
                for value in values {
                    result = if fold.from_left {
                        self.binary(op, &result, &value, at)?
                    } else {
                        self.binary(op, &value, &result, at)?
                    };
                }
                Ok(result)
            }
        }
    }

    fn folded(&mut self, index: Option<usize>, operand: &'p Expr) -> Fallible<Value> {
        match index {
            Some(index) => self.in_element(index, |interpreter| interpreter.evaluate(operand)),
            None => self.evaluate(operand),
        }
    }

    fn operand(&mut self, index: Option<usize>, operand: &'p Expr) -> Fallible<(Value, bool)> {
        let value = self.folded(index, operand)?;
        let holds = self.truth(&value, operand.at)?;
        Ok((value, holds))
    }

    /// `sizeof...(pack)`
    pub(super) fn pack_size(&self, pack: &str, at: At) -> Fallible<Value> {
        let length = match self.find_local(pack) {
            Some(Binding::Pack(length)) => *length as i128,
            Some(Binding::Template(TemplateValue::Pack(values))) => values.len() as i128,
            _ => {
                let message = format!("`sizeof...` of `{pack}`, which is no parameter pack");
                return Err(Fault::unsupported(at, message, "name a parameter pack"));
            }
        };
        Ok(Value::Integer(Scalar::ULong, length))
    }
}
