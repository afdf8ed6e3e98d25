//! Which reduced TP degrees are supported: any, or a list.

use super::{Field, Pop, Told, tell};
use crate::core::scenario::Degrees;
use crate::ui::later::{Later, Part};
use crate::ui::state::use_app;
use leptos::prelude::*;

fn words(degrees: &Degrees) -> String {
    match degrees {
        Degrees::Any => "any".into(),
        Degrees::List(list) => list
            .iter()
            .map(u32::to_string)
            .collect::<Vec<_>>()
            .join(", "),
    }
}

/// "any", or degrees with commas or spaces between.
fn read(text: &str) -> Result<Degrees, String> {
    let text = text.trim();
    if text.is_empty() || text.eq_ignore_ascii_case("any") {
        return Ok(Degrees::Any);
    }
    let parts = text.split([',', ' ', ';']).filter(|part| !part.is_empty());
    let list: Result<Vec<u32>, String> = parts
        .map(|part| {
            part.parse().map_err(|_| {
                format!("{part:?} is not a TP degree, expected any or numbers such as 30, 28")
            })
        })
        .collect();
    list.map(Degrees::List)
}

/// Which reduced TP degrees are supported.
#[component]
pub fn DegreesControl() -> impl IntoView {
    let app = use_app();
    let value = app.part(|s| s.policy.degrees.clone());
    let shown = Signal::derive(move || words(&value.read()));
    let face = move || {
        view! {
            <b class="cut">{shown}</b>
            <svg class="cv" viewBox="0 0 8 8" aria-hidden="true">
                <use href="#i-cv" />
            </svg>
        }
    };
    view! {
        <span class="fld" title="Reduced TP degrees that a replica may run at">
            "Degrees"
            <Pop face name=Signal::derive(move || format!("Degrees: {}", shown.get())) panel="stack" part=Part::Degrees>
                <Later part=Part::Degrees />
            </Pop>
        </span>
    }
}

/// The list, to read and to write.
#[component]
pub fn DegreesField() -> impl IntoView {
    let app = use_app();
    let value = app.part(|s| s.policy.degrees.clone());
    let set = move |text: String| -> Told {
        let degrees = read(&text)?;
        tell(
            app.try_edit(|s| s.policy.degrees = degrees),
            "policy.degrees",
        )
    };
    view! {
        <p>
            <b>"Reduced TP degrees"</b>
        </p>
        <Field
            label="Supported"
            wide=true
            value=Signal::derive(move || words(&value.read()))
            set=Callback::new(set)
        />
        <p class="m s">"any: down to half of TP. Or a list such as 30, 28; a domain that cannot reach one drops its replica."</p>
    }
}
