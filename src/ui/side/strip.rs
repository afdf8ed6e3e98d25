//! The strip at the foot of the side column: further panels, one open at a time.

use super::changed::{Changes, MoreLines};
use crate::ui::dom;
use crate::ui::later::{Later, Part};
use leptos::html;
use leptos::prelude::*;

/// A panel under the strip.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Panel {
    /// Further lines of what changed.
    More,
    /// What each lost GPU costs.
    Lost,
    /// Search of the best layout.
    Best,
}

impl Panel {
    const ALL: [Self; 3] = [Self::More, Self::Lost, Self::Best];

    const fn name(self) -> &'static str {
        match self {
            Self::More => "More numbers",
            Self::Lost => "Cost of a lost GPU",
            Self::Best => "Best layout",
        }
    }
}

/// Buttons that open a panel each; the panel is built when it opens.
#[component]
pub fn Strip(
    /// What changed, for its further lines.
    changes: Changes,
) -> impl IntoView {
    let open = RwSignal::new(None);
    let body = NodeRef::<html::Div>::new();
    let toggle = move |panel: Panel| {
        open.update(|open| {
            *open = if *open == Some(panel) {
                None
            } else {
                Some(panel)
            }
        });
    };
    // In view at once, and still when what comes later has made it longer.
    dom::on_resize(body, move |_, _| {
        if let Some(Some(body)) = body.try_get_untracked() {
            body.scroll_into_view_with_bool(false);
        }
    });
    view! {
        <div class="strip" role="group" aria-label="More numbers">
            {Panel::ALL
                .map(|panel| {
                    let on = move || open.get() == Some(panel);
                    view! {
                        <button type="button" class:on=on aria-expanded=move || on().to_string() on:click=move |_| toggle(panel)>
                            {panel.name()}
                            <svg class="cv" viewBox="0 0 8 8" aria-hidden="true">
                                <use href="#i-cv" />
                            </svg>
                        </button>
                    }
                })
                .collect_view()}
        </div>
        {move || {
            open.get()
                .map(|panel| {
                    view! {
                        <div class="panel" node_ref=body>
                            {match panel {
                                Panel::More => view! { <MoreLines changes /> }.into_any(),
                                Panel::Lost => view! { <Later part=Part::Lost /> }.into_any(),
                                Panel::Best => view! { <Later part=Part::Best /> }.into_any(),
                            }}
                        </div>
                    }
                })
        }}
    }
}
