//! Colours and patterns by theme: the style sheet's tokens, checked against it by a test.

use super::commands::{Ink, Paint};
use crate::core::timeline::Kind;

/// A pattern on top of a kind's colour, so that colour is never the only code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// Diagonals, rising: pre-sync.
    Rising,
    /// Diagonals, falling: post-sync.
    Falling,
    /// Dots: DP sync.
    Dots,
    /// Vertical rules: PP.
    Vertical,
    /// Horizontal rules: optimizer.
    Horizontal,
    /// Thin diagonals without a ground: idle.
    Idle,
}

impl Pattern {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Rising,
        Self::Falling,
        Self::Dots,
        Self::Vertical,
        Self::Horizontal,
        Self::Idle,
    ];

    /// The pattern of a kind; forward, backward and TP are plain.
    pub const fn of(kind: Kind) -> Option<Self> {
        match kind {
            Kind::PreSync => Some(Self::Rising),
            Kind::PostSync => Some(Self::Falling),
            Kind::DpSync | Kind::ParamGather => Some(Self::Dots),
            Kind::PpSend => Some(Self::Vertical),
            Kind::Optimizer => Some(Self::Horizontal),
            Kind::Host => Some(Self::Idle),
            _ => None,
        }
    }

    /// Side of its square tile, CSS px.
    pub const fn side(self) -> f64 {
        match self {
            Self::Horizontal => 4.0,
            _ => 6.0,
        }
    }

    /// Its lines inside a tile, as SVG path data, with their width; [`Pattern::Dots`] has none.
    pub const fn path(self) -> (&'static str, f64) {
        match self {
            Self::Rising => ("M-1 7 7 -1M-1 1 1 -1M5 7 7 5", 1.7),
            Self::Falling => ("M-1 -1 7 7M5 -1 7 1M-1 5 1 7", 1.7),
            Self::Vertical => ("M1.5 0V6M4.5 0V6", 1.0),
            Self::Horizontal => ("M0 2H4", 0.8),
            Self::Idle => ("M-1 7 7 -1", 0.8),
            Self::Dots => ("", 0.0),
        }
    }

    /// Centres of its dots and their radius.
    pub const DOTS: ([(f64, f64); 2], f64) = ([(1.5, 1.5), (4.5, 4.5)], 0.85);
}

/// Colours of one theme, as CSS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Palette {
    panel: &'static str,
    sunk: &'static str,
    line: &'static str,
    line2: &'static str,
    ink: &'static str,
    ink2: &'static str,
    ink3: &'static str,
    forward: &'static str,
    forward_edge: &'static str,
    backward: &'static str,
    tp: &'static str,
    pre: &'static str,
    dp: &'static str,
    post: &'static str,
    pp: &'static str,
    optimizer: &'static str,
    exposed: &'static str,
    pattern: &'static str,
    /// Words on light and on dark spans.
    on: (&'static str, &'static str),
    dark: bool,
}

impl Palette {
    /// Ink on paper.
    pub const LIGHT: Self = Self {
        panel: "#FFFFFF",
        sunk: "#EDF0F4",
        line: "#DDE3EA",
        line2: "#B9C3CE",
        ink: "#101924",
        ink2: "#394654",
        ink3: "#5A6776",
        forward: "#CBD5DE",
        forward_edge: "#7C8C9D",
        backward: "#647488",
        tp: "#0C9CB6",
        pre: "#1D4FD8",
        dp: "#86206F",
        post: "#7189EC",
        pp: "#A78C3C",
        optimizer: "#20262E",
        exposed: "#D0213F",
        pattern: "rgba(255,255,255,.72)",
        on: ("#101924", "#FFFFFF"),
        dark: false,
    };
    /// Paper on ink.
    pub const DARK: Self = Self {
        panel: "#10151C",
        sunk: "#19212A",
        line: "#27313C",
        line2: "#465463",
        ink: "#EFF3F7",
        ink2: "#BAC5D0",
        ink3: "#8F9CAA",
        forward: "#2F4354",
        forward_edge: "#5B7288",
        backward: "#70808F",
        tp: "#2FBFC4",
        pre: "#3D86FF",
        dp: "#B944AE",
        post: "#ACBDFC",
        pp: "#BFAE70",
        optimizer: "#CDD5DC",
        exposed: "#F0405F",
        pattern: "rgba(10,14,19,.62)",
        on: ("#0A0E13", "#FFFFFF"),
        dark: true,
    };

