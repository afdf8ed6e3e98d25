//! The scenario: everything the product computes follows from this one plain value.
//!
//! [`Scenario`] is what files and links hold, with every default filled in; [`Job`] is a scenario that passed
//! validation, with system, model and placement resolved.

mod defaults;
mod fit;
mod json;
mod limits;
mod presets;
mod reader;
mod text;
pub mod url;

pub use defaults::{PartialLayout, derive_layout, derive_policy};
pub use limits::{MAX_FAILURES, MAX_GPUS, SLOW_SPEED_RANGE};
pub use presets::{ScenarioPreset, presets};

use super::hardware::{FieldError, Precision, System, system, systems};
use super::placement::Placement;
use super::workload::{Model, model, models};
use serde::{Deserialize, Serialize};

/// The only version of the format so far.
pub const VERSION: u32 = 1;

/// A preset by id, or the whole thing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Named<T> {
    /// A preset's id.
    Preset(String),
    /// Given field by field.
    Custom(Box<T>),
}

/// What is thrown away in the forward pass and computed again in the backward pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recompute {
    /// Nothing.
    #[default]
    None,
    /// The attention core.
    Selective,
    /// Whole layers.
    Full,
}

/// How the model is laid out over the GPUs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Layout {
    /// Tensor-parallel degree of a healthy TP group.
    pub tp: u32,
    /// Pipeline stages.
    pub pp: u32,
    /// Data-parallel replicas.
    pub dp: u32,
    /// Context-parallel degree.
    pub cp: u32,
    /// Interleaved chunks per pipeline stage (virtual pipeline).
    pub vp: u32,
    /// Sequences per micro-batch.
    pub microbatch: u32,
    /// Sequences per step over all replicas (the mini-batch).
    pub global_batch: u32,
    /// Sequence length, tokens.
    pub seq: u32,
    /// Format of the matrix multiplications.
    pub precision: Precision,
    /// What is computed again in the backward pass.
    pub recompute: Recompute,
    /// Sequence parallelism: all-gather + reduce-scatter instead of all-reduce, activations split along the sequence.
    pub sequence_parallel: bool,
    /// Overlap of TP and DP communication with compute.
    pub overlap: bool,
}

impl Layout {
    /// Sequences one replica processes per step.
    pub fn local_batch(&self) -> u32 {
        self.global_batch / self.dp.max(1)
    }
    /// GPUs the layout itself uses, without spares or left-over ones.
    pub fn gpus(&self) -> u64 {
        // A layout that was not checked yet may ask for more than any machine has.
        [self.pp, self.cp, self.dp]
            .into_iter()
            .fold(u64::from(self.tp), |all, by| {
                all.saturating_mul(u64::from(by))
            })
    }
    /// TP groups per replica.
    pub fn groups_per_replica(&self) -> u32 {
        self.pp.saturating_mul(self.cp)
    }
}

/// What kind of failure a GPU has.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// Dead until repaired.
    #[default]
    Hardware,
    /// Back after a restart.
    Software,
    /// Alive at a lower speed.
    Slow,
}

/// One failure, at the GPU it struck.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Failure {
    /// Scale-up domain, from 0 over the job's domains, spare ones after them.
    pub domain: u32,
    /// GPU inside the domain, from 0.
    pub gpu: u32,
    /// Kind of failure.
    pub kind: FailureKind,
    /// Speed of a slow GPU relative to a healthy one, 0.05 to 1; 1 for the other kinds.
    #[serde(skip_serializing_if = "is_one")]
    pub speed: f64,
    /// Aligned GPUs that go down together; absent: the policy's for hardware, 1 otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blast_radius: Option<u32>,
}

impl Failure {
    /// A dead GPU, with the blast radius of the policy.
    pub const fn hardware(domain: u32, gpu: u32) -> Self {
        Self {
            domain,
            gpu,
            kind: FailureKind::Hardware,
            speed: 1.0,
            blast_radius: None,
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde's signature
fn is_one(value: &f64) -> bool {
    *value == 1.0
}

/// Which reduced TP degrees a replica may run at. In files: the word `any`, or a list of degrees.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Degrees {
    /// Any down to half of TP, rounded up.
    #[default]
    Any,
    /// Only these.
    List(Vec<u32>),
}

impl Degrees {
    /// The largest supported degree that `available` GPUs of a TP group of `tp` can run at; a whole group always can.
    pub fn largest(&self, tp: u32, available: u32) -> Option<u32> {
        if available >= tp {
            return Some(tp);
        }
        match self {
            Self::Any => (available > 0 && available >= tp.div_ceil(2)).then_some(available),
            Self::List(list) => list
                .iter()
                .copied()
                .filter(|&degree| degree > 0 && degree <= available)
                .max(),
        }
    }
}

impl Serialize for Degrees {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Any => serializer.serialize_str("any"),
            Self::List(list) => list.serialize(serializer),
        }
    }
}

/// Whether all reduced replicas share one degree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Parity {
    /// Each replica has its own degree (the paper).
    #[default]
    PerReplica,
    /// One common reduced degree, healthy GPUs idled to reach it (Megatron Core).
    OneDegree,
}

/// Whether an attention head may be split over ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HeadSplit {
    /// Never: the largest rank sets the pace.
    #[default]
    Whole,
    /// Idealised even split, as the paper's local batches and boosts look.
    Even,
}

