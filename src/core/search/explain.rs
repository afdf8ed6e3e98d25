//! Why one layout is faster than another: the terms that differ.

use super::Candidate;
use crate::core::cost::StepCost;
use crate::core::order;

/// Writes each candidate's reason; the first is the winner.
pub(super) fn fill(ranked: &mut [Candidate]) {
    let Some((winner, others)) = ranked.split_first_mut() else {
        return;
    };
    winner.why = match others.first() {
        Some(next) => format!(
            "fastest: the next, {}, {}",
            name(next),
            against(&winner.cost, &next.cost)
        ),
        None => "the only layout that fits; there is no next".into(),
    };
    for other in others {
        other.why = against(&winner.cost, &other.cost);
    }
}

fn name(candidate: &Candidate) -> String {
    let l = &candidate.layout;
    let cp = if l.cp > 1 {
        format!(" CP{}", l.cp)
    } else {
        String::new()
    };
    format!("TP{} PP{} DP{}{cp}", l.tp, l.pp, l.dp)
}

/// "is 4.1 % slower: bubble +0.31 s, TP communication -0.05 s": the two largest differences.
fn against(winner: &StepCost, other: &StepCost) -> String {
    let terms = [
        ("compute", winner.compute_s, other.compute_s),
        ("TP communication", winner.tp_comm_s, other.tp_comm_s),
        ("PP transfers", winner.pp_comm_s, other.pp_comm_s),
        ("bubble", winner.bubble_s, other.bubble_s),
        ("DP traffic", winner.dp_exposed_s, other.dp_exposed_s),
        ("CP exchange", winner.cp_comm_s, other.cp_comm_s),
        ("optimizer", winner.optimizer_s, other.optimizer_s),
        ("vocabulary and host", winner.other_s, other.other_s),
    ];
    let mut changes: Vec<(&str, f64)> = terms
        .into_iter()
        .map(|(name, a, b)| (name, b.get() - a.get()))
        .collect();
    order::sort_by(&mut changes, |a, b| b.1.abs().total_cmp(&a.1.abs()));
    let largest: Vec<String> = changes
        .iter()
        .take(2)
        .map(|(name, change)| format!("{name} {change:+.3} s"))
        .collect();
    let slower = 100.0 * (other.step_s.get() / winner.step_s.get() - 1.0);
    format!("is {slower:.1} % slower: {}", largest.join(", "))
}
