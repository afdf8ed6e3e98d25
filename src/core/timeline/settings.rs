//! What-if controls of the step panel.

use super::TimelineError;
use crate::core::hardware::FieldError;
use crate::core::scenario::{Failure, Job};
use crate::core::units::Bytes;

/// Smallest and largest gradient bucket, bytes per rank.
pub const BUCKET_RANGE_BYTES: (f64, f64) = (1e6, 1e12);
/// Smallest and largest bandwidth factor.
pub const FACTOR_RANGE: (f64, f64) = (0.01, 100.0);

/// The controls; the default changes nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Largest gradient bucket per rank.
    pub bucket_bytes: Bytes,
    /// NVLink bandwidth relative to the system's.
    pub nvlink_factor: f64,
    /// Scale-out bandwidth relative to the system's.
    pub scaleout_factor: f64,
    /// Micro-batches per step of a healthy replica, instead of the scenario's.
    pub microbatches: Option<u32>,
    /// GPUs lost in the first TP group and nowhere else, instead of the scenario's failures.
    pub spares: Option<u32>,
    /// Stage whose GPU is shown stream by stream.
    pub stage: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            // Few large buckets: see `exposed_by_bucket`.
            bucket_bytes: Bytes(1.25e9),
            nvlink_factor: 1.0,
            scaleout_factor: 1.0,
            microbatches: None,
            spares: None,
            stage: 0,
        }
    }
}

impl Settings {
    /// Whether the job itself stays as it is.
    pub fn keeps_job(&self) -> bool {
        let Self {
            nvlink_factor,
            scaleout_factor,
            microbatches,
            spares,
            ..
        } = self;
        *nvlink_factor == 1.0
            && *scaleout_factor == 1.0
            && microbatches.is_none()
            && spares.is_none()
    }

    /// Checks the ranges of bucket and bandwidths.
    pub fn check(&self) -> Result<(), TimelineError> {
        let range = |field: &str, value: f64, (low, high): (f64, f64)| {
            if value >= low && value <= high {
                Ok(())
            } else {
                Err(FieldError::new(field, value, format!("{low} to {high}")))
            }
        };
        range(
            "timeline.bucket_bytes",
            self.bucket_bytes.get(),
            BUCKET_RANGE_BYTES,
        )?;
        range("timeline.nvlink_factor", self.nvlink_factor, FACTOR_RANGE)?;
        range(
            "timeline.scaleout_factor",
            self.scaleout_factor,
            FACTOR_RANGE,
        )?;
        Ok(())
    }

    /// The job with the controls applied: bandwidths of its system, mini-batch, failures.
    pub fn apply(&self, job: &Job) -> Result<Job, TimelineError> {
        self.check()?;
        let mut job = job.clone();
        job.system.gpu.nvlink_gb_s_bidir *= self.nvlink_factor;
        job.system.gpu.scaleout_gbit_s *= self.scaleout_factor;
        let layout = &mut job.scenario.layout;
        if let Some(microbatches) = self.microbatches {
            let batch =
                u64::from(microbatches) * u64::from(layout.microbatch) * u64::from(layout.dp);
            layout.global_batch = u32::try_from(batch)
                .ok()
                .filter(|batch| *batch > 0)
                .ok_or_else(|| {
                    FieldError::new(
                        "timeline.microbatches",
                        microbatches,
                        "1 to what 2^32 sequences allow",
                    )
                })?;
        }
        if let Some(spares) = self.spares {
            if spares >= job.placement.tp {
                let allowed = format!("0 to {}", job.placement.tp.saturating_sub(1));
                return Err(FieldError::new("timeline.spares", spares, allowed).into());
            }
            // Past the GPUs that the layout leaves over, which would replace the first ones lost.
            let lost = if spares == 0 {
                0
            } else {
                spares + job.placement.left_over
            };
            job.scenario.failures = (0..lost)
                .map(|gpu| Failure {
                    blast_radius: Some(1),
                    ..Failure::hardware(0, gpu)
                })
                .collect();
        }
        Ok(job)
    }
}
