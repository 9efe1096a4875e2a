//! The modelled time of a span: every launch and transfer estimated by itself, one after the other.

use domain::report::{ModelTerm, Modelled, ModelledTerm};
use emulator::{
    Counters, Estimate, H200, Occupancy, Term, estimate, estimate_transfer, estimate_upload,
};

/// What the model has made of a span so far.
#[derive(Debug, Default)]
pub(super) struct Model {
    seconds: f64,
    /// By term: all of it, and the part of the time that it was the longest of.
    terms_s: [f64; Term::ALL.len()],
    limited_s: [f64; Term::ALL.len()],
    operations: u64,
    /// Why no time can be given.
    incomplete: Option<String>,
}

impl Model {
    /// A launch of `kernel` that ran. `registers`: of a thread, where they are known.
    pub(super) fn launch(
        &mut self,
        kernel: &str,
        outcome: &emulator::Outcome,
        registers: Option<u32>,
        block: [u32; 3],
        shared_bytes: u32,
    ) {
        if let Some(what) = outcome.uncounted {
            return self.give_up(format!("nothing counts the {what} of `{kernel}`"));
        }
        let Some(registers) = registers else {
            return self.give_up(format!("the registers of `{kernel}` are not known"));
        };
        let occupancy = Occupancy {
            block_threads: block.iter().product(),
            registers,
            shared_bytes,
        };
        match self.estimate(&outcome.counters, &occupancy) {
            Some(found) => self.add(&found),
            None => self.give_up(format!("a block of `{kernel}` fits no multiprocessor")),
        }
    }

    fn estimate(&self, counters: &Counters, occupancy: &Occupancy) -> Option<Estimate> {
        estimate(counters, occupancy, &H200, self.operations > 0)
    }

    /// A fill or copy of device memory that reads and writes so many bytes.
    pub(super) fn transfer(&mut self, bytes: u64) {
        self.add(&estimate_transfer(bytes, &H200, self.operations > 0));
    }

    /// A copy from the host.
    pub(super) fn upload(&mut self, bytes: u64) {
        self.add(&estimate_upload(bytes, &H200, self.operations > 0));
    }

    /// No time can be given; the first reason stays.
    pub(super) fn give_up(&mut self, why: String) {
        self.incomplete.get_or_insert(why);
    }

    fn add(&mut self, found: &Estimate) {
        self.operations += 1;
        self.seconds += found.seconds;
        for (at, term) in Term::ALL.into_iter().enumerate() {
            self.terms_s[at] += found.term_s(term);
        }
        let launch_s = found.term_s(Term::Launch);
        self.limited_s[Term::Launch as usize] += launch_s;
        self.limited_s[found.limit() as usize] += found.seconds - launch_s;
    }

    pub(super) fn report(&self) -> Modelled {
        if self.incomplete.is_some() || self.operations == 0 {
            let nothing = || "nothing was launched".to_owned();
            return Modelled {
                incomplete: Some(self.incomplete.clone().unwrap_or_else(nothing)),
                ..Modelled::default()
            };
        }
        let named = |(at, term): (usize, Term)| ModelledTerm {
            term: name(term),
            t_s: self.terms_s[at],
        };
        let mut terms: Vec<_> = Term::ALL.into_iter().enumerate().map(named).collect();
        terms.retain(|term| term.t_s > 0.0);
        terms.sort_by(|a, b| b.t_s.total_cmp(&a.t_s));
        let longest = |a: &Term, b: &Term| {
            self.limited_s[*a as usize].total_cmp(&self.limited_s[*b as usize])
        };
        Modelled {
            t_s: Some(self.seconds),
            sol: None,
            limit: Term::ALL.into_iter().max_by(longest).map(name),
            terms,
            incomplete: None,
        }
    }
}

fn name(term: Term) -> ModelTerm {
    match term {
        Term::Launch => ModelTerm::Launch,
        Term::Dram => ModelTerm::Dram,
        Term::L2 => ModelTerm::L2,
        Term::Shared => ModelTerm::Shared,
        Term::Issue => ModelTerm::Issue,
        Term::Pipe => ModelTerm::Pipe,
        Term::Tensor => ModelTerm::Tensor,
        Term::Atomics => ModelTerm::Atomics,
        Term::Latency => ModelTerm::Latency,
    }
}
