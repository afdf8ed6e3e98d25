//! Colours of a chart: the tokens of `style/tokens.css`, for backends that cannot read a style sheet.

use super::Tint;
use crate::core::strategy::StrategyId;

/// A colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rgb(pub u8, pub u8, pub u8);

impl Rgb {
    const fn hex(value: u32) -> Self {
        Self((value >> 16) as u8, (value >> 8) as u8, value as u8)
    }
}

/// One theme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ink {
    /// Ground.
    pub panel: Rgb,
    /// Strongest text.
    pub ink: Rgb,
    /// Second text.
    pub ink2: Rgb,
    /// Weakest text.
    pub ink3: Rgb,
    /// Grid.
    pub line: Rgb,
    /// Axes, and what is filtered out.
    pub line2: Rgb,
    /// Strategies, in the order of [`StrategyId::ALL`].
    pub strategies: [Rgb; 6],
}

impl Ink {
    /// Ink on paper.
    pub const LIGHT: Self = Self {
        panel: Rgb::hex(0xFF_FFFF),
        ink: Rgb::hex(0x10_1924),
        ink2: Rgb::hex(0x39_4654),
        ink3: Rgb::hex(0x5A_6776),
        line: Rgb::hex(0xDD_E3EA),
        line2: Rgb::hex(0xB9_C3CE),
        strategies: [
            Rgb::hex(0x84_898F),
            Rgb::hex(0x92_487E),
            Rgb::hex(0x00_594A),
            Rgb::hex(0x6C_9F58),
            Rgb::hex(0x29_6CF2),
            Rgb::hex(0xD0_6C00),
        ],
    };
    /// Paper on ink.
    pub const DARK: Self = Self {
        panel: Rgb::hex(0x10_151C),
        ink: Rgb::hex(0xEF_F3F7),
        ink2: Rgb::hex(0xBA_C5D0),
        ink3: Rgb::hex(0x8F_9CAA),
        line: Rgb::hex(0x27_313C),
        line2: Rgb::hex(0x46_5463),
        strategies: [
            Rgb::hex(0xB4_BECC),
            Rgb::hex(0xDC_4F9F),
            Rgb::hex(0x2E_BC96),
            Rgb::hex(0xDE_E08F),
            Rgb::hex(0x4A_80FF),
            Rgb::hex(0xF0_A020),
        ],
    };

    /// The colour of a tint.
    pub fn of(&self, tint: Tint) -> Rgb {
        match tint {
            Tint::Ink => self.ink,
            Tint::Ink2 => self.ink2,
            Tint::Ink3 => self.ink3,
            Tint::Faint => self.line2,
            Tint::Strategy(id) => StrategyId::ALL
                .iter()
                .zip(&self.strategies)
                .find(|(other, _)| **other == id)
                .map_or(self.ink, |(_, rgb)| *rgb),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_style_sheet() {
        let css = include_str!("../../../style/tokens.css");
        let (light, dark) = css.split_once("[data-theme=dark]").unwrap();
        for (text, ink) in [(light, Ink::LIGHT), (dark, Ink::DARK)] {
            let token = |name: &str| {
                let at = text.find(&format!("--{name}: #")).unwrap() + name.len() + 5;
                Rgb::hex(u32::from_str_radix(&text[at..at + 6], 16).unwrap())
            };
            let neutrals = [ink.panel, ink.ink, ink.ink2, ink.ink3, ink.line, ink.line2];
            for (name, rgb) in ["panel", "ink", "ink2", "ink3", "line", "line2"]
                .iter()
                .zip(neutrals)
            {
                assert_eq!(token(name), rgb, "{name}");
            }
            for id in StrategyId::ALL {
                assert_eq!(
                    token(&format!("sg-{}", id.id())),
                    ink.of(Tint::Strategy(id))
                );
            }
        }
    }
}
