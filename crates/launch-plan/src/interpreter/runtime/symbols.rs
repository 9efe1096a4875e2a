//! `__constant__` and `__device__` variables by name.

use std::rc::Rc;

use crate::failure::{Fallible, Fault};
use crate::interpreter::Interpreter;
use crate::interpreter::value::{Target, Value};
use crate::source::text::At;
use crate::syntax::ast::{Expr, ExprKind};

impl<'p> Interpreter<'p> {
    /// `cudaMemcpyToSymbol(symbol, source, bytes, offset = 0, ...)`.
    pub(super) fn copy_to_symbol(&mut self, arguments: &'p [Expr], at: At) -> Fallible<Value> {
        let [symbol, source, bytes, rest @ ..] = arguments else {
            return Err(Fault::unsupported(at, "this use of cudaMemcpyToSymbol", ""));
        };
        let Some(symbol) = self.symbol_argument(symbol)? else {
            return Err(Fault::host(
                symbol.at,
                "cudaMemcpyToSymbol needs a __constant__ or __device__ variable of this file",
            ));
        };
        let source = self.evaluate(source)?;
        let bytes_value = self.evaluate(bytes)?;
        let bytes = self.count_of(&bytes_value, bytes.at)?;
        let offset = match rest.first() {
            Some(offset) => {
                let value = self.evaluate(offset)?;
                self.count_of(&value, offset.at)?
            }
            None => 0,
        };
        self.check_symbol(&symbol, bytes, offset, at)?;
        self.memcpy_to_symbol(&symbol, &source, bytes, offset, at)
    }

    /// `cudaMemcpyFromSymbol(destination, symbol, bytes, offset = 0, ...)`.
    pub(super) fn copy_from_symbol(&mut self, arguments: &'p [Expr], at: At) -> Fallible<Value> {
        let [destination, symbol, bytes, rest @ ..] = arguments else {
            return Err(Fault::unsupported(
                at,
                "this use of cudaMemcpyFromSymbol",
                "write cudaMemcpyFromSymbol(&variable, symbol, sizeof(variable))",
            ));
        };
        let Some(symbol) = self.symbol_argument(symbol)? else {
            return Err(Fault::host(
                symbol.at,
                "cudaMemcpyFromSymbol needs a __constant__ or __device__ variable of this file",
            ));
        };
        let destination = self.evaluate(destination)?;
        let bytes_value = self.evaluate(bytes)?;
        let bytes = self.count_of(&bytes_value, bytes.at)?;
        let offset = match rest.first() {
            Some(offset) => {
                let value = self.evaluate(offset)?;
                self.count_of(&value, offset.at)?
            }
            None => 0,
        };
        self.check_symbol(&symbol, bytes, offset, at)?;
        self.memcpy_from_symbol(&destination, &symbol, bytes, offset, at)
    }

    /// A fault where a copy runs past a device variable of known size.
    pub(super) fn check_symbol(
        &mut self,
        symbol: &str,
        bytes: u64,
        offset: u64,
        at: At,
    ) -> Fallible<()> {
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
    pub(super) fn symbol_argument(&mut self, expr: &'p Expr) -> Fallible<Option<Rc<str>>> {
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
