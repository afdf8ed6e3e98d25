//! The power budgets of the worst boosted domain, in numbers and words.

use crate::core::scenario::Job;
use crate::core::strategy::{BoostLimit, BoostPower, DomainView, GpuState, Outcome, ReplicaPlan};
use crate::core::units::Watts;
use crate::scene::side::number::{change, count, fixed, gpu_word, power as power_words};
use crate::scene::side::power::PowerBar;
use crate::scene::side::why::Explanation;

/// Power of the worst boosted domain.
#[derive(Clone, Debug, PartialEq)]
pub struct PowerPanel {
    /// The budgets.
    pub boost: BoostPower,
    /// The domain; none where no domain is boosted.
    pub domain: Option<u32>,
    /// GPUs of the domain that are failed or restarting.
    pub dead: u32,
    /// Healthy GPUs of the domain that do not compute.
    pub idle: u32,
    /// Highest power allowed, x TDP.
    pub cap: f64,
    /// What would stop a higher boost first.
    pub first_limit: FirstLimit,
}

/// What stops a boost first as it rises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstLimit {
    /// The cap of each GPU.
    Cap,
    /// Freed watts and rack headroom together.
    Headroom,
}

/// The worst boosted domain; the budgets of any domain where none is boosted.
pub fn power(
    job: &Job,
    outcome: &Outcome,
    replica: Option<&ReplicaPlan>,
    views: &[DomainView],
) -> PowerPanel {
    let (policy, gpu) = (&job.scenario.policy, &job.system.gpu);
    let Some((boost, domain)) = replica
        .and_then(|replica| boosted_domain(job, replica))
        .filter(|_| !outcome.paused)
    else {
        let gpus = f64::from(job.placement.domain_size);
        let boost = BoostPower {
            p: 1.0,
            perf: 1.0,
            needed_w: Watts::ZERO,
            freed_w: Watts::ZERO,
            headroom_w: gpu.tdp() * (gpus * (policy.rack_headroom - 1.0)),
            limit: BoostLimit::None,
        };
        let first_limit = first_limit(job, gpus, &boost);
        return PowerPanel {
            boost,
            domain: None,
            dead: 0,
            idle: 0,
            cap: policy.boost_cap,
            first_limit,
        };
    };
    let view = views.iter().find(|view| view.index == domain);
    let of = |states: &[GpuState]| {
        view.map_or(0, |view| {
            view.gpus
                .iter()
                .filter(|gpu| states.contains(&gpu.state))
                .count() as u32
        })
    };
    PowerPanel {
        boost,
        domain: Some(domain),
        dead: of(&[GpuState::Failed, GpuState::Restarting]),
        idle: of(&[
            GpuState::Parity,
            GpuState::Idle,
            GpuState::Spare,
            GpuState::LeftOver,
        ]),
        cap: policy.boost_cap,
        first_limit: first_limit(job, f64::from(of(&[GpuState::Boosted])), &boost),
    }
}

fn boosted_domain(job: &Job, replica: &ReplicaPlan) -> Option<(BoostPower, u32)> {
    let boost = replica.boost?;
    let slots = replica.slots.iter().zip(&replica.powers);
    let (slot, _) = slots.max_by(|a, b| a.1.total_cmp(b.1))?;
    Some((boost, job.placement.domain_of(*slot)))
}

fn first_limit(job: &Job, survivors: f64, boost: &BoostPower) -> FirstLimit {
    let at_cap = survivors * (job.scenario.policy.boost_cap - 1.0) * job.system.gpu.tdp_w;
    // Rounding must not name the headroom where both stop at once.
    if at_cap <= boost.freed_w.get() + boost.headroom_w.get() + 1e-6 {
        FirstLimit::Cap
    } else {
        FirstLimit::Headroom
    }
}

