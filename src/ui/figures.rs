//! The Figures page: how far to trust the model, and the paper's figures, its values and ours.

mod rule;
mod section;
mod slices;
mod survivors;
mod validation;

use super::dom;
use super::state::use_app;
use super::worker::Hand;
use crate::core::figures::{Entry, all};
use leptos::prelude::*;
use section::FigureSection;
use validation::Validation;

/// The section that stands first and is no figure of the paper.
const FIRST: &str = "validation";

/// What the index calls a figure.
fn short(entry: &Entry) -> String {
    let numbered = entry.id.chars().next().is_some_and(|c| c.is_ascii_digit());
    match entry.id {
        // What the paper did not show.
        id if numbered && id.contains('-') => {
            format!("Figure {}+", id.split('-').next().unwrap_or_default())
        }
        _ if numbered => format!("Figure {}", entry.id),
        "table1" => "Table 1".to_owned(),
        id => {
            let mut letters = id.chars();
            letters.next().map_or(String::new(), |first| {
                first.to_uppercase().chain(letters).collect()
            })
        }
    }
}

/// Figures of the registry; validation has a section of its own.
fn figures() -> impl Iterator<Item = &'static Entry> {
    all().iter().filter(|entry| entry.id != FIRST)
}

/// Scrolls to a section.
fn go(id: &str) {
    let element = dom::document().and_then(|d| d.get_element_by_id(&format!("fig-{id}")));
    if let Some(element) = element {
        element.scroll_into_view();
    }
}

/// The Figures page. `#/figures?fig=6` opens it at one figure.
#[component]
pub fn FiguresPage() -> impl IntoView {
    let app = use_app();
    let here = app.param("fig");
    // One worker for all of them: it ends with the page.
    let hand = StoredValue::new_local(Hand::default());
    // Also when the address is changed by hand; once the sections are in the document.
    Effect::new(move |_| {
        if let Some(id) = here.get() {
            request_animation_frame(move || go(&id));
        }
    });
    view! {
        <main class="figures" id="main">
            <nav class="figindex" aria-label="Figures">
                <ul>
                    {std::iter::once((FIRST, "Validation".to_owned(), "Step time and memory"))
                        .chain(figures().map(|entry| (entry.id, short(entry), entry.title)))
                        .map(|(id, name, title)| {
                            let on = move || here.with(|here| here.as_deref().unwrap_or(FIRST) == id);
                            view! {
                                <li>
                                    <a
                                        href=format!("#/figures?fig={id}")
                                        on:click=move |event| {
                                            // The address keeps the scenario.
                                            event.prevent_default();
                                            if here.get_untracked().as_deref() == Some(id) {
                                                go(id);
                                            }
                                            app.set_param("fig", Some(id.to_owned()));
                                        }
                                        class:on=on
                                        aria-current=move || on().then_some("true")
                                    >
                                        <b>{name}</b>
                                        <span class="s">{title}</span>
                                    </a>
                                </li>
                            }
                        })
                        .collect_view()}
                </ul>
            </nav>
            <div class="figbody">
                <Validation />
                {figures().map(|entry| view! { <FigureSection entry hand /> }).collect_view()}
            </div>
        </main>
    }
}
