//! One warp's access to memory: compared with the shadow, then entered in it.
#![allow(unsafe_code)]

use super::clocks::Flag;
use super::plain::Plain;
use super::race::{Actor, Rival, words};
use super::report::Spot;
use super::touch::Touch;
use super::values::is_defined;
use super::{BlockShadow, Shadow};
use crate::exec::access::{Addresses, addresses, window};
use crate::exec::block::Block;
use crate::exec::elements::lanes_of;
use crate::exec::reconverge::{Warp, lane_value};
use crate::exec::step::Here;
use crate::exec::violations::Verb;
use crate::exec::worker::{Stop, Worker};
use crate::lanes::{LANES, View};
use crate::memory::Region;
use crate::program::{Access, AddressSpace, Atomic, AtomicOp};

/// A warp's access, as far as it lies in shared memory or in allocations.
pub(super) struct Event<'a> {
    /// The registers that it loads or stores; absent if it is no load or store of the warp's lanes.
    pub(super) registers: Option<Registers<'a>>,
    /// Atomic, volatile or ordered.
    strong: bool,
    pub(super) verb: Verb,
    /// A read-modify-write that needs the value it finds.
    pub(super) needs_value: bool,
    pub(super) warp: u32,
    pub(super) mask: u32,
    pub(super) spots: [Spot; LANES],
    /// Where each lane's element lies on the host.
    data: [*const u8; LANES],
    /// Kernels cannot write there.
    read_only: bool,
    pub(super) bytes: u32,
    pub(super) line: u16,
}

#[derive(Clone, Copy)]
pub(super) struct Registers<'a> {
    pub(super) access: &'a Access,
    view: &'a View,
    pub(super) frame: u32,
}

impl<'a> Event<'a> {
    /// One that moves no registers, before its spots are found.
    pub(super) fn plain(plain: &Plain<'_>, warp: u32) -> Event<'a> {
        Event {
            registers: None,
            strong: plain.strong,
            verb: plain.verb,
            needs_value: false,
            warp,
            mask: plain.mask,
            spots: [Spot::default(); LANES],
            data: [std::ptr::null(); LANES],
            read_only: false,
            bytes: plain.bytes,
            line: plain.line,
        }
    }
}

impl Event<'_> {
    fn strong(&self) -> u8 {
        if self.strong { Touch::STRONG } else { 0 }
    }

    fn is_shared(&self) -> bool {
        self.spots[self.mask.trailing_zeros() as usize & 31]
            .allocation
            .is_none()
    }

    /// The bytes that a lane of a store writes, where they lie in registers.
    fn stored(&self, lane: usize) -> Option<[u8; 32]> {
        let Registers { access, view, .. } = self.registers?;
        let mut out = [0; 32];
        let size = access.bytes as usize;
        for (at, slot) in access.data.iter().enumerate() {
            if let Some(slot) = slot {
                // SAFETY: the slot is one of the program's.
                let value = unsafe { lane_value(view, *slot, lane) };
                out[at * size..][..size].copy_from_slice(&value.to_le_bytes()[..size]);
            }
        }
        Some(out)
    }

    /// Whether a lane's store leaves its place as it is.
    fn changes_nothing(&self, lane: usize) -> bool {
        let Some(stored) = self.stored(lane) else {
            return false;
        };
        let bytes = self.bytes as usize;
        // SAFETY: `locate` took only lanes whose elements lie inside memory; the launch has one
        // host thread.
        let there = unsafe { std::slice::from_raw_parts(self.data[lane], bytes) };
        self.verb == Verb::Write && there == &stored[..bytes]
    }
}