impl PowerPanel {
    /// Where the freed watts come from: `2 dead GPUs`.
    pub fn freed_by(&self) -> String {
        let part = |number: u32, word: &str| {
            let written = count(u64::from(number));
            format!("{written} {word} {}", gpu_word(&written))
        };
        match (self.dead, self.idle) {
            (0, 0) => "nothing".into(),
            (dead, 0) => part(dead, "dead"),
            (0, idle) => part(idle, "idle"),
            (dead, idle) => format!("{} dead, {}", count(u64::from(dead)), part(idle, "idle")),
        }
    }

    /// Heading: what the watts are for.
    pub fn title(&self) -> String {
        match self.domain {
            Some(domain) if self.boost.perf > 1.0 => format!(
                "Power for {} clock, D{domain}",
                change(self.boost.perf - 1.0)
            ),
            Some(domain) => format!("Power in D{domain}, no boost"),
            None => "Power of a rack, no boost".into(),
        }
    }

    /// What holds the boost back, or would first: the cap of each GPU, else the headroom.
    fn cap_limits(&self) -> bool {
        match self.boost.limit {
            BoostLimit::Cap => true,
            BoostLimit::RackHeadroom => false,
            BoostLimit::None => self.first_limit == FirstLimit::Cap,
        }
    }

    fn limit_words(&self, this: bool) -> &'static str {
        match (this, self.boost.limit) {
            (false, _) => "",
            (true, BoostLimit::None) if self.unused() => ", would limit first",
            (true, BoostLimit::None) => ", which limits first",
            (true, _) => ", which limits",
        }
    }

    /// The freed watts: how many are used, and the rest of the line.
    pub fn freed_line(&self, bar: &PowerBar) -> (String, String) {
        let freed = self.boost.freed_w.get();
        if freed <= 0.0 {
            let why = if self.domain.is_some() {
                "no GPU of it is down or idle"
            } else {
                "all its GPUs compute"
            };
            return ("No watts".into(), format!(" freed: {why}"));
        }
        if self.unused() {
            return (
                kilo(freed) + " kW",
                format!(" freed by {}, unused", self.freed_by()),
            );
        }
        (
            kilo(bar.freed_used_w),
            format!(" of {} kW freed by {}", kilo(freed), self.freed_by()),
        )
    }

    /// The rack's headroom: how much is used, and the rest of the line.
    pub fn headroom_line(&self, bar: &PowerBar) -> (String, String) {
        let limit = self.limit_words(!self.cap_limits());
        let headroom = self.boost.headroom_w.get();
        if headroom <= 0.0 {
            return ("No".into(), format!(" rack headroom{limit}"));
        }
        if self.unused() {
            return (
                kilo(headroom) + " kW",
                format!(" rack headroom in reserve{limit}"),
            );
        }
        (
            kilo(bar.headroom_used_w),
            format!(" of {} kW rack headroom{limit}", kilo(headroom)),
        )
    }

    /// Whether no GPU is boosted, so that both budgets are reserve.
    fn unused(&self) -> bool {
        self.boost.needed_w.get() <= 0.0
    }

    /// The power of each GPU, and the rest of the line.
    pub fn cap_line(&self) -> (String, String) {
        let limit = self.limit_words(self.cap_limits());
        (
            fixed(self.boost.p, 2),
            format!(" × TDP of at most {}{limit}", fixed(self.cap, 2)),
        )
    }

    /// The answer to "why?".
    pub fn why(&self) -> Explanation {
        let boost = self.boost;
        let held_back = match boost.limit {
            BoostLimit::None => "the boost that is needed is reached",
            BoostLimit::Cap => "not enough at the cap of each GPU: the local batch shrinks instead",
            BoostLimit::RackHeadroom => {
                "not enough with all watts of the rack: the local batch shrinks instead"
            }
        };
        let place = self
            .domain
            .map_or_else(|| "any rack".to_owned(), |domain| format!("D{domain}"));
        Explanation::new(
            format!("Extra power of the survivors of {place}"),
            power_words(boost.needed_w.get()),
            "needed = survivors × (p − 1) × TDP ≤ freed + headroom",
        )
        .with("p", format!("{} × TDP", fixed(boost.p, 3)), "least power that brings the step back to the healthy one")
        .with("clock", format!("{} × base", fixed(boost.perf, 3)), "compute rate at that power")
        .with("freed", power_words(boost.freed_w.get()), format!("by {}: the first budget", self.freed_by()))
        .with("headroom", power_words(boost.headroom_w.get()), "what the rack delivers and cools beyond TDP of all its GPUs: the second budget")
        .with("cap", format!("{} × TDP", fixed(self.cap, 2)), "per GPU")
        .with("limit", held_back, "")
        .source("NTP, arXiv 2504.06095, section on power boosting; idle GPUs keep the idle share of TDP")
    }
}

