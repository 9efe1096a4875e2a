//! `__constant__` and `__device__` variables by name.

use std::rc::Rc;

use crate::failure::{Fallible, Fault};
use crate::interpreter::Interpreter;
use crate::interpreter::value::{Target, Value};
use crate::plan::{Buffer, Place};
use crate::source::text::At;
use crate::syntax::ast::{Expr, ExprKind};
use crate::types::{Scalar, Type};

impl<'p> Interpreter<'p> {
    /// A call whose arguments name a device variable; `None` for other calls.
    pub(super) fn symbol_call(
        &mut self,
        name: &str,
        arguments: &'p [Expr],
        at: At,
    ) -> Option<Fallible<Value>> {
        Some(match (name, arguments) {
            ("cudaMemcpyToSymbol" | "cudaMemcpyToSymbolAsync", _) => {
                self.copy_to_symbol(arguments, at)
            }
            ("cudaMemcpyFromSymbol" | "cudaMemcpyFromSymbolAsync", _) => {
                self.copy_from_symbol(arguments, at)
            }
            ("cudaGetSymbolAddress", [target, symbol]) => self.symbol_address(target, symbol, at),
            ("cudaGetSymbolSize", [target, symbol]) => self.symbol_size(target, symbol, at),
            _ => return None,
        })
    }

    /// `cudaGetSymbolAddress(&pointer, symbol)`.
    fn symbol_address(&mut self, target: &'p Expr, symbol: &'p Expr, at: At) -> Fallible<Value> {
        let target = self.evaluate(target)?;
        let index = self.symbol_index(symbol)?;
        let place = Place {
            buffer: Buffer::Symbol(index),
            offset_bytes: 0,
        };
        let pointer = Value::pointer(Type::Void, false, Target::Device(place));
        self.store_through(&target, pointer, at)
    }

    /// `cudaGetSymbolSize(&bytes, symbol)`.
    fn symbol_size(&mut self, target: &'p Expr, symbol: &'p Expr, at: At) -> Fallible<Value> {
        let target = self.evaluate(target)?;
        let index = self.symbol_index(symbol)?;
        let Some(bytes) = self.symbol_bytes(index)? else {
            return Err(Fault::unsupported(
                at,
                "the size of this device variable is not known to the host interpreter",
                "write the number of bytes",
            ));
        };
        self.store_through(&target, Value::Integer(Scalar::ULong, bytes.into()), at)
    }

    /// The number of a device variable among those of the plan.
    fn symbol_index(&mut self, symbol: &'p Expr) -> Fallible<u32> {
        let Some(name) = self.symbol_argument(symbol)? else {
            return Err(no_symbol("this call", symbol));
        };
        let known = self
            .plan
            .symbols
            .iter()
            .position(|symbol| **symbol == *name);
        let index = known.unwrap_or_else(|| {
            self.plan.symbols.push(name.to_string());
            self.plan.symbols.len() - 1
        });
        Ok(u32::try_from(index).unwrap_or(u32::MAX))
    }

    /// `cudaMemcpyToSymbol(symbol, source, bytes, offset = 0, ...)`.
    fn copy_to_symbol(&mut self, arguments: &'p [Expr], at: At) -> Fallible<Value> {
        let [symbol, source, bytes, rest @ ..] = arguments else {
            return Err(Fault::unsupported(
                at,
                "this use of cudaMemcpyToSymbol",
                "write cudaMemcpyToSymbol(symbol, source, bytes)",
            ));
        };
        let Some(symbol) = self.symbol_argument(symbol)? else {
            return Err(no_symbol("cudaMemcpyToSymbol", symbol));
        };
        let source = self.evaluate(source)?;
        let (bytes, offset) = self.extent(bytes, rest.first())?;
        self.check_symbol(&symbol, bytes, offset, at)?;
        self.memcpy_to_symbol(&symbol, &source, bytes, offset, at)
    }

    /// Length and offset of a copy, in bytes; it starts at the variable's start where no offset is given.
    fn extent(&mut self, bytes: &'p Expr, offset: Option<&'p Expr>) -> Fallible<(u64, u64)> {
        let mut count = |expression: &'p Expr| {
            let value = self.evaluate(expression)?;
            self.count_of(&value, expression.at)
        };
        let bytes = count(bytes)?;
        Ok((bytes, offset.map_or(Ok(0), count)?))
    }

    /// `cudaMemcpyFromSymbol(destination, symbol, bytes, offset = 0, ...)`.
    fn copy_from_symbol(&mut self, arguments: &'p [Expr], at: At) -> Fallible<Value> {
        let [destination, symbol, bytes, rest @ ..] = arguments else {
            return Err(Fault::unsupported(
                at,
                "this use of cudaMemcpyFromSymbol",
                "write cudaMemcpyFromSymbol(&variable, symbol, sizeof(variable))",
            ));
        };
        let destination = self.evaluate(destination)?;
        let index = self.symbol_index(symbol)?;
        let (bytes, offset) = self.extent(bytes, rest.first())?;
        let source = Target::Device(Place {
            buffer: Buffer::Symbol(index),
            offset_bytes: i64::try_from(offset).unwrap_or(i64::MAX),
        });
        let source = Value::pointer(Type::Void, true, source);
        self.memcpy(&destination, &source, bytes, None, at)
    }

    /// A fault where a copy runs past a device variable of known size.
    fn check_symbol(&mut self, symbol: &str, bytes: u64, offset: u64, at: At) -> Fallible<()> {
        let Some((_, variable)) = self.tables.global(symbol) else {
            return Ok(());
        };
        let size = self.resolve(&variable.ty)?.size_bytes();
        match size {
            Some(size) if offset.saturating_add(bytes) > size => {
                let message = format!(
                    "cudaMemcpyToSymbol of {bytes} bytes from offset {offset} runs past \
                     `{symbol}`, which has {size} bytes"
                );
                Err(Fault::host(at, message))
            }
            _ => Ok(()),
        }
    }

    /// The path of a device variable given as `symbol` or `&symbol`.
    fn symbol_argument(&mut self, expr: &'p Expr) -> Fallible<Option<Rc<str>>> {
        let inner = match &expr.kind {
            ExprKind::AddressOf(inner) | ExprKind::Cast(_, inner) => inner,
            _ => expr,
        };
        let ExprKind::Name(name) = &inner.kind else {
            return Ok(None);
        };
        Ok(match self.symbol_named(&name.path)? {
            Some(Value::Pointer(_, Target::Symbol(symbol))) => Some(symbol),
            _ => None,
        })
    }

    /// The size of a device variable that the plan names, where the host knows its type.
    pub(in crate::interpreter) fn symbol_bytes(&mut self, index: u32) -> Fallible<Option<u64>> {
        let Some(name) = self.plan.symbols.get(index as usize) else {
            return Ok(None);
        };
        let Some((_, variable)) = self.tables.global(name) else {
            return Ok(None);
        };
        Ok(self.resolve(&variable.ty)?.size_bytes())
    }
}

fn no_symbol(call: &str, given: &Expr) -> Box<Fault> {
    let message = format!("{call} needs a __constant__ or __device__ variable of this file");
    let hint = match &given.kind {
        ExprKind::Text(_) => {
            "write the variable itself, without quotes: names as text are long gone"
        }
        _ => "memory that a pointer points to is copied by cudaMemcpy",
    };
    Fault::host(given.at, message).hint(hint)
}