impl Worker<'_> {
    /// Compares a load or a store with the shadow and enters it. Whether the warp now holds an
    /// undefined value.
    pub(in crate::exec) fn observe(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        here: &Here,
        access: &Access,
        verb: Verb,
    ) -> Result<bool, Stop> {
        self.observe_all(block, warp, here, access, verb, false)
    }

    pub(in crate::exec) fn observe_atomic(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        here: &Here,
        atomic: &Atomic,
    ) -> Result<bool, Stop> {
        let needs_value = !matches!(atomic.op, AtomicOp::Exchange);
        if atomic.access.releases {
            self.note_fence(block, warp);
        }
        let access = &atomic.access;
        self.observe_all(block, warp, here, access, Verb::Update, needs_value)
    }

    fn observe_all(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        here: &Here,
        access: &Access,
        verb: Verb,
        needs_value: bool,
    ) -> Result<bool, Stop> {
        if verb == Verb::Write && access.releases {
            self.note_fence(block, warp);
        }
        let (Some(mut shadow), Some(mut own)) = (self.shadow.take(), block.shadow.take()) else {
            return Ok(false);
        };
        self.running = (block.number, warp.first_thread / 32);
        let line = self.line_of(warp, &here.split);
        let addresses = addresses(&here.view, access, here.bounds);
        let mut rest = here.mask;
        let mut outcome = self.check_address(&own, here, access, verb);
        while rest != 0 && outcome.is_ok() {
            let (space, mask, addresses) = window(access.space, &addresses, rest);
            rest &= !mask;
            let mut event = Event {
                registers: Some(Registers {
                    access,
                    view: &here.view,
                    frame: here.split.frame,
                }),
                strong: access.strong || verb == Verb::Update,
                verb,
                needs_value,
                warp: warp.first_thread / 32,
                mask,
                spots: [Spot::default(); LANES],
                data: [std::ptr::null(); LANES],
                read_only: false,
                bytes: access.bytes * access.count,
                line,
            };
            self.find_spots(block, space, &addresses, &mut event);
            outcome = self.enter(&mut shadow, &mut own, &event, mask);
        }
        let tainted = !own.taint[warp.first_thread as usize / 32].is_empty();
        warp.tainted = tainted;
        self.shadow = Some(shadow);
        block.shadow = Some(own);
        outcome.map(|()| tainted)
    }

    /// A store to an address that comes from nowhere is a fault; what a load gets there is undefined.
    fn check_address(
        &self,
        own: &BlockShadow,
        here: &Here,
        access: &Access,
        verb: Verb,
    ) -> Result<(), Stop> {
        let taint = &own.taint[self.running.1 as usize];
        let Some(slot) = access.address.filter(|_| !taint.is_empty()) else {
            return Ok(());
        };
        let mark = taint.slot(here.split.frame, slot);
        match lanes_of(mark.lanes & here.mask).next() {
            Some(lane) => {
                let use_text = match verb {
                    Verb::Read => "loads from an address made of",
                    _ => "stores to an address made of",
                };
                Err(self.undefined_stop(lane as u32, &taint.origin(mark), use_text))
            }
            None => Ok(()),
        }
    }

    /// Finds where each lane accesses. Lanes outside are left to the access itself.
    pub(super) fn find_spots(
        &self,
        block: &Block,
        space: AddressSpace,
        addresses: &Addresses,
        event: &mut Event<'_>,
    ) {
        let bytes = u64::from(event.bytes);
        let mut inside = 0;
        match space {
            // An address into another block lies beyond: such launches have no shadow.
            AddressSpace::Shared | AddressSpace::Cluster => {
                let total = u64::from(block.shared_bytes);
                let base: *const u8 = block.shared.as_ptr().cast();
                for lane in lanes_of(event.mask) {
                    let offset = addresses[lane];
                    if bytes <= total && offset <= total - bytes && offset.is_multiple_of(bytes) {
                        event.spots[lane].offset = offset;
                        event.data[lane] = base.wrapping_add(offset as usize);
                        inside |= 1 << lane;
                    }
                }
            }
            AddressSpace::Global => {
                let mut region = (0, Region::NONE);
                for lane in lanes_of(event.mask) {
                    let address = addresses[lane];
                    if address.wrapping_sub(region.1.address) >= region.1.bytes {
                        match self.context.regions.find_numbered(address) {
                            Some((number, found)) => region = (number, *found),
                            None => continue,
                        }
                    }
                    let (number, region) = region;
                    let offset = address.wrapping_sub(region.address);
                    let fits = region.bytes >= bytes && offset <= region.bytes - bytes;
                    if fits && offset.is_multiple_of(bytes) {
                        event.spots[lane] = Spot {
                            allocation: Some(number),
                            offset,
                        };
                        event.data[lane] = region.data.wrapping_add(offset as usize);
                        event.read_only |= region.read_only;
                        inside |= 1 << lane;
                    }
                }
            }
            AddressSpace::Generic | AddressSpace::Local | AddressSpace::Parameter => {}
        }
        event.mask = inside;
    }

    fn enter(
        &self,
        shadow: &mut Shadow,
        own: &mut BlockShadow,
        event: &Event<'_>,
        lanes: u32,
    ) -> Result<(), Stop> {
        self.enter_unvalued(shadow, own, event)?;
        if shadow.checks.undefined_values {
            self.enter_values(shadow, own, event, lanes)?;
        }
        Ok(())
    }

    /// All but which bytes hold a value.
    pub(super) fn enter_unvalued(
        &self,
        shadow: &mut Shadow,
        own: &mut BlockShadow,
        event: &Event<'_>,
    ) -> Result<(), Stop> {
        if event.mask == 0 {
            return Ok(());
        }
        if shadow.checks.races {
            self.enter_order(shadow, own, event)?;
        }
        if shadow.checks.footprints && !event.is_shared() {
            enter_footprint(shadow, event, self);
        }
        Ok(())
    }

    /// Races: each lane against what is known, then all lanes into what is known.
    fn enter_order(
        &self,
        shadow: &mut Shadow,
        own: &mut BlockShadow,
        event: &Event<'_>,
    ) -> Result<(), Stop> {
        let strong = event.strong();
        if strong != 0 && event.verb != Verb::Write {
            for lane in lanes_of(event.mask) {
                own.clocks.take(&shadow.times, event.warp, event.flag(lane));
            }
        }
        if event.read_only {
            return Ok(());
        }
        if event.verb == Verb::Write {
            self.check_clash(event)?;
        }
        let mut silent = 0u32;
        for lane in lanes_of(event.mask) {
            let Some(rival) = self.rival(shadow, own, event, lane) else {
                continue;
            };
            let spot = event.spots[lane];
            if event.changes_nothing(lane) && is_defined(shadow, own, spot, event.bytes) {
                silent |= 1 << lane;
                continue;
            }
            return Err(self.race_stop(lane as u32, spot, event.bytes, event.verb, &rival));
        }
        for lane in lanes_of(event.mask & !silent) {
            record(shadow, own, event, lane);
        }
        if strong != 0 && event.verb != Verb::Read {
            for lane in lanes_of(event.mask) {
                own.clocks
                    .give(&mut shadow.times, event.warp, event.flag(lane));
            }
        }
        Ok(())
    }

    fn rival(
        &self,
        shadow: &mut Shadow,
        own: &mut BlockShadow,
        event: &Event<'_>,
        lane: usize,
    ) -> Option<Rival> {
        let spot = event.spots[lane];
        let writes = event.verb != Verb::Read;
        for (word, part) in words(spot.offset, event.bytes) {
            let actor = Actor {
                clocks: &own.clocks,
                times: &shadow.times,
                warp: event.warp,
                lane,
                flags: part | event.strong(),
                is_shared: spot.allocation.is_none(),
            };
            let rival = match spot.allocation {
                None => {
                    let written = own.written.get(word as usize)?;
                    let reads = own.read.get(word as usize).filter(|_| writes);
                    actor
                        .rival_write(written)
                        .or_else(|| reads.and_then(|reads| actor.rival_read(reads)))
                }
                Some(number) => {
                    let written = shadow.written.known(number, word);
                    let rival = written.and_then(|written| actor.rival_write(written));
                    rival.or_else(|| {
                        let reads = shadow.read.known(number, word).filter(|_| writes);
                        reads.and_then(|reads| actor.rival_read(reads))
                    })
                }
            };
            if rival.is_some() {
                return rival;
            }
        }
        None
    }

    /// Two lanes of one store that write different values to one place.
    fn check_clash(&self, event: &Event<'_>) -> Result<(), Stop> {
        let place = |lane: usize| (event.spots[lane].allocation, event.spots[lane].offset);
        let ascends = lanes_of(event.mask).map(place).is_sorted_by(|a, b| a < b);
        if ascends {
            return Ok(());
        }
        let mut lanes: Vec<usize> = lanes_of(event.mask).collect();
        lanes.sort_by_key(|&lane| place(lane));
        for pair in lanes.windows(2) {
            let [first, second] = [pair[0], pair[1]];
            if place(first) == place(second) && event.stored(first) != event.stored(second) {
                let spot = event.spots[second];
                return Err(self.clash_stop(second as u32, first as u32, spot, event.bytes));
            }
        }
        Ok(())
    }
}

