//! Words inside the plot: placed only where they fit and where none is yet.

use super::commands::{Anchor, Draw, Ink, Paint, Rect};
use crate::scene::side::text::width;

/// Size of words in the picture, px.
pub const SIZE: f64 = 10.5;

/// Keeps words from overlapping.
#[derive(Default)]
pub struct Places {
    taken: Vec<Rect>,
    words: Vec<Draw>,
    plates: Vec<(Paint, Rect)>,
}

impl Places {
    /// Whether a box is free.
    fn free(&self, area: &Rect) -> bool {
        !self.taken.iter().any(|other| other.meets(area))
    }

    /// Puts words with their left end at `x`, in a lane, if they fit into `room` px and nothing is there. A plate under
    /// them takes `paint`. Gives their box.
    pub fn put(&mut self, text: &str, x: f64, lane: &Rect, room: f64, look: Look) -> Option<Rect> {
        let wide = width(text, SIZE, look.bold);
        if text.is_empty() || wide + 2.0 > room {
            return None;
        }
        let area = Rect::new(x - 2.0, lane.y, wide + 5.0, lane.h);
        if !self.free(&area) {
            return None;
        }
        if let Some(paint) = look.plate {
            let high = (lane.h - 2.0).min(13.0);
            self.plates.push((
                paint,
                Rect::new(area.x, lane.y + (lane.h - high) / 2.0, area.w, high),
            ));
        }
        self.words.push(Draw::Words {
            x,
            y: lane.y + lane.h / 2.0 + SIZE * 0.355,
            text: text.to_owned(),
            size: SIZE,
            bold: look.bold,
            ink: look.ink,
            anchor: Anchor::Start,
            room: area,
        });
        self.taken.push(area);
        Some(area)
    }

    /// The first of several wordings that fits.
    pub fn put_first(
        &mut self,
        texts: &[&str],
        x: f64,
        lane: &Rect,
        room: f64,
        look: Look,
    ) -> Option<Rect> {
        texts
            .iter()
            .find_map(|text| self.put(text, x, lane, room, look))
    }

    /// The plate of a paint, if there is one.
    pub fn plate(&self, paint: Paint) -> Option<Rect> {
        let found = self.plates.iter().find(|plate| plate.0 == paint);
        found.map(|plate| plate.1)
    }

    /// Plates first, then words.
    pub fn draws(self) -> Vec<Draw> {
        let mut draws: Vec<Draw> = Vec::new();
        for (paint, area) in self.plates {
            match draws.last_mut() {
                Some(Draw::Fill(last, boxes)) if *last == paint => boxes.push(area),
                _ => draws.push(Draw::Fill(paint, vec![area])),
            }
        }
        draws.extend(self.words);
        draws
    }
}

/// How words look.
#[derive(Clone, Copy)]
pub struct Look {
    /// Colour.
    pub ink: Ink,
    /// Ground under them.
    pub plate: Option<Paint>,
    /// Weight 700.
    pub bold: bool,
}

impl Look {
    /// Words in an ink, straight on what is there.
    pub const fn plain(ink: Ink) -> Self {
        Self {
            ink,
            plate: None,
            bold: false,
        }
    }
    /// Words on a plate.
    pub const fn on(ink: Ink, plate: Paint) -> Self {
        Self {
            ink,
            plate: Some(plate),
            bold: false,
        }
    }
    /// The same, bold.
    pub const fn bold(self) -> Self {
        Self { bold: true, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_go_only_where_they_fit_and_where_none_is() {
        let lane = Rect::new(0.0, 0.0, 500.0, 13.0);
        let mut places = Places::default();
        let look = Look::on(Ink::Ink, Paint::Panel);
        assert!(
            places
                .put("far too long for this", 0.0, &lane, 40.0, look)
                .is_none()
        );
        let first = places.put("backward", 10.0, &lane, 200.0, look).unwrap();
        assert!(
            places
                .put("forward", first.right() - 5.0, &lane, 200.0, look)
                .is_none()
        );
        assert!(
            places
                .put_first(
                    &["much too long a text", "short"],
                    first.right() + 3.0,
                    &lane,
                    40.0,
                    look
                )
                .is_some()
        );
        assert_eq!(places.draws().len(), 3);
    }
}