fn kilo(watts: f64) -> String {
    fixed(watts / 1e3, 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::side::power::power_bar;

    fn panel(limit: BoostLimit, first_limit: FirstLimit) -> PowerPanel {
        let boost = BoostPower {
            p: 1.07,
            perf: 1.049,
            needed_w: Watts(6_700.0),
            freed_w: Watts(2_800.0),
            headroom_w: Watts(8_000.0),
            limit,
        };
        PowerPanel {
            boost,
            domain: Some(0),
            dead: 2,
            idle: 0,
            cap: 1.3,
            first_limit,
        }
    }

    fn lines(panel: &PowerPanel) -> Vec<String> {
        let bar = power_bar(&panel.boost, 222.0);
        [
            panel.freed_line(&bar),
            panel.headroom_line(&bar),
            panel.cap_line(),
        ]
        .map(|(number, rest)| number + &rest)
        .into()
    }

    #[test]
    fn both_budgets_and_the_one_that_limits() {
        let drawn = panel(BoostLimit::None, FirstLimit::Headroom);
        assert_eq!(drawn.title(), "Power for +4.9 % clock, D0");
        let told = lines(&drawn);
        assert_eq!(
            told,
            [
                "2.8 of 2.8 kW freed by 2 dead GPUs",
                "3.9 of 8.0 kW rack headroom, which limits first",
                "1.07 × TDP of at most 1.30"
            ]
        );
        let told = lines(&panel(BoostLimit::Cap, FirstLimit::Headroom));
        assert_eq!(
            told[1..],
            [
                "3.9 of 8.0 kW rack headroom",
                "1.07 × TDP of at most 1.30, which limits"
            ]
        );
        let told = lines(&panel(BoostLimit::RackHeadroom, FirstLimit::Cap));
        assert!(told[1].ends_with("headroom, which limits") && told[2].ends_with("1.30"));
    }

    #[test]
    fn a_healthy_rack_has_reserve_only() {
        let mut healthy = panel(BoostLimit::None, FirstLimit::Cap);
        healthy.boost = BoostPower {
            p: 1.0,
            perf: 1.0,
            needed_w: Watts::ZERO,
            freed_w: Watts::ZERO,
            headroom_w: Watts(30_240.0),
            limit: BoostLimit::None,
        };
        healthy.domain = None;
        assert_eq!(
            lines(&healthy),
            [
                "No watts freed: all its GPUs compute",
                "30.2 kW rack headroom in reserve",
                "1.00 × TDP of at most 1.30, would limit first"
            ]
        );
        // Freed, though nothing asks for it.
        (healthy.domain, healthy.boost.freed_w) = (Some(3), Watts(2_800.0));
        assert_eq!(lines(&healthy)[0], "2.8 kW freed by 2 dead GPUs, unused");
        healthy.boost.headroom_w = Watts::ZERO;
        assert_eq!(lines(&healthy)[1], "No rack headroom");
    }

    #[test]
    fn who_freed_the_watts() {
        let by = |dead, idle| {
            PowerPanel {
                dead,
                idle,
                ..panel(BoostLimit::None, FirstLimit::Cap)
            }
            .freed_by()
        };
        assert_eq!(
            [by(0, 0), by(1, 0), by(0, 1), by(2, 3)],
            ["nothing", "1 dead GPU", "1 idle GPU", "2 dead, 3 idle GPUs"]
        );
    }
}
