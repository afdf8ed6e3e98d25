//! The spans in view as a table: the timeline for who does not see it.

use super::model::StepPanel;
use crate::scene::gantt::table;
use leptos::prelude::*;

/// Most rows at once; zoom in for the others.
const MOST: usize = 200;

/// A table that opens over the picture. Its rows are made only while it is open.
#[component]
pub fn SpanTable() -> impl IntoView {
    let panel = expect_context::<StepPanel>();
    let open = RwSignal::new(false);
    let toggled = move |event: web_sys::Event| {
        let details = event
            .target()
            .and_then(|target| wasm_bindgen::JsCast::dyn_into::<web_sys::Element>(target).ok());
        open.set(details.is_some_and(|details| details.has_attribute("open")));
    };
    let rows = move || {
        if !open.get() {
            return None;
        }
        let (shown, layout) = (panel.shown.get()?, panel.layout.get()?);
        let (rows, count) = table(
            &shown.view,
            &layout,
            &panel.window.get(),
            panel.hidden.get(),
            MOST,
        );
        let caption = if count > rows.len() {
            format!(
                "{} of {count} spans in view; zoom in for the others",
                rows.len()
            )
        } else {
            format!("{count} spans in view")
        };
        let rows = rows
            .into_iter()
            .map(|row| {
                let spot = row.spot;
                view! {
                    <tr>
                        <th scope="row">{row.track}</th>
                        <td>
                            <button class="why" on:click=move |_| panel.go(spot)>
                                {row.what}
                            </button>
                        </td>
                        <td class="num">{row.start}</td>
                        <td class="num">{row.takes}</td>
                    </tr>
                }
            })
            .collect_view();
        Some(view! {
            <table>
                <caption>{caption}</caption>
                <thead>
                    <tr><th scope="col">"Track"</th><th scope="col">"Span"</th><th scope="col">"Starts"</th><th scope="col">"Takes"</th></tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        })
    };
    view! {
        <details class="gtable" on:toggle=toggled>
            <summary>"Spans as a table"</summary>
            <div class="gscroll">{rows}</div>
        </details>
    }
}
