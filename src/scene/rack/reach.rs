//! What can go down together: one GPU, its tray or board, its domain.

use crate::core::order;

/// GPUs that go down together and their word, smallest first; `current` is listed even where it is none of the usual.
pub fn radii(tray: u32, domain: u32, current: u32) -> Vec<(u32, String)> {
    let mut all = vec![(1, "GPU".to_owned())];
    if tray > 1 && tray < domain {
        all.push((tray, "tray".to_owned()));
    }
    if domain > 1 {
        all.push((
            domain,
            if tray >= domain { "board" } else { "domain" }.to_owned(),
        ));
    }
    if !all.iter().any(|(radius, _)| *radius == current) {
        all.push((current, format!("{current} GPUs")));
        order::sort_by_key(&mut all, |(radius, _)| *radius);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rack_has_trays_and_a_board_has_none() {
        let words = |all: Vec<(u32, String)>| {
            all.into_iter()
                .map(|(n, word)| format!("{n} {word}"))
                .collect::<Vec<_>>()
        };
        assert_eq!(words(radii(4, 72, 1)), ["1 GPU", "4 tray", "72 domain"]);
        assert_eq!(words(radii(8, 8, 1)), ["1 GPU", "8 board"]);
        assert_eq!(
            words(radii(4, 72, 16)),
            ["1 GPU", "4 tray", "16 16 GPUs", "72 domain"]
        );
    }
}
