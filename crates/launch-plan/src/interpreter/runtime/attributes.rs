//! What host code sets for a kernel.

use crate::failure::{Fallible, Fault};
use crate::interpreter::Interpreter;
use crate::interpreter::constants::MAX_DYNAMIC_SHARED;
use crate::interpreter::value::Value;
use crate::source::text::At;

impl Interpreter<'_> {
    pub(super) fn set_attribute(
        &mut self,
        kernel: &Value,
        attribute: &Value,
        value: &Value,
        at: At,
    ) -> Fallible<Value> {
        let Value::Kernel(kernel) = kernel else {
            return Err(Fault::unsupported(
                at,
                "cudaFuncSetAttribute of something that is no kernel of this file",
                "",
            ));
        };
        if *attribute != Value::int(MAX_DYNAMIC_SHARED) {
            return Ok(Value::SUCCESS);
        }
        let bytes = self.count_of(value, at)?;
        let most = u64::from(self.limits.shared_memory_per_block_optin_bytes);
        if bytes > most {
            let message = format!(
                "{bytes} bytes of dynamic shared memory are asked for; the limit is {most}"
            );
            return Err(Fault::launch(at, message));
        }
        let instance = self.instance_without_call(&kernel.clone(), at)?;
        self.dynamic_shared_limits.insert(instance.identity, bytes);
        Ok(Value::SUCCESS)
    }
}
