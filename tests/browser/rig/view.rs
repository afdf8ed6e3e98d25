//! The screens and preferences the page is tested with.

use super::chrome::devtools;
use fantoccini::Client;
use serde_json::json;
use std::env;

/// How many times slower than this machine the page shall run, `NTP_SLOW`. A journey that only passes on a fast machine fails
/// then: `NTP_SLOW=8 scripts/browser.sh`.
fn slow() -> Option<f64> {
    let rate = env::var("NTP_SLOW").ok()?;
    Some(
        rate.parse()
            .unwrap_or_else(|e| panic!("NTP_SLOW={rate}: {e}; a number of 1 or more")),
    )
}

/// A screen and what its owner prefers.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// Width of the viewport, CSS px.
    pub width: u32,
    /// Height of the viewport, CSS px.
    pub height: u32,
    /// Device pixels per CSS px.
    pub ratio: u32,
    /// A phone: touch, mobile viewport rules.
    pub mobile: bool,
    /// The system's theme is dark.
    pub dark: bool,
    /// The system asks for reduced motion.
    pub still: bool,
    /// Frames come as fast as they are drawn rather than 60 times a second, so that their work can be timed.
    pub unlimited: bool,
}

impl View {
    /// A laptop.
    pub const DESKTOP: Self = Self {
        width: 1440,
        height: 900,
        ratio: 1,
        mobile: false,
        dark: false,
        still: false,
        unlimited: false,
    };
    /// The same at two device pixels per CSS pixel.
    pub const RETINA: Self = Self {
        ratio: 2,
        ..Self::DESKTOP
    };
    /// A large monitor or projector.
    pub const LARGE: Self = Self {
        width: 2560,
        height: 1440,
        ..Self::DESKTOP
    };
    /// A phone held upright.
    pub const PHONE: Self = Self {
        width: 390,
        height: 844,
        ratio: 2,
        mobile: true,
        ..Self::DESKTOP
    };

    /// The same in the dark theme.
    pub const fn dark(self) -> Self {
        Self { dark: true, ..self }
    }
    /// The same with reduced motion.
    pub const fn still(self) -> Self {
        Self {
            still: true,
            ..self
        }
    }

    /// The same without waiting for the screen's refresh.
    pub const fn unlimited(self) -> Self {
        Self {
            unlimited: true,
            ..self
        }
    }

    /// Makes a fresh browser window look like this.
    pub async fn apply(self, client: &Client) {
        let metrics = json!({ "width": self.width, "height": self.height, "deviceScaleFactor": self.ratio, "mobile": self.mobile });
        devtools(client, "Emulation.setDeviceMetricsOverride", metrics).await;
        if self.mobile {
            devtools(
                client,
                "Emulation.setTouchEmulationEnabled",
                json!({ "enabled": true, "maxTouchPoints": 5 }),
            )
            .await;
        }
        let theme = if self.dark { "dark" } else { "light" };
        let motion = if self.still {
            "reduce"
        } else {
            "no-preference"
        };
        let features = json!({ "features": [
            { "name": "prefers-color-scheme", "value": theme },
            { "name": "prefers-reduced-motion", "value": motion },
        ] });
        devtools(client, "Emulation.setEmulatedMedia", features).await;
        if let Some(rate) = slow() {
            let rate = json!({ "rate": rate });
            devtools(client, "Emulation.setCPUThrottlingRate", rate).await;
        }
    }
}
