//! Header menus: the link to what is shown, and scenario files.

use super::Icon;
use super::bar::Pop;
use crate::ui::dom;
use crate::ui::files::{self, Picker};
use crate::ui::later::{Later, Part};
use crate::ui::link;
use crate::ui::state::use_app;
use gloo::timers::callback::Timeout;
use leptos::html::Input;
use leptos::prelude::*;

/// A line of text with a button that copies it.
#[component]
fn Copy(
    /// What it is.
    label: &'static str,
    /// The button's verb.
    verb: &'static str,
    /// The text.
    #[prop(into)]
    text: Signal<String>,
) -> impl IntoView {
    let app = use_app();
    let node = NodeRef::<Input>::new();
    let copied = RwSignal::new(false);
    let rest = StoredValue::new_local(None::<Timeout>);
    let copy = move |_| {
        if let Some(input) = node.get_untracked() {
            input.select();
        }
        // Where the clipboard is closed to the page, the selected text is there for the user's own copy.
        if let Some(clipboard) = dom::clipboard() {
            let _ = clipboard.write_text(&text.get_untracked());
            copied.set(true);
            app.said.set(format!("{label} copied."));
            rest.set_value(Some(Timeout::new(1600, move || {
                copied.try_set(false);
            })));
        }
    };
    view! {
        <div class="copy">
            <label>
                <span class="m">{label}</span>
                <input
                    readonly
                    node_ref=node
                    prop:value=text
                    on:focus=move |_| {
                        if let Some(input) = node.get_untracked() {
                            input.select();
                        }
                    }
                />
            </label>
            <button class="tb line" on:click=copy>
                <Icon name="i-copy" />
                {move || if copied.get() { "Copied" } else { verb }}
            </button>
        </div>
    }
}

/// The link to what is shown, and the frame to embed it.
#[component]
pub fn ShareCard() -> impl IntoView {
    let app = use_app();
    let address = Memo::new(move |_| link::whole(app));
    let frame = move || {
        let address = address.get();
        let address = if app.embed.get() {
            address
        } else {
            format!("{address}&embed=1")
        };
        format!(
            "<iframe src=\"{}\" width=\"1000\" height=\"640\" title=\"NTP Explorer\"></iframe>",
            address.replace('&', "&amp;")
        )
    };
    view! {
        <Copy label="Link to this scene" verb="Copy link" text=address />
        <Copy label="To embed it" verb="Copy frame" text=Signal::derive(frame) />
        <p class="m s">"The link holds the whole scenario; nothing is stored anywhere else."</p>
    }
}

/// The link menu of the header.
#[component]
pub fn Share() -> impl IntoView {
    let face = || {
        view! {
            <Icon name="i-share" />
            <span class="wd">"Share link"</span>
        }
    };
    view! {
        <Pop face class="tb" name=Signal::stored("Share link".to_owned()) panel="sharing" part=Part::Share>
            <Later part=Part::Share />
        </Pop>
    }
}

/// What the file menu's panel closes and clicks: both outlive it.
#[derive(Clone, Copy)]
struct FileMenu {
    open: RwSignal<bool>,
    picker: NodeRef<Input>,
}

/// Saving and opening a scenario file.
#[component]
pub fn FilesCard() -> impl IntoView {
    let app = use_app();
    let menu = expect_context::<FileMenu>();
    let save = move |_| {
        files::save(
            "scenario.json",
            "application/json",
            &app.job.read_untracked().scenario.to_json(),
        );
        app.said.set("Scenario saved.".into());
        menu.open.set(false);
    };
    let pick = move |_| {
        if let Some(input) = menu.picker.get_untracked() {
            input.click();
        }
        menu.open.set(false);
    };
    view! {
        <button class="item" on:click=save>
            <Icon name="i-export" />
            "Save the scenario as a file"
        </button>
        <button class="item" on:click=pick>
            <Icon name="i-open" />
            "Open a scenario file"
        </button>
        <p class="m s">"Or drop one on the page."</p>
    }
}

/// The file menu of the header.
#[component]
pub fn Export() -> impl IntoView {
    let menu = FileMenu {
        open: RwSignal::new(false),
        picker: NodeRef::new(),
    };
    provide_context(menu);
    let face = || {
        view! {
            <Icon name="i-export" />
            <span class="wd">"Export"</span>
        }
    };
    view! {
        <Picker node=menu.picker />
        <Pop
            face
            class="tb"
            name=Signal::stored("Export and open".to_owned())
            panel="menu"
            open=menu.open
            part=Part::Files
        >
            <Later part=Part::Files />
        </Pop>
    }
}
