//! Which domains stand together: the domains of a healthy replica, then the spare ones. Positions never move; only the
//! words over them follow the strategy.

use crate::core::order;
use crate::core::placement::Placement;
use crate::core::strategy::{DomainView, GpuState};
use std::ops::Range;

/// Domains under one rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Physical domains.
    pub domains: Range<u32>,
    /// Whether these are the job's spare domains.
    pub spare: bool,
}

/// The fewest domains that hold whole replicas: 2 for PP2 of TP72 in NVL72, 1 when a domain holds several replicas.
pub fn group_size(placement: &Placement) -> u32 {
    let (groups, slots) = (
        placement.groups_per_replica.max(1),
        placement.slots_per_domain.max(1),
    );
    (groups / gcd(groups, slots)).min(placement.domains.max(1))
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The first `domains` domains in groups, spare ones last.
pub fn groups(placement: &Placement, domains: u32) -> Vec<Group> {
    let size = group_size(placement);
    let job = placement.domains.min(domains);
    let mut all: Vec<Group> = (0..job.div_ceil(size))
        .map(|group| Group {
            domains: group * size..((group + 1) * size).min(job),
            spare: false,
        })
        .collect();
    if domains > job {
        all.push(Group {
            domains: job..domains,
            spare: true,
        });
    }
    all
}

/// Words over a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// Such as "Replica 0".
    pub title: String,
    /// Such as "1 of 2 racks damaged".
    pub note: String,
    /// Whether a replica here is reduced or dropped.
    pub hit: bool,
}

/// The words over a group under the strategy shown.
pub fn head(group: &Group, views: &[DomainView], tp: u32) -> Head {
    let range = group.domains.start as usize..group.domains.end as usize;
    let here = views.get(range).unwrap_or_default();
    let mut replicas: Vec<u32> = here
        .iter()
        .flat_map(|view| view.slots.iter().flatten().map(|(replica, _)| *replica))
        .collect();
    order::sort(&mut replicas);
    replicas.dedup();
    if group.spare {
        let used = here
            .iter()
            .filter(|view| view.slots.iter().any(Option::is_some))
            .count();
        let title = if here.len() == 1 {
            "Spare domain".into()
        } else {
            "Spare domains".into()
        };
        let note = match used {
            0 => "standing by".into(),
            used if used == here.len() => format!("in use by {}", list("replica", &replicas)),
            used => format!("{used} of {} in use", here.len()),
        };
        return Head {
            title,
            note,
            hit: false,
        };
    }
    let racks = here.len();
    let damaged = here.iter().filter(|view| damage(view) > 0).count();
    let all_damaged = views.iter().filter(|view| damage(view) > 0).count();
    let degrees: Vec<u32> = here
        .iter()
        .flat_map(|view| {
            view.slots
                .iter()
                .zip(&view.degrees)
                .filter(|(slot, _)| slot.is_some())
                .map(|(_, d)| *d)
        })
        .collect();
    let dropped = degrees.contains(&0);
    let hit = dropped || degrees.iter().any(|degree| *degree < tp);
    let noun = if racks == 1 { "rack" } else { "racks" };
    let note = if dropped && degrees.iter().all(|degree| *degree == 0) {
        let runs = |view: &DomainView| view.degrees.iter().any(|degree| *degree > 0);
        if !views.iter().any(runs) {
            "paused with the whole job".into()
        } else if damaged == 0 {
            "dropped with its replica".into()
        } else {
            "dropped".into()
        }
    } else if damaged > 1 && damaged == racks && damaged == all_damaged && replicas.len() == 1 {
        format!(
            "{} damaged racks packed here",
            if racks == 2 {
                "both".into()
            } else {
                format!("all {racks}")
            }
        )
    } else if damaged > 0 {
        if racks == 1 {
            "damaged".into()
        } else {
            format!("{damaged} of {racks} {noun} damaged")
        }
    } else if hit {
        "reduced with its replica".into()
    } else {
        "healthy".into()
    };
    let title = if replicas.is_empty() {
        range_title(group)
    } else {
        capital(&list("replica", &replicas))
    };
    Head { title, note, hit }
}

fn range_title(group: &Group) -> String {
    match group.domains.len() {
        1 => format!("Domain {}", group.domains.start),
        _ => format!(
            "Domains {} to {}",
            group.domains.start,
            group.domains.end.saturating_sub(1)
        ),
    }
}

/// GPUs of a domain that are not working as they should.
pub fn damage(view: &DomainView) -> usize {
    view.gpus
        .iter()
        .filter(|gpu| {
            matches!(
                gpu.state,
                GpuState::Failed | GpuState::Restarting | GpuState::Slow
            ) || gpu.benched()
        })
        .count()
}

/// "replica 3", "replicas 0 and 4", "replicas 2 to 5", "replicas 0, 3 and 9".
fn list(noun: &str, sorted: &[u32]) -> String {
    match sorted {
        [] => String::new(),
        [one] => format!("{noun} {one}"),
        [a, b] => format!("{noun}s {a} and {b}"),
        [first, .., last] if last - first + 1 == sorted.len() as u32 => {
            format!("{noun}s {first} to {last}")
        }
        [first, .., last] if sorted.len() > 4 => {
            format!("{} {noun}s, {first} to {last}", sorted.len())
        }
        [most @ .., last] => {
            let most: Vec<String> = most.iter().map(u32::to_string).collect();
            format!("{noun}s {} and {last}", most.join(", "))
        }
    }
}

fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::rack::fixture;

    #[test]
    fn a_group_is_the_racks_of_whole_replicas() {
        let mut placement = fixture::placement(72, 72, 2, 8);
        assert_eq!(group_size(&placement), 2);
        assert_eq!(
            groups(&placement, 18).last(),
            Some(&Group {
                domains: 16..18,
                spare: true
            })
        );
        placement.slots_per_domain = 9;
        assert_eq!(group_size(&placement), 2);
        placement.groups_per_replica = 3;
        assert_eq!(group_size(&placement), 1);
    }

    #[test]
    fn words_follow_the_strategy() {
        let placement = fixture::placement(72, 72, 2, 8);
        let mut views = fixture::healthy(&placement, 16);
        let all = groups(&placement, 16);
        assert_eq!(
            head(&all[1], &views, 72),
            Head {
                title: "Replica 1".into(),
                note: "healthy".into(),
                hit: false
            }
        );
        for domain in [0, 1] {
            views[domain].gpus[3].state = GpuState::Failed;
            views[domain].degrees[0] = 71;
        }
        let first = head(&all[0], &views, 72);
        assert_eq!(
            (first.note.as_str(), first.hit),
            ("both damaged racks packed here", true)
        );
        views[1].slots[0] = Some((4, 1));
        assert_eq!(head(&all[0], &views, 72).title, "Replicas 0 and 4");
    }

    #[test]
    fn lists_read_like_words() {
        assert_eq!(list("replica", &[2, 3, 4]), "replicas 2 to 4");
        assert_eq!(list("replica", &[2, 4, 9]), "replicas 2, 4 and 9");
        assert_eq!(capital(&list("replica", &[1])), "Replica 1");
    }
}
