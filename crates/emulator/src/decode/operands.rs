//! Operands to slots: registers, immediates, addresses of variables, special registers.

use super::{Decoder, Home};
use crate::LoadError;
use crate::lanes::{Class, Slot, compare, un};
use crate::program::{Compare, Constant, Kind, LaneMask, Logic, Predicate, Special};
use crate::syntax::{Operand, RegisterId, Space, Type};

impl<'a> Decoder<'a> {
    /// A source of type `ty`; a register of another width is converted first.
    pub(super) fn source(&mut self, at: usize, ty: Type) -> Result<Slot, LoadError> {
        let operand = self.operand(at)?;
        self.source_of(operand, ty)
    }

    pub(super) fn source_of(&mut self, operand: &'a Operand, ty: Type) -> Result<Slot, LoadError> {
        let wide = ty.bytes() == 8;
        match operand {
            Operand::Register(register) => {
                let slot = self.slot_home(*register)?;
                Ok(self.resize(slot, wide, ty.is_signed()))
            }
            Operand::Integer(value) => Ok(self.constant(wide, immediate(*value, ty))),
            Operand::Single(bits) if wide => {
                Ok(self.constant(true, f64::from(f32::from_bits(*bits)).to_bits()))
            }
            Operand::Single(bits) => Ok(self.constant(false, u64::from(*bits))),
            Operand::Double(bits) if wide => Ok(self.constant(true, *bits)),
            Operand::Double(bits) => {
                Ok(self.constant(false, u64::from((f64::from_bits(*bits) as f32).to_bits())))
            }
            Operand::Symbol(name, _) if name == "WARP_SZ" => Ok(self.constant(wide, 32)),
            Operand::Symbol(name, addend) => self.address_of(name, *addend, wide),
            Operand::Special(name) => {
                let slot = self.special_register(name)?;
                Ok(self.resize(slot, wide, false))
            }
            _ => Err(self.malformed("an operand of another kind is needed")),
        }
    }

    /// The register's home; without one for predicates.
    pub(super) fn slot_home(&self, register: RegisterId) -> Result<Slot, LoadError> {
        match self.homes[register as usize] {
            Home::Slot(slot) => Ok(slot),
            Home::Predicate(_) => Err(self.malformed("a predicate stands where a value is needed")),
            Home::Pair(..) => Err(self.unsupported(format!("{} on .b128", self.statement.opcode))),
        }
    }

    fn resize(&mut self, slot: Slot, wide: bool, signed: bool) -> Slot {
        if slot.class().is_wide() == wide {
            return slot;
        }
        let dst = self.temporary(wide);
        let run = match (wide, signed) {
            (false, _) => un(|a: u64| a as u32),
            (true, false) => un(|a: u32| u64::from(a)),
            (true, true) => un(|a: u32| a as i32 as u64),
        };
        self.lane(run, dst, &[slot]);
        dst
    }

    /// Runs `f` with a slot for destination `at`, then narrows or widens into the register.
    pub(super) fn destination(
        &mut self,
        at: usize,
        ty: Type,
        f: impl FnOnce(&mut Self, Slot),
    ) -> Result<(), LoadError> {
        let operand = self.operand(at)?;
        self.destination_of(operand, ty, f)
    }

    pub(super) fn destination_of(
        &mut self,
        operand: &Operand,
        ty: Type,
        f: impl FnOnce(&mut Self, Slot),
    ) -> Result<(), LoadError> {
        let wide = ty.bytes() == 8;
        match operand {
            Operand::Sink => {
                let slot = self.temporary(wide);
                f(self, slot);
            }
            Operand::Register(register) => {
                let home = self.slot_home(*register)?;
                if home.class().is_wide() == wide {
                    f(self, home);
                } else {
                    let slot = self.temporary(wide);
                    f(self, slot);
                    let run = match (wide, ty.is_signed()) {
                        (true, _) => un(|a: u64| a as u32),
                        (false, false) => un(|a: u32| u64::from(a)),
                        (false, true) => un(|a: u32| a as i32 as u64),
                    };
                    self.lane(run, home, &[slot]);
                }
            }
            _ => return Err(self.malformed("a register is needed as destination")),
        }
        Ok(())
    }

    /// A predicate destination; `_` gives a spare one.
    pub(super) fn predicate_destination(&mut self, operand: &Operand) -> Result<u32, LoadError> {
        match operand {
            Operand::Register(register) => self.predicate_home(*register),
            Operand::Sink => Ok(self.temporary_predicate()),
            _ => Err(self.malformed("a predicate is needed as destination")),
        }
    }

    pub(super) fn predicate(&mut self, at: usize) -> Result<Predicate, LoadError> {
        match self.operand(at)? {
            Operand::Register(register) => Ok(Predicate {
                index: self.predicate_home(*register)?,
                negated: false,
            }),
            Operand::NotRegister(register) => Ok(Predicate {
                index: self.predicate_home(*register)?,
                negated: true,
            }),
            Operand::Integer(value) => Ok(Predicate {
                index: 0,
                negated: *value == 0,
            }),
            Operand::Special(name) if name == "%is_explicit_cluster" => Ok(self.explicit_cluster()),
            _ => Err(self.malformed("a predicate is needed")),
        }
    }

    fn explicit_cluster(&mut self) -> Predicate {
        let value = self.special(Special::ExplicitCluster);
        let zero = self.constant(false, 0);
        let dst = self.temporary_predicate();
        self.emit(Kind::Compare(Compare {
            run: compare(|a: u32, b: u32| a != b),
            a: value,
            b: zero,
            dst,
            dst_not: 0,
            op: Logic::First,
            with: Predicate::default(),
        }));
        Predicate {
            index: dst,
            negated: false,
        }
    }

