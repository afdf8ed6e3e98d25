//! What an edit of one field means for the others.

use super::{Degrees, Scenario, limits};
use crate::core::hardware::Precision;
use crate::core::placement::Placement;

impl Scenario {
    /// Brings what depends on an edited layout, system or model back into range: failures of GPUs that are gone go, a
    /// blast or a number of held GPUs larger than the domain shrinks, chunks beyond the layers shrink, fp8 on a GPU
    /// without it becomes bf16. The fields an edit is about (degrees of parallelism, batch) stay as they are: if they
    /// are wrong, [`Scenario::resolve`] says so.
    pub fn fit(&mut self) {
        let (Ok(system), Ok(model)) = (self.system.resolve(), self.model.resolve()) else {
            return;
        };
        let (layout, policy) = (&mut self.layout, &mut self.policy);
        if system.gpu.fp8_tflops.is_none() {
            layout.precision = Precision::Bf16;
        }
        layout.vp = layout.vp.min((model.layers / layout.pp.max(1)).max(1));
        policy.blast_radius = policy.blast_radius.clamp(1, system.domain_size);
        policy.in_domain_spares = policy
            .in_domain_spares
            .min(limits::in_domain_spares(&system, layout.tp).1);
        if let Degrees::List(list) = &mut policy.degrees {
            list.retain(|degree| *degree <= layout.tp);
            if list.is_empty() {
                policy.degrees = Degrees::Any;
            }
        }
        let Ok(placement) = Placement::new(layout, policy, &system) else {
            return;
        };
        let domains = placement.domains.saturating_add(placement.spare_domains);
        self.failures
            .retain(|failure| failure.domain < domains && failure.gpu < system.domain_size);
        for failure in &mut self.failures {
            failure.blast_radius = failure
                .blast_radius
                .map(|radius| radius.clamp(1, system.domain_size));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::scenario::{Failure, Named, PartialLayout, derive_layout};

    fn failure(domain: u32, gpu: u32) -> Failure {
        Failure {
            blast_radius: Some(72),
            ..Failure::hardware(domain, gpu)
        }
    }

    #[test]
    fn another_system_keeps_only_failures_that_it_has() {
        let mut scenario = Scenario::default_scene();
        scenario.failures = vec![failure(0, 3), failure(5, 17)];
        scenario.policy.blast_radius = 72;
        scenario.policy.degrees = Degrees::List(vec![70, 68]);
        scenario.layout.precision = Precision::Fp8;
        scenario.system = Named::Preset("a100-80gb-nvl8".into());
        let (system, model) = (
            scenario.system.resolve().unwrap(),
            scenario.model.resolve().unwrap(),
        );
        scenario.layout = derive_layout(&system, &model, &PartialLayout::default());
        scenario.fit();
        assert!(scenario.resolve().is_ok(), "{:?}", scenario.resolve());
        assert_eq!(scenario.failures.len(), 1);
        assert_eq!(scenario.failures[0].blast_radius, Some(8));
        assert_eq!(scenario.policy.degrees, Degrees::Any);
    }

    #[test]
    fn a_scenario_in_range_stays_as_it_is() {
        let mut scenario = Scenario::default_scene();
        scenario.failures = vec![failure(17, 71)];
        let before = scenario.clone();
        scenario.fit();
        assert_eq!(scenario, before);
    }
}