    /// Colour of a kind.
    pub const fn kind(&self, kind: Kind) -> &'static str {
        match kind {
            Kind::Forward | Kind::Recompute => self.forward,
            Kind::Backward => self.backward,
            Kind::TpComm | Kind::CpComm => self.tp,
            Kind::PreSync => self.pre,
            Kind::DpSync | Kind::ParamGather => self.dp,
            Kind::PostSync => self.post,
            Kind::PpSend => self.pp,
            Kind::Optimizer => self.optimizer,
            Kind::Host => self.panel,
        }
    }

    /// Colour and opacity of a paint.
    pub const fn fill(&self, paint: Paint) -> (&'static str, f64) {
        match paint {
            Paint::Panel | Paint::Idle => (self.panel, 1.0),
            Paint::Track => (self.sunk, 0.6),
            Paint::Sunk => (self.sunk, 1.0),
            Paint::Line => (self.line, 1.0),
            Paint::Line2 => (self.line2, 1.0),
            Paint::Ink => (self.ink, 1.0),
            Paint::Ink3 => (self.ink3, 1.0),
            Paint::Kind(kind, quarters) => (
                self.kind(kind),
                if quarters >= 4 {
                    1.0
                } else {
                    0.25 * quarters as f64
                },
            ),
            Paint::Plain(kind) => (self.kind(kind), 1.0),
            Paint::ForwardEdge => (self.forward_edge, 1.0),
            Paint::Hairline => (self.panel, 0.55),
            Paint::ExposedBand => (self.exposed, if self.dark { 0.26 } else { 0.2 }),
            Paint::Exposed => (self.exposed, 1.0),
            Paint::Ghost => (self.forward_edge, 0.3),
            Paint::Veil => (self.panel, 0.72),
            Paint::Range => (self.ink, 0.1),
        }
    }

    /// Colour of a pattern's lines.
    pub const fn pattern(&self, pattern: Pattern) -> (&'static str, f64) {
        match pattern {
            Pattern::Idle => (self.line2, 1.0),
            Pattern::Horizontal => (self.pattern, 0.55),
            _ => (self.pattern, 1.0),
        }
    }

    /// Colour of words. On spans, whichever of two inks reads better, at least 4.5 : 1.
    pub const fn ink(&self, ink: Ink) -> &'static str {
        match ink {
            Ink::Ink => self.ink,
            Ink::Ink2 => self.ink2,
            Ink::Ink3 => self.ink3,
            Ink::Panel => self.panel,
            Ink::Exposed => self.exposed,
            Ink::On(kind) => match kind {
                Kind::Forward | Kind::Recompute | Kind::Host => self.ink,
                Kind::DpSync | Kind::ParamGather => self.on.1,
                Kind::Optimizer => self.panel,
                Kind::TpComm | Kind::CpComm | Kind::PostSync | Kind::PpSend => self.on.0,
                Kind::Backward | Kind::PreSync => {
                    if self.dark {
                        self.on.0
                    } else {
                        self.on.1
                    }
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(dark: bool) -> impl Fn(&str) -> String {
        let sheet = include_str!("../../../style/tokens.css");
        let (light, rest) = sheet.split_once(":root[data-theme=dark]").unwrap();
        let part = if dark { rest } else { light };
        move |name| {
            let found = part
                .split(&format!("--{name}: "))
                .nth(1)
                .unwrap_or_else(|| panic!("no --{name}"));
            found.split(';').next().unwrap().to_owned()
        }
    }

    #[test]
    fn colours_are_the_style_sheets() {
        for palette in [Palette::LIGHT, Palette::DARK] {
            let token = tokens(palette.dark);
            for (name, value) in [
                ("panel", palette.panel),
                ("sunk", palette.sunk),
                ("line", palette.line),
                ("line2", palette.line2),
                ("ink", palette.ink),
                ("ink2", palette.ink2),
                ("ink3", palette.ink3),
                ("k-fwd", palette.forward),
                ("k-fwd-edge", palette.forward_edge),
                ("k-bwd", palette.backward),
                ("k-tp", palette.tp),
                ("k-pre", palette.pre),
                ("k-dp", palette.dp),
                ("k-post", palette.post),
                ("k-pp", palette.pp),
                ("k-opt", palette.optimizer),
                ("k-exp", palette.exposed),
                ("pat", palette.pattern),
            ] {
                assert_eq!(value, token(name), "{name}");
            }
        }
    }

    fn luminance(colour: &str) -> f64 {
        let channel = |at: usize| {
            let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if value <= 0.03928 {
                value / 12.92
            } else {
                ((value + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    #[test]
    fn words_on_every_kind_read() {
        for palette in [Palette::LIGHT, Palette::DARK] {
            for kind in Kind::ALL {
                let (a, b) = (
                    luminance(palette.ink(Ink::On(kind))),
                    luminance(palette.kind(kind)),
                );
                let contrast = (a.max(b) + 0.05) / (a.min(b) + 0.05);
                assert!(
                    contrast >= 4.5,
                    "{kind:?} {contrast:.2} dark {}",
                    palette.dark
                );
            }
        }
    }
}
