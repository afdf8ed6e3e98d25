//! Which model on which system: presets, or dimensions of one's own.

use super::{Pop, Whole};
use crate::core::hardware::{System, systems};
use crate::core::scenario::{Named, PartialLayout, Scenario, derive_layout};
use crate::core::workload::{Model, models};
use crate::ui::later::{Later, Part};
use crate::ui::radio::{Radio, arrows};
use crate::ui::state::{App, use_app};
use leptos::prelude::*;

/// Which model on which system.
#[component]
pub fn Presets() -> impl IntoView {
    let app = use_app();
    let title = Memo::new(move |_| {
        let job = app.job.read();
        format!("{} on {}", job.model.name, job.system.name)
    });
    let face = move || {
        view! {
            <span class="cut">{title}</span>
            <svg class="cv" viewBox="0 0 8 8" aria-hidden="true">
                <use href="#i-cv" />
            </svg>
        }
    };
    view! {
        <Pop face name=Signal::derive(move || format!("Scenario: {}", title.get())) panel="presets" part=Part::Presets>
            <Later part=Part::Presets />
        </Pop>
    }
}

/// Models and systems side by side, and the dimensions of one's own.
#[component]
pub fn PresetLists() -> impl IntoView {
    let app = use_app();
    let model = app.part(|s| id(&s.model));
    let system = app.part(|s| id(&s.system));
    let model_of = |id: &str| (None, Some(Named::Preset(id.to_owned())));
    let system_of = |id: &str| (Some(Named::Preset(id.to_owned())), None);
    view! {
        <div class="cols">
            <div role="radiogroup" aria-label="Model" class="opts" on:keydown=arrows>
                <h3>"Model"</h3>
                {models().iter().map(|one| preset(app, model, &one.id, &one.name, model_of)).collect_view()}
                {own(model, "Own dimensions", move || own_model(app))}
            </div>
            <div role="radiogroup" aria-label="System" class="opts" on:keydown=arrows>
                <h3>"System"</h3>
                {systems().iter().map(|one| preset(app, system, &one.id, &one.name, system_of)).collect_view()}
                {own(system, "Own domain size", move || own_system(app))}
            </div>
        </div>
        <Show when=move || model.read().is_none()>
            <OwnModel />
        </Show>
        <Show when=move || system.read().is_none()>
            <OwnSystem />
        </Show>
    }
}

/// A system or a model to take.
type Choice = (Option<Named<System>>, Option<Named<Model>>);

fn preset(
    app: App,
    chosen: Memo<Option<String>>,
    id: &str,
    name: &str,
    choice: fn(&str) -> Choice,
) -> impl IntoView {
    let (own, id, name) = (id.to_owned(), id.to_owned(), name.to_owned());
    let on = Signal::derive(move || chosen.read().as_deref() == Some(own.as_str()));
    let pick = move |()| {
        let (system, model) = choice(&id);
        take(app, system, model);
    };
    view! {
        <Radio on pick=Callback::new(pick)>
            <i class="dot"></i>
            {name}
        </Radio>
    }
}

/// The choice of one's own.
fn own(
    chosen: Memo<Option<String>>,
    name: &'static str,
    pick: impl Fn() + Send + Sync + 'static,
) -> impl IntoView {
    let on = Signal::derive(move || chosen.read().is_none());
    view! {
        <Radio on pick=Callback::new(move |()| pick())>
            <i class="dot"></i>
            {name}
        </Radio>
    }
}

/// The preset's id; none for one's own.
fn id<T>(named: &Named<T>) -> Option<String> {
    match named {
        Named::Preset(id) => Some(id.clone()),
        Named::Custom(_) => None,
    }
}

/// Takes another system or model with the layout that suits it; what failed and the policy stay where they still fit.
fn take(app: App, system: Option<Named<System>>, model: Option<Named<Model>>) {
    app.edit(|scenario| {
        if let Some(system) = system {
            scenario.system = system;
        }
        if let Some(model) = model {
            scenario.model = model;
        }
        let opening = Scenario::default_scene();
        if (&scenario.system, &scenario.model) == (&opening.system, &opening.model) {
            scenario.layout = opening.layout;
        } else if let (Ok(system), Ok(model)) =
            (scenario.system.resolve(), scenario.model.resolve())
        {
            scenario.layout = derive_layout(&system, &model, &PartialLayout::default());
        }
        scenario.fit();
    });
}

