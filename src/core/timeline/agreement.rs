//! The simulated step against the analytical one, over random layouts.

use super::{StepSpec, simulate};
use crate::core::cost::{Replica, step, terms};
use crate::core::hardware::systems;
use crate::core::scenario::{Named, Recompute, Scenario};
use crate::core::units::Bytes;
use crate::core::workload::models;
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64;

fn pick<T: Copy>(rng: &mut impl Rng, of: &[T]) -> T {
    of[rng.random_range(0..of.len() as u32) as usize]
}

/// A layout whose stages and chunks hold equal numbers of layers.
fn layout(rng: &mut impl Rng) -> Option<Scenario> {
    let system = &systems()[rng.random_range(0..systems().len() as u32) as usize];
    let model = &models()[rng.random_range(0..models().len() as u32) as usize];
    let mut scenario = Scenario::default_scene();
    scenario.system = Named::Preset(system.id.clone());
    scenario.model = Named::Preset(model.id.clone());
    let layout = &mut scenario.layout;
    layout.tp = pick(rng, &[1, 2, 4, 8, 16, 32, 64]);
    layout.pp = pick(rng, &[1, 2, 4, 8, 16]);
    layout.vp = if layout.pp > 1 {
        pick(rng, &[1, 1, 2, 3])
    } else {
        1
    };
    layout.cp = pick(rng, &[1, 1, 1, 2]);
    layout.dp = pick(rng, &[1, 2, 8, 64]);
    layout.microbatch = pick(rng, &[1, 2, 4]);
    layout.seq = pick(rng, &[2048, 4096, 8192, 16384]);
    layout.recompute = pick(
        rng,
        &[Recompute::None, Recompute::Selective, Recompute::Full],
    );
    layout.overlap = rng.random_range(0..3_u32) > 0;
    let rounds = rng.random_range(1..9_u32);
    layout.global_batch = layout.pp * rounds * layout.microbatch * layout.dp;
    scenario.policy.in_domain_spares = 0;
    let fits =
        layout.tp <= system.domain_size && model.layers.is_multiple_of(layout.pp * layout.vp);
    fits.then_some(scenario)
}

/// Simulated over analytical step, less one, and whether overlap makes them differ. None for a layout that does not fit
/// in memory, which is refused everywhere else, too.
fn difference(scenario: &Scenario) -> Option<(f64, bool)> {
    let job = scenario.resolve().ok()?;
    let layout = &job.scenario.layout;
    let replica = Replica {
        system: &job.system,
        model: &job.model,
        layout,
        degree: layout.tp,
        sync_degree: layout.tp,
        local_batch: layout.local_batch(),
        perf: 1.0,
        heads: job.scenario.policy.heads,
    };
    let cost = step(&replica);
    if cost.memory.total().get() > job.system.gpu.hbm().get() {
        return None;
    }
    let pieces = terms(&replica);
    // The analytical model's own buckets; any size where there is nothing to reduce.
    let bucket = (pieces.gradient_bytes.get() / f64::from(pieces.buckets)).max(1.0);
    let simulated = simulate(&StepSpec::healthy(&job, Bytes(bucket), 0).unwrap()).unwrap();
    let vocabulary = (pieces.head_forward_s + pieces.head_backward_s) / pieces.stage_s(0);
    // An interleaved schedule stalls at a heavy last stage, and hides long reductions (CP doubles their group) in other
    // places than the formula's one window.
    let differs = layout.vp > 1 && (vocabulary > 0.05 || layout.cp > 1);
    Some((simulated.step.seconds() / cost.step_s - 1.0, differs))
}

#[test]
fn two_hundred_uniform_layouts_agree_within_two_percent() {
    let mut rng = Pcg64::seed_from_u64(20_250_406);
    let mut uniform = 0;
    let mut others = 0;
    while uniform < 200 {
        let Some(scenario) = layout(&mut rng) else {
            continue;
        };
        match difference(&scenario) {
            Some((off, false)) => {
                assert!(off.abs() <= 0.02, "{off:+.4}: {scenario:?}");
                uniform += 1;
            }
            Some((off, true)) => {
                assert!(off.abs() <= 0.1, "{off:+.4}: {scenario:?}");
                others += 1;
            }
            None => {}
        }
    }
    assert!(others > 10, "{others}");
}
