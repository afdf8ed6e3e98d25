//! Moving among spans: the next one of a lane, and those that a search finds.

use super::{Chips, Spot};
use crate::core::timeline::text::describe;
use crate::core::timeline::{StepView, Stream};

/// Most spans that a search returns.
const MOST: usize = 5000;

/// The span before or after one in its lane, hidden kinds left out; when none is given the first one of the first lane
/// that is not over at `time`, ns.
pub fn neighbour(
    view: &StepView,
    from: Option<Spot>,
    forward: bool,
    hidden: Chips,
    time: f64,
) -> Option<Spot> {
    let Some(spot) = from else {
        let group = view.groups.first()?;
        let timeline = view.timeline(group);
        let lane = timeline.stream(group.replica, Stream::Compute)?;
        return lane
            .spans
            .clone()
            .find(|i| {
                timeline
                    .spans
                    .get(*i)
                    .is_some_and(|s| !hidden.hides(s.kind) && s.end.0 as f64 > time)
            })
            .map(|span| Spot { group: 0, span });
    };
    let timeline = view.timeline(view.groups.get(spot.group)?);
    let lane = timeline.lane_of(spot.span)?;
    let shown = |index: &usize| {
        timeline
            .spans
            .get(*index)
            .is_some_and(|span| !hidden.hides(span.kind))
    };
    let next = if forward {
        (spot.span + 1..lane.spans.end).find(shown)
    } else {
        (lane.spans.start..spot.span).rev().find(shown)
    };
    next.map(|span| Spot { span, ..spot })
}

/// Spans whose words hold all words of a query, such as "dp sync bucket 3" or "layer 12"; in order of groups and time.
pub fn matches(view: &StepView, query: &str) -> Vec<Spot> {
    let wanted: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    let mut found = Vec::new();
    if wanted.is_empty() {
        return found;
    }
    let mut text = String::new();
    for (group, shown) in view.groups.iter().enumerate() {
        let timeline = view.timeline(shown);
        for lane in timeline
            .streams
            .iter()
            .filter(|lane| lane.replica == shown.replica)
        {
            for (index, span) in timeline.lane(lane).iter().enumerate() {
                text.clear();
                text.push_str(span.kind.name());
                text.push(' ');
                describe(&mut text, timeline, lane, span);
                text.push(' ');
                text.push_str(shown.kind.name());
                text.make_ascii_lowercase();
                if holds(&text, &wanted) {
                    found.push(Spot {
                        group,
                        span: lane.spans.start + index,
                    });
                    if found.len() >= MOST {
                        return found;
                    }
                }
            }
        }
    }
    found
}

/// Whether words stand in a text one after another; a number must stand alone, so that "layer 1" does not find layer 12.
fn holds(text: &str, wanted: &[String]) -> bool {
    let mut words = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    wanted
        .iter()
        .flat_map(|word| word.split(|c: char| !c.is_alphanumeric()))
        .filter(|word| !word.is_empty())
        .all(|word| {
            let number = word.bytes().all(|byte| byte.is_ascii_digit());
            words.by_ref().any(|has| {
                if number {
                    has == word
                } else {
                    has.starts_with(word)
                }
            })
        })
}

/// The next or previous of a list of spots, by time within the group of `from`, round at the ends.
pub fn step_through(found: &[Spot], from: Option<Spot>, forward: bool) -> Option<Spot> {
    let Some(from) = from else {
        return if forward { found.first() } else { found.last() }.copied();
    };
    let at = found.partition_point(|spot| *spot < from);
    let here = found.get(at) == Some(&from);
    let next = if forward {
        found.get(at + usize::from(here)).or(found.first())
    } else {
        at.checked_sub(1)
            .and_then(|i| found.get(i))
            .or(found.last())
    };
    next.copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_alone_and_words_may_be_cut_short() {
        let words = |query: &str| {
            query
                .split_whitespace()
                .map(str::to_lowercase)
                .collect::<Vec<_>>()
        };
        let text = "backward micro-batch 8 of 8, layer 12 healthy";
        assert!(holds(text, &words("layer 12")));
        assert!(!holds(text, &words("layer 1")));
        assert!(holds(text, &words("back micro-batch 8")));
        assert!(!holds(text, &words("forward")));
    }

    #[test]
    fn stepping_through_goes_round() {
        let spots: Vec<Spot> = [1, 4, 9].map(|span| Spot { group: 0, span }).to_vec();
        assert_eq!(step_through(&spots, Some(spots[2]), true), Some(spots[0]));
        assert_eq!(step_through(&spots, Some(spots[0]), false), Some(spots[2]));
        assert_eq!(
            step_through(&spots, Some(Spot { group: 0, span: 5 }), true),
            Some(spots[2])
        );
        assert_eq!(step_through(&[], None, true), None);
    }
}