    pub(super) fn constant(&mut self, wide: bool, bits: u64) -> Slot {
        let bits = if wide { bits } else { bits & 0xffff_ffff };
        self.pooled(wide, Constant::Bits(bits))
    }

    fn pooled(&mut self, wide: bool, constant: Constant) -> Slot {
        if let Some(&slot) = self.constants.get(&(wide, constant.clone())) {
            return slot;
        }
        let (class, pool) = if wide {
            (Class::WideConst, &mut self.out.wide_constants)
        } else {
            (Class::NarrowConst, &mut self.out.narrow_constants)
        };
        let slot = Slot::new(class, pool.len());
        pool.push(constant.clone());
        self.constants.insert((wide, constant), slot);
        slot
    }

    /// Address of a variable in its own space: of the frame, of the parameters, or by name.
    fn address_of(&mut self, name: &str, addend: i64, wide: bool) -> Result<Slot, LoadError> {
        if let Some(&(offset, _)) = self.frame.get(name) {
            let offset = (i64::from(offset) + addend) as u32;
            let slot = self.special(Special::Frame(offset));
            return Ok(self.resize(slot, wide, false));
        }
        if let Some(&offset) = self.parameters.get(name) {
            return Ok(self.constant(wide, (i64::from(offset) + addend) as u64));
        }
        let own = self
            .text
            .variables
            .iter()
            .any(|v| v.name == name && v.space == Space::Shared);
        for index in self.unit.functions_behind(name) {
            if !self.out.callees.contains(&index) {
                self.out.callees.push(index);
            }
        }
        let symbol = if own {
            format!("{}::{name}", self.text.name)
        } else if self
            .unit
            .variables
            .iter()
            .any(|variable| variable.name == name)
        {
            name.to_owned()
        } else if self
            .unit
            .functions
            .iter()
            .any(|function| function.name == name)
        {
            return self.function_address(name, wide);
        } else {
            return Err(self.malformed(&format!("`{name}` is not declared")));
        };
        Ok(self.pooled(wide, Constant::Address { symbol, addend }))
    }

    fn function_address(&mut self, name: &str, wide: bool) -> Result<Slot, LoadError> {
        let index = self.unit.functions_behind(name).first().copied();
        let index = index.ok_or_else(|| self.unsupported(format!("address of {name}")))?;
        Ok(self.constant(wide, crate::memory::function_address(index)))
    }

    fn special_register(&mut self, name: &str) -> Result<Slot, LoadError> {
        let (base, axis) = match name.split_once('.') {
            Some((base, axis)) => (base, axis),
            None => (name, ""),
        };
        let axis_index = match axis {
            "x" => Some(0),
            "y" => Some(1),
            "z" => Some(2),
            _ => None,
        };
        let what = match (base, axis_index) {
            ("%tid", Some(axis)) => Special::Thread(axis),
            ("%ntid", Some(axis)) => Special::BlockExtent(axis),
            ("%ctaid", Some(axis)) => Special::Block(axis),
            ("%nctaid", Some(axis)) => Special::GridExtent(axis),
            // Without a cluster launch each block is a cluster of its own.
            ("%clusterid", Some(axis)) => Special::Cluster(axis),
            ("%nclusterid", Some(axis)) => Special::ClusterCount(axis),
            ("%cluster_ctaid", Some(axis)) => Special::BlockOfCluster(axis),
            ("%cluster_nctaid", Some(axis)) => Special::ClusterExtent(axis),
            _ if !axis.is_empty() => return Err(self.unsupported(name)),
            ("%laneid", _) => Special::Lane,
            ("%warpid", _) => Special::Warp,
            ("%nwarpid", _) => Special::WarpCount,
            ("%lanemask_eq", _) => Special::LaneMask(LaneMask::Equal),
            ("%lanemask_lt", _) => Special::LaneMask(LaneMask::Less),
            ("%lanemask_le", _) => Special::LaneMask(LaneMask::LessEqual),
            ("%lanemask_gt", _) => Special::LaneMask(LaneMask::Greater),
            ("%lanemask_ge", _) => Special::LaneMask(LaneMask::GreaterEqual),
            ("%smid", _) => Special::Multiprocessor,
            ("%nsmid", _) => Special::MultiprocessorCount,
            ("%cluster_ctarank", _) => Special::ClusterRank,
            ("%cluster_nctarank", _) => Special::ClusterSize,
            // Clocks stay below 2^32: they count one warp's instructions.
            ("%gridid" | "%clock_hi" | "%globaltimer_hi", _) => Special::Zero,
            ("%clock", _) => Special::Clock,
            ("%clock64", _) => return Ok(self.wide_special(Special::Clock)),
            ("%globaltimer", _) => return Ok(self.wide_special(Special::Nanoseconds)),
            ("%globaltimer_lo", _) => Special::Nanoseconds,
            ("%dynamic_smem_size", _) => Special::DynamicSharedBytes,
            ("%total_smem_size" | "%aggr_smem_size", _) => Special::TotalSharedBytes,
            _ => return Err(self.unsupported(name)),
        };
        Ok(self.special(what))
    }

    fn wide_special(&mut self, what: Special) -> Slot {
        let dst = self.temporary(true);
        self.emit(Kind::Special { dst, what });
        dst
    }
}

/// An integer literal as the bits of a type: 16-bit values leave the upper half zero.
fn immediate(value: i64, ty: Type) -> u64 {
    match ty.bytes() {
        1 | 2 => value as u64 & 0xffff,
        4 => value as u64 & 0xffff_ffff,
        _ => value as u64,
    }
}
