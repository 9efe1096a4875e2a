//! Memory that the runtime gives out, on the device and on the host.

use crate::failure::Fallible;
use crate::interpreter::Interpreter;
use crate::interpreter::value::Value;
use crate::source::text::At;
use crate::types::Type;

impl Interpreter<'_> {
    pub(super) fn malloc(&mut self, target: &Value, bytes: &Value, at: At) -> Fallible<Value> {
        let bytes = self.count_of(bytes, at)?;
        let address = self.allocate_device(bytes, at)?;
        let pointer = Value::pointer(Type::Void, false, address);
        self.store_through(target, pointer, at)
    }
}
