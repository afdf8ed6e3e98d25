//! Weibull lives: every unit has its own age, yet only units that fail cost work.
//!
//! Which units fail at all before the horizon is drawn by geometric skips over the unit numbers; each of those gets its
//! first failure time and is followed on its own from then on, as new after each repair.

use super::super::draw::{LifeLaw, Stream};
use super::super::spec::Start;
use super::{FaultEvent, MAX_EVENTS, Segment};
use crate::core::units::Nanos;

pub(super) fn draw(
    segment: &Segment<'_>,
    law: &LifeLaw,
    start: Start,
    mut stream: Stream,
    events: &mut Vec<FaultEvent>,
) {
    let hours = segment.hours;
    let share = match start {
        Start::Cold => law.failed_by(hours),
        Start::Steady => law.residual_failed_by(hours),
    };
    if share <= 0.0 {
        return;
    }
    let detect_h = segment.cause.detect_min / 60.0;
    let skip_scale = libm::log1p(-share.min(1.0 - 1e-15));
    let mut unit = 0u64;
    let cap = events.len() + MAX_EVENTS;
    loop {
        let skip = if share >= 1.0 {
            0.0
        } else {
            libm::floor(libm::log(stream.unit()) / skip_scale)
        };
        if skip >= segment.units() as f64 {
            return;
        }
        unit = unit.saturating_add(skip as u64);
        if unit >= segment.units() || events.len() >= cap {
            return;
        }
        let p = share * stream.unit();
        let mut t_h = match start {
            Start::Cold => law.quantile_h(p),
            Start::Steady => law.residual_quantile_h(p, hours),
        };
        while t_h < hours && events.len() < cap {
            let repair_h = segment.cause.repair.draw_h(&mut stream);
            events.extend(segment.event(Nanos::from_hours(t_h), unit, repair_h));
            let down_h = if segment.cause.takes_out {
                detect_h + repair_h
            } else {
                detect_h
            };
            // At least a nanosecond apart, so that no life is endless in events.
            t_h += down_h + law.quantile_h(1.0 - stream.unit()).max(3e-13);
        }
        unit += 1;
    }
}
