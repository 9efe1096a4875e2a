//! Which shapes a judging runs: edges, each stratum's public draw, and its held-out draw.
//!
//! Held-out draws are the same for everybody within an epoch and cannot be known without its
//! secret. Weights of one judging's shapes sum to 1.

use std::collections::BTreeMap;

use domain::report::ShapeRole;
use domain::{Axes, DeviceKind, Mode};
use serde::{Deserialize, Serialize};

use crate::error::EvaluationError;
use crate::package::{AxisKind, Package};
use crate::subkey;

/// One shape of a judging.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// Stable and unique within the package.
    pub id: String,
    /// The stratum it stands for; `None` for edges.
    pub stratum: Option<String>,
    /// Why it is here.
    pub role: ShapeRole,
    /// The value of every axis.
    pub axes: Axes,
    /// Share of the score; `None` for edges.
    pub weight: Option<f64>,
    /// Share of real invocations; `None` for edges.
    pub calls: Option<f64>,
}

/// A class of real calls.
#[derive(Clone, Debug, PartialEq)]
pub struct Stratum {
    /// Name within the package.
    pub id: String,
    /// Model or deployment.
    pub label: String,
    /// Axes that belong to the class.
    pub fixed: Axes,
    /// Axes that vary within it.
    pub drawn: BTreeMap<String, Drawn>,
    /// Share of real invocations; sums to 1.
    pub calls: f64,
    /// Share of roofline time; sums to 1.
    pub time: f64,
    /// Share of the score, `(calls + time) / 2`; sums to 1.
    pub weight: f64,
    /// What the figures rest on.
    pub basis: Basis,
    /// Where they come from.
    pub source: String,
}

/// How an axis varies within a stratum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// The public value.
    pub public: i64,
    /// Smallest value of a held-out draw.
    pub lo: i64,
    /// Largest value of a held-out draw.
    pub hi: i64,
    /// Held-out values are multiples of it.
    pub align: i64,
}

/// What a stratum's figures rest on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// Counted in a trace.
    Trace,
    /// Counted in traced models.
    TracedModel,
    /// Read from configurations.
    Config,
    /// Chosen by the setter.
    Spec,
}

/// A shape for correctness only.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// Name within the package.
    pub id: String,
    /// The value of every axis.
    pub axes: Axes,
}

/// A small shape for the emulated device.
#[derive(Clone, Debug, PartialEq)]
pub struct Emulated {
    /// Name within the package.
    pub id: String,
    /// The stratum whose weight its shapes share.
    pub stratum: String,
    /// The value of every axis.
    pub axes: Axes,
}

/// The secret of one epoch. Never printed.
#[derive(Clone)]
pub struct EpochSecret {
    /// Name of the epoch; part of what is hashed.
    pub epoch: String,
    secret: [u8; 32],
}

impl EpochSecret {
    /// A secret for `epoch`.
    #[must_use]
    pub fn new(epoch: impl Into<String>, secret: [u8; 32]) -> Self {
        Self {
            epoch: epoch.into(),
            secret,
        }
    }
}

impl std::fmt::Debug for EpochSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EpochSecret")
            .field("epoch", &self.epoch)
            .finish_non_exhaustive()
    }
}

/// Draws tried before a stratum goes without a held-out shape: only constraints that exclude
/// nearly all of a range get that far.
const ATTEMPTS: u64 = 1000;

impl Package {
    /// The shapes of one judging, in judging order: edges first.
    ///
    /// On a GPU: edges and public draws, and in ranked mode with an epoch also held-out draws,
    /// which then share their stratum's weight with the public one. On the emulated device: edges
    /// and the small shapes, which share their stratum's weight equally, in both modes.
    #[must_use]
    pub fn shapes(
        &self,
        mode: Mode,
        target: DeviceKind,
        epoch: Option<&EpochSecret>,
    ) -> Vec<Shape> {
        let mut shapes: Vec<Shape> = self.edge.iter().map(Edge::shape).collect();
        match target {
            DeviceKind::Emulated => shapes.extend(self.emulated_shapes()),
            DeviceKind::Gpu => {
                let epoch = epoch.filter(|_| mode == Mode::Ranked);
                for stratum in &self.strata {
                    shapes.extend(self.drawn_shapes(stratum, epoch));
                }
            }
        }
        shapes
    }

