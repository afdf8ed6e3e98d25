//! The step of one replica as a stacked bar of its terms.

use super::ledger::widths;
use crate::core::cost::StepCost;
use crate::core::units::Seconds;

/// One term of the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Term {
    /// Compute, recompute and host time.
    Compute,
    /// TP collectives not hidden.
    Tp,
    /// CP exchange not hidden.
    Cp,
    /// Stage-to-stage transfers not hidden.
    Pp,
    /// Pipeline bubble.
    Bubble,
    /// DP traffic not hidden.
    Dp,
    /// Gradient resharding.
    Reshard,
    /// Optimizer step.
    Optimizer,
    /// Vocabulary, loss, host.
    Other,
}

impl Term {
    /// All terms, left to right.
    pub const ALL: [Self; 9] = [
        Self::Compute,
        Self::Tp,
        Self::Cp,
        Self::Pp,
        Self::Bubble,
        Self::Dp,
        Self::Reshard,
        Self::Optimizer,
        Self::Other,
    ];

    /// Its name.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Tp => "TP comm",
            Self::Cp => "CP comm",
            Self::Pp => "PP comm",
            Self::Bubble => "bubble",
            Self::Dp => "DP exposed",
            Self::Reshard => "reshard",
            Self::Optimizer => "optimizer",
            Self::Other => "other",
        }
    }
    /// Its field in [`StepCost`], the name that explanations go by.
    pub const fn field(self) -> &'static str {
        match self {
            Self::Compute => "compute_s",
            Self::Tp => "tp_comm_s",
            Self::Cp => "cp_comm_s",
            Self::Pp => "pp_comm_s",
            Self::Bubble => "bubble_s",
            Self::Dp => "dp_exposed_s",
            Self::Reshard => "reshard_exposed_s",
            Self::Optimizer => "optimizer_s",
            Self::Other => "other_s",
        }
    }
    /// CSS fill: a token, or a pattern of the page.
    pub const fn fill(self) -> &'static str {
        match self {
            Self::Compute => "var(--k-bwd)",
            Self::Tp => "var(--k-tp)",
            Self::Cp => "var(--k-post)",
            Self::Pp => "url(#p-pp)",
            Self::Bubble => "url(#p-degr)",
            Self::Dp => "url(#p-dp)",
            Self::Reshard => "url(#p-exp)",
            Self::Optimizer => "url(#p-opt)",
            Self::Other => "var(--k-fwd)",
        }
    }
    /// Its time in a step.
    pub const fn of(self, cost: &StepCost) -> Seconds {
        match self {
            Self::Compute => cost.compute_s,
            Self::Tp => cost.tp_comm_s,
            Self::Cp => cost.cp_comm_s,
            Self::Pp => cost.pp_comm_s,
            Self::Bubble => cost.bubble_s,
            Self::Dp => cost.dp_exposed_s,
            Self::Reshard => cost.reshard_exposed_s,
            Self::Optimizer => cost.optimizer_s,
            Self::Other => cost.other_s,
        }
    }
}

/// One piece of the bar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slice {
    /// Its term.
    pub term: Term,
    /// Its time.
    pub time: Seconds,
    /// Left edge.
    pub x: f64,
    /// Width.
    pub width: f64,
}

/// Lays out a step on a scale where `full` fills `room` pixels. Terms below 1 ns are left out, others stay visible.
pub fn stack(cost: &StepCost, full: Seconds, room: f64) -> Vec<Slice> {
    let there: Vec<(Term, Seconds)> = Term::ALL
        .into_iter()
        .map(|term| (term, term.of(cost)))
        .filter(|(_, time)| time.get() > 1e-9)
        .collect();
    let sum: f64 = there.iter().map(|(_, time)| time.get()).sum();
    if sum <= 0.0 || !sum.is_finite() || full.get() <= 0.0 {
        return Vec::new();
    }
    let bar = room * (sum / full.get()).min(1.0);
    let widths = widths(
        &there
            .iter()
            .map(|(_, time)| time.get() / sum)
            .collect::<Vec<_>>(),
        bar,
        1.5,
    );
    let mut x = 0.0;
    there
        .into_iter()
        .zip(widths)
        .map(|((term, time), width)| {
            let slice = Slice {
                term,
                time,
                x,
                width,
            };
            x += width;
            slice
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_share_one_scale_and_stay_visible() {
        let cost = StepCost {
            step_s: Seconds(1.0),
            compute_s: Seconds(0.8),
            tp_comm_s: Seconds(0.1999),
            reshard_exposed_s: Seconds(0.0001),
            ..StepCost::default()
        };
        let slices = stack(&cost, Seconds(2.0), 400.0);
        let terms: Vec<Term> = slices.iter().map(|slice| slice.term).collect();
        assert_eq!(terms, [Term::Compute, Term::Tp, Term::Reshard]);
        let last = slices.last().unwrap();
        assert!((last.x + last.width - 200.0).abs() < 1e-9);
        assert!((last.width - 1.5).abs() < 1e-9);
        assert!((slices[0].width / slices[1].width - 0.8 / 0.1999).abs() < 1e-9);
    }

    #[test]
    fn an_empty_step_draws_nothing() {
        assert!(stack(&StepCost::default(), Seconds(1.0), 400.0).is_empty());
        let cost = StepCost {
            compute_s: Seconds(1.0),
            ..StepCost::default()
        };
        assert!(stack(&cost, Seconds::ZERO, 400.0).is_empty());
    }

    #[test]
    fn every_term_of_a_step_has_a_slice() {
        let one = Seconds(1.0);
        let cost = StepCost {
            compute_s: one,
            tp_comm_s: one,
            pp_comm_s: one,
            bubble_s: one,
            dp_exposed_s: one,
            cp_comm_s: one,
            optimizer_s: one,
            reshard_exposed_s: one,
            other_s: one,
            ..StepCost::default()
        };
        assert_eq!(
            stack(&cost, Seconds(9.0), 900.0)
                .iter()
                .map(|slice| slice.time)
                .sum::<Seconds>(),
            Seconds(9.0)
        );
    }
}
