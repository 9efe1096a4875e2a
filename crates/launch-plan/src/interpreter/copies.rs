//! `cudaMemset` and `cudaMemcpy`: by where pointers really point, not by the direction flag.

use super::runtime::{DEVICE_TO_DEVICE, DEVICE_TO_HOST, HOST_TO_DEVICE, HOST_TO_HOST};
use super::value::{HostRef, Target, Value};
use super::{Interpreter, MAX_UPLOAD_BYTES};
use crate::failure::{Fallible, Fault};
use crate::plan::{Operation, Place};
use crate::source::text::At;
use crate::types::{Scalar, Type};

impl Interpreter<'_> {
    /// `cudaMemset(destination, value, bytes)`.
    pub(super) fn memset(
        &mut self,
        destination: &Value,
        value: &Value,
        bytes: u64,
        at: At,
    ) -> Fallible<Value> {
        let place = match destination {
            Value::Pointer(_, Target::Device(place)) => *place,
            Value::Pointer(..) => {
                return Err(Fault::host(at, "cudaMemset of host memory")
                    .hint("it sets device memory; use a loop for host variables"));
            }
            _ => {
                return Err(Fault::host(
                    at,
                    "cudaMemset of something that is no pointer",
                ));
            }
        };
        if bytes == 0 {
            return Ok(Value::SUCCESS);
        }
        self.check_span(place, bytes, "cudaMemset", at)?;
        let Value::Integer(_, value) =
            self.convert(value.clone(), &Type::Scalar(Scalar::Int), at)?
        else {
            return Err(Fault::host(at, "cudaMemset sets bytes to an integer"));
        };
        let operation = Operation::Memset {
            destination: place,
            value: (value & 0xff) as u8,
            bytes,
            line: self.line(at),
        };
        self.emit(operation, at)?;
        Ok(Value::SUCCESS)
    }

    /// `cudaMemcpy(destination, source, bytes, direction)`.
    pub(super) fn memcpy(
        &mut self,
        destination: &Value,
        source: &Value,
        bytes: u64,
        direction: Option<i128>,
        at: At,
    ) -> Fallible<Value> {
        let both = [destination, source];
        if self.graphs.takes_copy(both, bytes, direction, at) {
            return Ok(Value::SUCCESS);
        }
        let (Value::Pointer(_, destination), Value::Pointer(_, source)) = (destination, source)
        else {
            return Err(Fault::host(
                at,
                "cudaMemcpy between things that are no pointers",
            ));
        };
        if bytes == 0 {
            return Ok(Value::SUCCESS);
        }
        self.check_direction(destination, source, direction, at);
        match (destination, source) {
            (Target::Device(destination), source @ (Target::Device(_) | Target::Host(_))) => {
                self.copy_to_device(*destination, source, bytes, at)?;
            }
            (Target::Host(destination), Target::Host(source)) => {
                self.copy_host(destination, source, bytes, at)?;
            }
            (Target::Host(destination), Target::Device(source)) => {
                self.check_span(*source, bytes, "cudaMemcpy", at)?;
                self.read_back(destination, *source, bytes, at)?;
            }
            (Target::Symbol(name), _) | (_, Target::Symbol(name)) => {
                return Err(symbol_copy(name, at));
            }
        }
        Ok(Value::SUCCESS)
    }

    fn copy_to_device(
        &mut self,
        destination: Place,
        source: &Target,
        bytes: u64,
        at: At,
    ) -> Fallible<()> {
        self.check_span(destination, bytes, "cudaMemcpy", at)?;
        let line = self.line(at);
        let operation = match source {
            Target::Device(source) => {
                self.check_span(*source, bytes, "cudaMemcpy", at)?;
                Operation::Copy {
                    destination,
                    source: *source,
                    bytes,
                    line,
                }
            }
            Target::Host(source) => Operation::Upload {
                destination,
                data: self.host_bytes(source, bytes, at)?,
                line,
            },
            Target::Symbol(name) => return Err(symbol_copy(name, at)),
        };
        self.emit(operation, at)
    }

    fn check_direction(
        &mut self,
        destination: &Target,
        source: &Target,
        direction: Option<i128>,
        at: At,
    ) {
        let on_device = |target: &Target| matches!(target, Target::Device(_));
        let real = match (on_device(destination), on_device(source)) {
            (true, true) => DEVICE_TO_DEVICE,
            (true, false) => HOST_TO_DEVICE,
            (false, true) => DEVICE_TO_HOST,
            (false, false) => HOST_TO_HOST,
        };
        let Some(given) = direction.filter(|given| (0..4).contains(given)) else {
            return;
        };
        if given != real {
            let name = |direction| {
                let names = [
                    "HostToHost",
                    "HostToDevice",
                    "DeviceToHost",
                    "DeviceToDevice",
                ];
                names[direction as usize % names.len()]
            };
            let message = format!(
                "cudaMemcpy says {}, but its pointers make it {}; it is done by its pointers",
                name(given),
                name(real)
            );
            let why = match real {
                DEVICE_TO_DEVICE => "pointers in the signature are device pointers; ",
                _ => "",
            };
            self.warn(at, &message, &format!("{why}use cudaMemcpy{}", name(real)));
        }
    }

    /// `cudaMemcpyToSymbol(symbol, source, bytes, offset, ...)`.
    pub(super) fn memcpy_to_symbol(
        &mut self,
        symbol: &str,
        source: &Value,
        bytes: u64,
        offset_bytes: u64,
        at: At,
    ) -> Fallible<Value> {
        let symbol = symbol.to_owned();
        let line = self.line(at);
        let operation = match source {
            Value::Pointer(_, Target::Host(source)) => Operation::UploadSymbol {
                symbol,
                offset_bytes,
                data: self.host_bytes(source, bytes, at)?,
                line,
            },
            Value::Pointer(_, Target::Device(source)) => {
                self.check_span(*source, bytes, "cudaMemcpyToSymbol", at)?;
                Operation::CopyToSymbol {
                    symbol,
                    offset_bytes,
                    source: *source,
                    bytes,
                    line,
                }
            }
            _ => return Err(Fault::host(at, "cudaMemcpyToSymbol from no memory")),
        };
        self.emit(operation, at)?;
        Ok(Value::SUCCESS)
    }

    /// The bytes of host variables from a place on.
    fn host_bytes(&mut self, source: &HostRef, bytes: u64, at: At) -> Fallible<Vec<u8>> {
        self.upload_bytes = self.upload_bytes.saturating_add(bytes);
        if self.upload_bytes > MAX_UPLOAD_BYTES {
            let message = format!("the plan uploads more than {MAX_UPLOAD_BYTES} bytes");
            return Err(Fault::fuel(at, message).hint("compute the values in a kernel"));
        }
        let wanted = usize::try_from(bytes).unwrap_or(usize::MAX);
        let (ty, values) = self.memory.run(source, at)?;
        let mut data = Vec::new();
        for value in values {
            if data.len() >= wanted {
                break;
            }
            let Some(value) = value else {
                return Err(Fault::host(
                    at,
                    "host memory is copied to the device before it has a value",
                ));
            };
            let Some(part) = value.to_bytes() else {
                let message = format!("host values of type `{ty}` are copied to the device");
                return Err(Fault::unsupported(
                    at,
                    message,
                    "copy numbers or plain structs",
                ));
            };
            data.extend(part);
        }
        if data.len() < wanted {
            let message = format!(
                "cudaMemcpy reads {bytes} bytes of host memory that has {}",
                data.len()
            );
            return Err(Fault::host(at, message));
        }
        data.truncate(wanted);
        self.spend_in_bulk(data.len() as u64 / 4, at)?;
        Ok(data)
    }

    fn copy_host(
        &mut self,
        destination: &HostRef,
        source: &HostRef,
        bytes: u64,
        at: At,
    ) -> Fallible<()> {
        let size = self
            .memory
            .type_at(source, at)?
            .size_bytes()
            .unwrap_or(1)
            .max(1);
        let count = usize::try_from(bytes / size).unwrap_or(usize::MAX);
        let whole = self.memory.type_at(source, at)? == self.memory.type_at(destination, at)?
            && bytes.is_multiple_of(size)
            && self.memory.union_around(source, at)?.is_none()
            && self.memory.union_around(destination, at)?.is_none();
        if !whole {
            let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
            self.spend_in_bulk(bytes as u64, at)?;
            let data = self.memory.bytes_from(source, bytes, at)?;
            return self.memory.overwrite(destination, &data, at);
        }
        let (from, values) = self.memory.run_unseen(source, at)?;
        let copied: Vec<Option<Value>> = values.iter().take(count).cloned().collect();
        self.spend_in_bulk(copied.len() as u64, at)?;
        let unknown = self.memory.unknown_from(source, copied.len(), at)?;
        let (to, targets) = self.memory.run_unseen(destination, at)?;
        if from != to
            || copied.len() < count
            || targets.len() < count
            || !bytes.is_multiple_of(size)
        {
            return Err(Fault::unsupported(
                at,
                "this copy between host variables is not in the host subset",
                "assign them one by one",
            ));
        }
        for (target, value) in targets.iter_mut().zip(copied) {
            *target = value;
        }
        self.memory.set_unknown_from(destination, &unknown, at)
    }
}

fn symbol_copy(name: &str, at: At) -> Box<Fault> {
    Fault::unsupported(
        at,
        format!("cudaMemcpy with the device variable `{name}`"),
        "use cudaMemcpyToSymbol",
    )
}