    /// The value of every axis, given those that vary. Refuses values outside an axis's bounds,
    /// unknown names, and shapes against the constraints.
    pub fn resolve(&self, given: &Axes) -> Result<Axes, EvaluationError> {
        let mut axes = Axes::new();
        for axis in &self.axes {
            let name = &axis.name;
            let value = match &axis.kind {
                AxisKind::Constant(value) => *value,
                AxisKind::Derived(expression) => expression
                    .integer(&axes)
                    .map_err(|e| EvaluationError::new(name, e))?,
                AxisKind::Variable { min, max, align } => {
                    let value = *given
                        .get(name)
                        .ok_or_else(|| EvaluationError::new(name, "has no value"))?;
                    if !(*min..=*max).contains(&value) || value % align != 0 {
                        let message =
                            format!("is {value}, but goes from {min} to {max} in steps of {align}");
                        return Err(EvaluationError::new(name, message));
                    }
                    value
                }
            };
            axes.insert(name.clone(), value);
        }
        for (name, value) in given {
            if axes.get(name) != Some(value) {
                let message = match axes.get(name) {
                    Some(own) => format!("is {value}, but the problem makes it {own}"),
                    None => "is no axis of the problem".to_owned(),
                };
                return Err(EvaluationError::new(name, message));
            }
        }
        for constraint in &self.constraints {
            match constraint.condition(&axes) {
                Ok(true) => {}
                Ok(false) => {
                    let message = format!("`{}` does not hold", constraint.text());
                    return Err(EvaluationError::new("constraints", message));
                }
                Err(e) => return Err(EvaluationError::new("constraints", e)),
            }
        }
        Ok(axes)
    }

    fn emulated_shapes(&self) -> impl Iterator<Item = Shape> {
        self.emulated.iter().map(|row| {
            let rows = self.emulated.iter().filter(|r| r.stratum == row.stratum);
            let rows = rows.count() as f64;
            let stratum = self.strata.iter().find(|s| s.id == row.stratum);
            Shape {
                id: row.id.clone(),
                stratum: Some(row.stratum.clone()),
                role: ShapeRole::Emulated,
                axes: row.axes.clone(),
                weight: stratum.map(|s| s.weight / rows),
                calls: stratum.map(|s| s.calls / rows),
            }
        })
    }

    fn drawn_shapes(&self, stratum: &Stratum, epoch: Option<&EpochSecret>) -> Vec<Shape> {
        let public = self.resolve(&stratum.public_axes());
        let held_out = epoch.and_then(|e| self.held_out(stratum, e));
        let draws = [
            (ShapeRole::Public, "public", public.ok()),
            (ShapeRole::HeldOut, "held_out", held_out),
        ];
        let present: Vec<_> = draws
            .into_iter()
            .filter_map(|(role, word, axes)| axes.map(|a| (role, word, a)))
            .collect();
        let share = 1.0 / present.len() as f64;
        let shape = |(role, word, axes)| Shape {
            id: format!("{}.{word}", stratum.id),
            stratum: Some(stratum.id.clone()),
            role,
            axes,
            weight: Some(stratum.weight * share),
            calls: Some(stratum.calls * share),
        };
        present.into_iter().map(shape).collect()
    }

    /// The stratum's draw of the epoch: uniform over the aligned values of each range, and another
    /// point than the public one. `None` if there is no other point.
    fn held_out(&self, stratum: &Stratum, epoch: &EpochSecret) -> Option<Axes> {
        if stratum.drawn.values().all(|d| d.count() <= 1) {
            return None;
        }
        let key = subkey::mac(
            &epoch.secret,
            &[
                b"held-out",
                self.slug.as_bytes(),
                &self.version.to_le_bytes(),
                epoch.epoch.as_bytes(),
            ],
        );
        let public = stratum.public_axes();
        (0..ATTEMPTS).find_map(|attempt| {
            let mut given = stratum.fixed.clone();
            for (name, drawn) in &stratum.drawn {
                let digest = subkey::mac(
                    &key,
                    &[
                        stratum.id.as_bytes(),
                        name.as_bytes(),
                        &attempt.to_le_bytes(),
                    ],
                );
                let mut bits = [0; 8];
                bits.copy_from_slice(&digest[..8]);
                given.insert(name.clone(), drawn.at(u64::from_le_bytes(bits)));
            }
            let resolved = (given != public).then(|| self.resolve(&given));
            resolved.and_then(Result::ok)
        })
    }
}

impl Stratum {
    /// Fixed axes and the public values of the drawn ones.
    #[must_use]
    pub fn public_axes(&self) -> Axes {
        self.with(|drawn| drawn.public)
    }

    pub(crate) fn with(&self, pick: impl Fn(&Drawn) -> i64) -> Axes {
        let drawn = self.drawn.iter().map(|(name, d)| (name.clone(), pick(d)));
        self.fixed.clone().into_iter().chain(drawn).collect()
    }
}

impl Drawn {
    /// The aligned values in the range.
    pub(crate) fn count(&self) -> u64 {
        let (first, last) = (self.first(), self.hi.div_euclid(self.align));
        u64::try_from(last - first + 1).unwrap_or(0)
    }

    /// The value that 64 random bits select.
    fn at(&self, bits: u64) -> i64 {
        let offset = (u128::from(bits) * u128::from(self.count())) >> 64;
        let offset = i64::try_from(offset).expect("below the number of values");
        (self.first() + offset) * self.align
    }

    fn first(&self) -> i64 {
        self.lo.div_euclid(self.align) + i64::from(self.lo.rem_euclid(self.align) != 0)
    }
}

impl Edge {
    fn shape(&self) -> Shape {
        Shape {
            id: self.id.clone(),
            stratum: None,
            role: ShapeRole::Edge,
            axes: self.axes.clone(),
            weight: None,
            calls: None,
        }
    }
}
