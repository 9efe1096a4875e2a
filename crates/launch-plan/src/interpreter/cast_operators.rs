//! `operator T()` of a class: its objects where a value of another type is wanted.

use std::collections::HashMap;
use std::rc::Rc;

use super::Interpreter;
use super::scope::{Frame, Surroundings};
use super::value::Value;
use crate::failure::Fallible;
use crate::syntax::ast::Expr;
use crate::types::{Record, Scalar, Type};

/// What such methods are called here.
const NAME: &str = "operator cast";

impl<'p> Interpreter<'p> {
    /// The value of an object as its class converts it to `wanted`. `None` where it does not, and for everything
    /// that is no object.
    pub(super) fn cast_by_class(
        &mut self,
        expr: &'p Expr,
        wanted: &Type,
    ) -> Fallible<Option<Value>> {
        if !self.tables.has_operators() || matches!(wanted, Type::Record(_)) {
            return Ok(None);
        }
        let Some(Type::Record(record)) = self.static_type(expr) else {
            return Ok(None);
        };
        let Some(method) = self.cast_operator(&record, wanted) else {
            return Ok(None);
        };
        let at = expr.at;
        let (place, _) = self.object_place(expr)?;
        let methods = self.for_object(vec![method], &place, NAME, at)?;
        let (place, record) = self.owner_of_method(&place, &record, NAME);
        let around = self.around_object(&place, &record, at)?;
        let value = self.call_chosen(&methods, NAME, &[], Vec::new(), &around, at)?;
        let value = self.value_returned(value, at)?;
        self.convert(value, wanted, at).map(Some)
    }

    /// The same where any pointer will do.
    pub(super) fn pointer_by_class(&mut self, expr: &'p Expr) -> Fallible<Option<Value>> {
        self.cast_by_class(expr, &Type::pointer_to(Type::Void, false))
    }

    fn cast_operator(&mut self, record: &Rc<Record>, wanted: &Type) -> Option<usize> {
        let methods = self.methods_of(record, NAME);
        if methods.is_empty() {
            return None;
        }
        let tables = self.tables;
        let mut fitting = None;
        for index in methods {
            let around = Surroundings {
                class: self.class_of(&record.name),
                ..Surroundings::default()
            };
            let frame = Frame::within(HashMap::new(), around);
            let returns = &tables.function(index).returns;
            let returned = self.framed(frame, |interpreter| interpreter.resolve(returns));
            match (returned.ok()?, wanted) {
                (returned, wanted) if returned == *wanted => return Some(index),
                (Type::Pointer(_), Type::Pointer(_) | Type::Scalar(Scalar::Bool))
                | (Type::Scalar(_), Type::Scalar(_)) => {
                    fitting = fitting.or(Some(index));
                }
                _ => {}
            }
        }
        fitting
    }
}