/// What the operator decided.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Policy {
    /// Reduced TP degrees that are supported.
    pub degrees: Degrees,
    /// One degree for all reduced replicas, or one each.
    pub parity: Parity,
    /// Highest power of a boosted GPU, x TDP, 1 to 1.3.
    pub boost_cap: f64,
    /// Power the rack can deliver and cool, x TDP of all its GPUs, 1 to 1.3.
    pub rack_headroom: f64,
    /// GPUs of every domain that `in-domain-spares` holds back.
    pub in_domain_spares: u32,
    /// Spare domains that every strategy which can use them has.
    pub spare_domains: u32,
    /// Spare domains that `hot-spares` alone holds, beyond `spare_domains`.
    pub hot_spare_domains: u32,
    /// Pause rather than train on a smaller mini-batch.
    pub fixed_minibatch: bool,
    /// Aligned GPUs that go down with one hardware failure.
    pub blast_radius: u32,
    /// Whether a head may be split.
    pub heads: HeadSplit,
}

/// A whole scenario with every default filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// The hardware.
    pub system: Named<System>,
    /// The transformer.
    pub model: Named<Model>,
    /// How it is laid out.
    pub layout: Layout,
    /// What has failed.
    pub failures: Vec<Failure>,
    /// What the operator decided.
    pub policy: Policy,
    /// Failure processes over time, for `fleet`; absent: the Llama 3 rates. Kept as its own JSON until read there.
    pub faults: Option<serde_json::Value>,
}

/// Why a scenario cannot be used: always one line.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ScenarioError {
    /// Not JSON, or not of the scenario's form.
    #[error("scenario: {0}")]
    Form(String),
    /// A field the format does not have.
    #[error("{field}: unknown field, expected one of {known}")]
    Unknown {
        /// Path of the field, as in the file.
        field: String,
        /// The fields there are.
        known: String,
    },
    /// A field that must be there.
    #[error("{field}: missing, expected {allowed}")]
    Missing {
        /// Path of the field, as in the file.
        field: String,
        /// What is allowed.
        allowed: String,
    },
    /// A value that is not allowed.
    #[error(transparent)]
    Field(#[from] FieldError),
}

impl ScenarioError {
    /// What the JSON reader says; text that is no JSON at all is called so.
    pub(crate) fn from_json_error(error: &serde_json::Error) -> Self {
        let what = if error.is_data() {
            ""
        } else {
            "not valid JSON, "
        };
        Self::Form(format!("{what}{error}"))
    }
}

/// A scenario that passed validation, with everything looked up.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// What it was made from.
    pub scenario: Scenario,
    /// The hardware.
    pub system: System,
    /// The transformer.
    pub model: Model,
    /// Where the TP groups sit.
    pub placement: Placement,
}

impl Scenario {
    /// The scene the page opens with: Llama 3 405B on GB300 NVL72, TP72 x PP2 x DP8, 64 sequences of 32,768 tokens per
    /// step. At 8,192 tokens a micro-batch of one leaves TP72 waiting for kernel launches, whatever the degree.
    pub fn default_scene() -> Self {
        Self {
            system: Named::Preset("gb300-nvl72".into()),
            model: Named::Preset("llama3-405b".into()),
            layout: Layout {
                tp: 72,
                pp: 2,
                dp: 8,
                cp: 1,
                vp: 1,
                microbatch: 1,
                global_batch: 64,
                seq: 32_768,
                precision: Precision::Bf16,
                recompute: Recompute::None,
                sequence_parallel: true,
                overlap: true,
            },
            failures: Vec::new(),
            policy: Policy {
                degrees: Degrees::Any,
                parity: Parity::OneDegree,
                boost_cap: 1.3,
                rack_headroom: 1.3,
                in_domain_spares: 8,
                spare_domains: 0,
                hot_spare_domains: 2,
                fixed_minibatch: false,
                blast_radius: 1,
                heads: HeadSplit::Whole,
            },
            faults: None,
        }
    }

    /// Looks everything up and checks every field.
    pub fn resolve(&self) -> Result<Job, ScenarioError> {
        let (system, model) = (self.system.resolve()?, self.model.resolve()?);
        limits::check(self, &system, &model)?;
        let placement = Placement::new(&self.layout, &self.policy, &system)?;
        Ok(Job {
            scenario: self.clone(),
            system,
            model,
            placement,
        })
    }
}

fn preset_error<'a>(field: &str, id: &str, known: impl Iterator<Item = &'a str>) -> FieldError {
    let known: Vec<&str> = known.collect();
    FieldError::new(
        field,
        reader::quoted(id),
        format!("an object or one of {}", known.join(", ")),
    )
}

impl Named<System> {
    /// The system itself, checked.
    pub fn resolve(&self) -> Result<System, FieldError> {
        let found = match self {
            Self::Preset(id) => system(id).cloned().ok_or_else(|| {
                preset_error("system", id, systems().iter().map(|s| s.id.as_str()))
            })?,
            Self::Custom(system) => (**system).clone(),
        };
        found.validate()?;
        Ok(found)
    }
}

impl Named<Model> {
    /// The model itself, checked.
    pub fn resolve(&self) -> Result<Model, FieldError> {
        let found = match self {
            Self::Preset(id) => model(id)
                .cloned()
                .ok_or_else(|| preset_error("model", id, models().iter().map(|m| m.id.as_str())))?,
            Self::Custom(model) => (**model).clone(),
        };
        found.validate()?;
        Ok(found)
    }
}
