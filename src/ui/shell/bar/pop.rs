//! A button that opens a panel under it.

use crate::ui::dom;
use crate::ui::later::{self, Part, Programs};
use leptos::ev;
use leptos::html::{Button, Div, Span};
use leptos::prelude::*;

/// A button that opens a panel under it. Escape, a click elsewhere, or the button itself closes it; focus returns.
#[component]
pub fn Pop(
    /// What the button shows.
    #[prop(into)]
    face: ViewFn,
    /// Class of the button.
    #[prop(default = "sel")]
    class: &'static str,
    /// Name of button and panel for a screen reader.
    #[prop(into)]
    name: Signal<String>,
    /// Class of the panel.
    #[prop(default = "")]
    panel: &'static str,
    /// Whether it is open, where the panel closes itself.
    #[prop(optional)]
    open: Option<RwSignal<bool>>,
    /// What the panel waits for: fetched when the pointer or the focus comes near.
    #[prop(optional)]
    part: Option<Part>,
    children: ChildrenFn,
) -> impl IntoView {
    let open = open.unwrap_or_else(|| RwSignal::new(false));
    let wrap = NodeRef::<Span>::new();
    let button = NodeRef::<Button>::new();
    let outside = window_event_listener(ev::pointerdown, move |event| {
        let inside = wrap
            .get_untracked()
            .zip(dom::target(&event))
            .is_some_and(|(wrap, target)| wrap.contains(Some(&target)));
        if !inside && open.try_get_untracked() == Some(true) {
            open.set(false);
        }
    });
    on_cleanup(move || outside.remove());
    let keys = move |event: web_sys::KeyboardEvent| {
        if event.key() == "Escape" && open.get_untracked() {
            event.stop_propagation();
            open.set(false);
            if let Some(button) = button.get_untracked() {
                let _ = button.focus();
            }
        }
    };
    // Kept inside the window on the right, also when what comes later has made it wider.
    let card = NodeRef::<Div>::new();
    dom::on_resize(card, move |_, _| {
        let Some(Some(card)) = card.try_get_untracked() else {
            return;
        };
        dom::style(&card, "margin-left", "");
        let over = card.get_bounding_client_rect().right() - dom::window_width() + 8.0;
        if over > 0.0 {
            let left = format!("{:.0}px", -over / dom::zoom());
            dom::style(&card, "margin-left", &left);
        }
    });
    let programs = use_context::<Programs>();
    let near = move || {
        if let (Some(programs), Some(part)) = (programs, part) {
            later::expect(programs, part);
        }
    };
    view! {
        <span
            class="popwrap"
            node_ref=wrap
            on:keydown=keys
            on:pointerenter=move |_| near()
            on:focusin=move |_| near()
        >
            <button
                class=class
                node_ref=button
                aria-haspopup="dialog"
                aria-label=name
                aria-expanded=move || open.get().to_string()
                on:click=move |_| open.update(|open| *open = !*open)
            >
                {face.run()}
            </button>
            <Show when=move || open.get()>
                <div class=format!("pop under {panel}") role="dialog" aria-label=name node_ref=card>
                    {children()}
                </div>
            </Show>
        </span>
    }
}