fn own_model(app: App) {
    let mut own = app.job.read_untracked().model.clone();
    if own.source.is_empty() {
        return;
    }
    (own.id, own.name, own.source, own.published_parameters) =
        ("own".into(), "Own model".into(), String::new(), None);
    app.edit(|scenario| scenario.model = Named::Custom(Box::new(own)));
}

fn own_system(app: App) {
    let mut own = app.job.read_untracked().system.clone();
    if own.source.is_empty() {
        return;
    }
    (own.id, own.name, own.source) = (
        "own".into(),
        format!("own {} domain", own.gpu.name),
        String::new(),
    );
    app.edit(|scenario| scenario.system = Named::Custom(Box::new(own)));
}

fn of_model<T: Default>(scenario: &Scenario, read: impl Fn(&Model) -> T) -> T {
    scenario
        .model
        .resolve()
        .map_or_else(|_| T::default(), |model| read(&model))
}

fn of_system<T: Default>(scenario: &Scenario, read: impl Fn(&System) -> T) -> T {
    scenario
        .system
        .resolve()
        .map_or_else(|_| T::default(), |system| read(&system))
}

fn to_model(scenario: &mut Scenario, write: impl Fn(&mut Model)) {
    if let Named::Custom(model) = &mut scenario.model {
        write(model);
    }
}

fn to_system(scenario: &mut Scenario, write: impl Fn(&mut System)) {
    if let Named::Custom(system) = &mut scenario.system {
        write(system);
    }
}

#[component]
fn OwnModel() -> impl IntoView {
    view! {
        <h3>"Own model"</h3>
        <div class="dims">
            <Whole
                label="Layers"
                field="model.layers"
                read=|s| of_model(s, |m| m.layers)
                write=|s, v| to_model(s, |m| m.layers = v)
            />
            <Whole
                label="Hidden"
                field="model.hidden"
                read=|s| of_model(s, |m| m.hidden)
                write=|s, v| to_model(s, |m| m.hidden = v)
                step=|_| 128
                wide=true
            />
            <Whole
                label="FFN"
                field="model.ffn"
                read=|s| of_model(s, |m| m.ffn)
                write=|s, v| to_model(s, |m| m.ffn = v)
                step=|_| 128
                wide=true
            />
            <Whole
                label="Heads"
                field="model.heads"
                read=|s| of_model(s, |m| m.heads)
                write=|s, v| {
                    to_model(
                        s,
                        |m| {
                            m.heads = v;
                            m.kv_heads = m.kv_heads.min(v);
                        },
                    );
                }
            />
            <Whole
                label="KV heads"
                field="model.kv_heads"
                read=|s| of_model(s, |m| m.kv_heads)
                write=|s, v| to_model(s, |m| m.kv_heads = v)
            />
            <Whole
                label="Vocabulary"
                field="model.vocab"
                read=|s| of_model(s, |m| m.vocab)
                write=|s, v| to_model(s, |m| m.vocab = v)
                step=|_| 256
                wide=true
            />
        </div>
    }
}

#[component]
fn OwnSystem() -> impl IntoView {
    view! {
        <h3>"Own domain"</h3>
        <div class="dims">
            <Whole
                label="GPUs per domain"
                field="system.domain_size"
                read=|s| of_system(s, |y| y.domain_size)
                write=|s, v| {
                    to_system(
                        s,
                        |y| {
                            if y.tray_gpus == y.domain_size || y.tray_gpus > v {
                                y.tray_gpus = v;
                            }
                            y.domain_size = v;
                        },
                    );
                    s.layout.tp = s.layout.tp.min(v);
                }
            />
            <Whole
                label="GPUs per tray"
                field="system.tray_gpus"
                read=|s| of_system(s, |y| y.tray_gpus)
                write=|s, v| to_system(s, |y| y.tray_gpus = v)
            />
            <Whole
                label="Switch trays"
                field="system.switch_trays"
                read=|s| of_system(s, |y| y.switch_trays)
                write=|s, v| to_system(s, |y| y.switch_trays = v)
                least=0
            />
        </div>
    }
}