impl Event<'_> {
    fn flag(&self, lane: usize) -> Flag {
        let spot = self.spots[lane];
        match spot.allocation {
            None => Flag::Shared(spot.offset),
            // Allocations lie far apart, so their number and an offset make an address.
            Some(number) => Flag::Global(u64::from(number) << 40 | spot.offset),
        }
    }
}

fn record(shadow: &mut Shadow, own: &mut BlockShadow, event: &Event<'_>, lane: usize) {
    let spot = event.spots[lane];
    for (word, part) in words(spot.offset, event.bytes) {
        let touch = Touch {
            block: own.clocks.block,
            stamp: shadow.times.now,
            lanes: 1 << lane,
            line: event.line,
            warp: event.warp as u8,
            flags: part | event.strong(),
        };
        match (spot.allocation, event.verb) {
            (None, Verb::Read) => own.read[word as usize].record(&touch),
            (None, _) => own.written[word as usize].record(&touch),
            (Some(number), Verb::Read) => {
                if let Some(cell) = shadow.read.cell(number, word) {
                    cell.record(&touch);
                }
            }
            (Some(number), _) => {
                if let Some(cell) = shadow.written.cell(number, word) {
                    cell.record(&touch);
                }
            }
        }
    }
}

fn enter_footprint(shadow: &mut Shadow, event: &Event<'_>, worker: &Worker<'_>) {
    let reads = event.verb != Verb::Write;
    let writes = event.verb != Verb::Read;
    for lane in lanes_of(event.mask) {
        let spot = event.spots[lane];
        let Some(number) = spot.allocation else {
            continue;
        };
        for (side, touches) in [reads, writes].into_iter().enumerate() {
            if touches {
                let set = &mut shadow.touched[number as usize][side];
                let set = set.get_or_insert_with(|| worker.empty_set(number));
                set.insert_element(spot.offset, event.bytes);
            }
        }
    }
}
