//! The Figures page: how far to trust the model, and the paper's figures, its values and ours.

mod save;
mod slices;
mod validation;

use super::dom;
use leptos::prelude::*;
use validation::Validation;

/// Sections of the page: id in the link, name in the index.
const SECTIONS: [(&str, &str); 1] = [("validation", "Validation")];

/// The section that the link names: `#/figures/6`.
fn asked() -> Option<String> {
    let hash = dom::hash();
    let rest = hash.trim_start_matches('#').trim_start_matches('/');
    let page = rest.split('?').next().unwrap_or(rest);
    let id = page.strip_prefix("figures/")?.trim_end_matches('/');
    (!id.is_empty()).then(|| id.to_owned())
}

/// Scrolls to the section that the link names.
fn go() {
    let Some(id) = asked() else { return };
    let element = dom::document().and_then(|d| d.get_element_by_id(&format!("fig-{id}")));
    if let Some(element) = element {
        element.scroll_into_view();
    }
}

/// The Figures page.
#[component]
pub fn FiguresPage() -> impl IntoView {
    let here = RwSignal::new(asked());
    let moved = window_event_listener(leptos::ev::hashchange, move |_| {
        here.set(asked());
        go();
    });
    on_cleanup(move || moved.remove());
    // After the sections are in the document.
    Effect::new(move |_| request_animation_frame(go));
    view! {
        <main class="figures" id="main">
            <nav class="figindex" aria-label="Figures">
                <ul>
                    {SECTIONS
                        .map(|(id, name)| {
                            let on = move || {
                                here.with(|here| here.as_deref().unwrap_or("validation") == id)
                            };
                            view! {
                                <li>
                                    <a href=format!("#/figures/{id}") class:on=on aria-current=move || on().then_some("true")>
                                        {name}
                                    </a>
                                </li>
                            }
                        })
                        .collect_view()}
                </ul>
            </nav>
            <div class="figbody">
                <Validation />
            </div>
        </main>
    }
}
