//! One figure of the registry: chart, the paper's values beside ours, settings, files.

use super::rule::RuleForm;
use super::short;
use super::slices::Standing;
use super::survivors::JobChoice;
use crate::core::figures::{Compared, Effort, Entry, Figure, Table};
use crate::core::scenario::presets;
use crate::scene::plot::{Chart, Ink, caption, svg};
use crate::scene::side::number::fixed;
use crate::ui::files::save;
use crate::ui::link;
use crate::ui::plot::ChartView;
use crate::ui::route::Route;
use crate::ui::state::{Shared, use_app};
use crate::ui::worker::Hand;
use crate::work::figures::Ask;
use crate::work::{Body, Request};
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};

/// Scenario preset that the paper's figures run on.
const PAPER: &str = "480b-nvl32";

/// Has a figure made by the page's worker.
#[derive(Clone, Copy)]
pub struct Maker {
    /// How the work stands.
    pub standing: RwSignal<Standing>,
    /// The figure, once there is one.
    pub figure: RwSignal<Option<Shared<Figure>>>,
    /// One line when it cannot be made.
    wrong: RwSignal<Option<String>>,
    hand: StoredValue<Hand, LocalStorage>,
    order: StoredValue<Option<u32>>,
}

impl Maker {
    fn new(hand: StoredValue<Hand, LocalStorage>) -> Self {
        Self {
            standing: RwSignal::new(Standing::Waiting),
            figure: RwSignal::new(None),
            wrong: RwSignal::new(None),
            hand,
            order: StoredValue::new(None),
        }
    }

    /// Makes this, dropping what was under way.
    pub fn make(self, ask: Ask) {
        self.drop_order();
        self.wrong.set(None);
        self.standing.set(Standing::Running(0.0));
        let hear = Box::new(move |body, _| self.hear(body));
        let order = self
            .hand
            .with_value(|hand| hand.ask(Request::Figure(ask), None, hear));
        self.order.set_value(Some(order));
    }

    /// Stops; the figure before, if any, stays.
    fn stop(self) {
        self.drop_order();
        self.standing.set(Standing::Stopped);
    }

    fn drop_order(self) {
        if let Some(order) = self.order.try_update_value(Option::take).flatten() {
            self.hand.with_value(|hand| hand.stop(order));
        }
    }

    /// The page may have been left meanwhile, with every signal of it.
    fn hear(self, body: Body) {
        match body {
            Body::Progress(share) => {
                let _ = self.standing.try_set(Standing::Running(share));
            }
            Body::Figure(figure) => {
                let _ = self.figure.try_set(Some(Shared::new(*figure)));
            }
            Body::Done => {
                let _ = self.standing.try_set(Standing::Done);
            }
            Body::Failed(line) => {
                let _ = self.wrong.try_set(Some(line));
                let _ = self.standing.try_set(Standing::Stopped);
            }
            _ => {}
        }
    }
}

/// What makes a figure of the registry.
pub fn registry(entry: &Entry) -> Ask {
    Ask::Registry {
        id: entry.id.to_owned(),
        effort: Effort::default(),
    }
}

/// The section.
#[component]
pub fn FigureSection(
    entry: &'static Entry,
    hand: StoredValue<Hand, LocalStorage>,
) -> impl IntoView {
    let maker = Maker::new(hand);
    let holder = NodeRef::<html::Section>::new();
    // Nothing is computed until the section comes near the screen.
    once_near(holder, move || {
        if maker.standing.get_untracked() == Standing::Waiting {
            maker.make(registry(entry));
        }
    });
    let chart = Memo::new(move |_| {
        maker.figure.with(|figure| {
            Chart::from(&*figure.as_ref().map_or_else(
                || Shared::new(Figure::empty(entry.id, entry.title)),
                Clone::clone,
            ))
        })
    });
    let focus = RwSignal::new(None);
    let tip = move |(line, point): (usize, usize)| {
        chart.with(|chart| {
            let words = chart.lines.get(line).and_then(|line| {
                let (x, y) = line.points.get(point)?;
                Some(vec![
                    line.name.clone(),
                    format!("{}: {}", chart.x.title, chart.x.words(*x)),
                    format!("{}: {}", chart.y.title, chart.y.words(*y)),
                ])
            });
            words.unwrap_or_default()
        })
    };
    let files = move |kind: &'static str| {
        maker.figure.with_untracked(|figure| {
            let Some(figure) = figure else { return };
            if kind == "svg" {
                let text = svg(&Chart::from(&**figure), &Ink::LIGHT, 720, 440);
                save(&format!("figure-{}.svg", entry.id), "image/svg+xml", &text);
            } else {
                save(
                    &format!("figure-{}.csv", entry.id),
                    "text/csv",
                    &figure.csv(),
                );
            }
        });
    };
    let name = short(entry);
    let heading = format!("h-{}", entry.id);
    let labelled = heading.clone();
    let ready = move || maker.figure.with(Option::is_some);
    view! {
        <section class="figsec" id=format!("fig-{}", entry.id) aria-labelledby=labelled node_ref=holder>
            <header class="fighead">
                <h2 id=heading>{format!("{name}: {}", entry.title)}</h2>
                <span class="grow"></span>
                <button class="tb line" disabled=move || !ready() on:click=move |_| files("svg")>
                    "Save SVG"
                </button>
                <button class="tb line" disabled=move || !ready() on:click=move |_| files("csv")>
                    "Save CSV"
                </button>
            </header>
            {(entry.id == "2a").then(|| view! { <RuleForm maker /> })}
            {(entry.id == "table1").then(|| view! { <JobChoice maker /> })}
            <Progress maker entry />
            <div class="figmain">
                <div>
                <ChartView
                    chart
                    height=360.0
                    focus
                    answers=|_| true
                    tip
                    label=Signal::derive(move || {
                        format!("{}. {} series; the tables hold the same numbers.", entry.title, chart.with(|c| c.lines.len()))
                    })
                />
                <p class="fignote">
                    {move || maker.figure.with(|figure| figure.as_ref().map(|figure| caption(figure)))}
                </p>
                </div>
                <div class="figfacts">
                    {move || maker.figure.get().map(|figure| view! { <Facts figure /> })}
                </div>
            </div>
            {move || maker.figure.get().and_then(|figure| figure.table.clone()).map(|table| view! { <Rows table /> })}
        </section>
    }
}

/// How far the work is, with a way to stop it and to go on.
#[component]
fn Progress(maker: Maker, entry: &'static Entry) -> impl IntoView {
    let again = move |_| maker.make(registry(entry));
    view! {
        <div class="runbar" class:idle=move || maker.standing.get() == Standing::Done>
            {move || match maker.standing.get() {
                Standing::Waiting => view! { <span class="m">"Not computed yet."</span> }.into_any(),
                Standing::Running(share) => {
                    view! {
                        <progress max="1" value=share.to_string() aria-label="Computed"></progress>
                        <span>{format!("{} % computed", fixed(share * 100.0, 0))}</span>
                        <button class="tb line" on:click=move |_| maker.stop()>
                            "Stop"
                        </button>
                    }
                        .into_any()
                }
                Standing::Stopped => {
                    view! {
                        <button class="tb line" on:click=again>
                            "Compute"
                        </button>
                        {match maker.wrong.get() {
                            Some(line) => view! { <span class="err" role="alert">{line}</span> }.into_any(),
                            None => view! { <span class="m">"Stopped."</span> }.into_any(),
                        }}
                    }
                        .into_any()
                }
                Standing::Done => ().into_any(),
            }}
        </div>
    }
}

/// A value with its unit.
fn value(value: f64, unit: &str) -> String {
    let decimals = match value.abs() {
        v if v >= 100.0 => 0,
        v if v >= 10.0 => 1,
        _ => 2,
    };
    let text = fixed(value, decimals);
    match unit {
        "ratio" => text,
        unit => format!("{text} {unit}"),
    }
}

/// The paper's value: its number, or its words, with the unit where they end in a number.
fn paper(compared: &Compared) -> String {
    let words = compared.paper_words.trim();
    match compared.paper {
        Some(number) if words.is_empty() || words.parse::<f64>().is_ok() => {
            value(number, &compared.unit)
        }
        Some(_) if words.ends_with(|c: char| c.is_ascii_digit()) && compared.unit != "ratio" => {
            format!("{words} {}", compared.unit)
        }
        _ => words.to_owned(),
    }
}

/// Ours - paper, with its sign unless it rounds to nothing.
fn difference(compared: &Compared) -> String {
    let Some(off) = compared.difference() else {
        return "–".to_owned();
    };
    let unit = if compared.unit == "%" {
        "points"
    } else {
        &compared.unit
    };
    let text = value(off, unit);
    let nothing = !text.contains(|c: char| ('1'..='9').contains(&c));
    if off > 0.0 && !nothing {
        format!("+{text}")
    } else {
        text
    }
}

/// The paper's values beside ours, and what ours were computed with.
#[component]
fn Facts(figure: Shared<Figure>) -> impl IntoView {
    let app = use_app();
    // Figures without a scenario of their own run on the paper's job.
    let paper_job = || presets().iter().find(|preset| preset.id == PAPER);
    let scenario = figure
        .scenario
        .clone()
        .or_else(|| paper_job().map(|preset| preset.scenario.clone()));
    let offered = scenario.is_some();
    // A job with failures over time is for the Fleet page.
    let (words, page) = if scenario.as_ref().is_some_and(|s| s.faults.is_some()) {
        ("Open the job on the Fleet page", Route::Fleet)
    } else {
        ("Open the job on the Rack page", Route::Rack)
    };
    let open = move |_| {
        let Some(scenario) = scenario.clone() else {
            return;
        };
        match app.replace(scenario) {
            Ok(()) => link::go(app, page),
            Err(error) => app.notice.set(Some(error.to_string())),
        }
    };
    let rows = figure
        .compared
        .iter()
        .map(|compared| {
            let ours = compared
                .ours
                .map_or("no answer".to_owned(), |v| value(v, &compared.unit));
            let off = difference(compared);
            view! {
                <tr>
                    <th scope="row">{compared.what.clone()}</th>
                    <td class="n">{paper(compared)}</td>
                    <td class="n b">{ours}</td>
                    <td class="n">{off}</td>
                </tr>
            }
        })
        .collect_view();
    view! {
        {(!figure.compared.is_empty())
            .then(|| {
                view! {
                    <div class="tablebox">
                        <table class="figtable">
                            <caption>"The paper and ours"</caption>
                            <thead>
                                <tr>
                                    <th scope="col">"Value"</th>
                                    <th scope="col" class="n">"paper"</th>
                                    <th scope="col" class="n">"ours"</th>
                                    <th scope="col" class="n">"difference"</th>
                                </tr>
                            </thead>
                            <tbody>{rows}</tbody>
                        </table>
                    </div>
                }
            })}
        <h3>"Settings"</h3>
        <dl class="figset">
            {figure
                .settings
                .iter()
                .map(|(name, value)| {
                    view! {
                        <dt>{name.clone()}</dt>
                        <dd>{value.clone()}</dd>
                    }
                })
                .collect_view()}
        </dl>
        {offered
            .then(|| {
                view! {
                    <button class="tb line" on:click=open>
                        {words}
                    </button>
                }
            })}
    }
}

/// The table that goes with a figure.
#[component]
fn Rows(table: Table) -> impl IntoView {
    // Columns of numbers are set to the right.
    let numeric: Vec<bool> = (0..table.columns.len())
        .map(|column| {
            table
                .rows
                .iter()
                .filter_map(|row| row.get(column))
                .any(|cell| cell.parse::<f64>().is_ok())
        })
        .collect();
    let class = move |column: usize| {
        if numeric.get(column).copied().unwrap_or(false) {
            "n"
        } else {
            ""
        }
    };
    let head = table
        .columns
        .iter()
        .enumerate()
        .map(|(column, name)| view! { <th scope="col" class=class(column)>{name.clone()}</th> })
        .collect_view();
    let body = table
        .rows
        .iter()
        .map(|row| {
            let cells = row
                .iter()
                .enumerate()
                .map(|(column, cell)| view! { <td class=class(column)>{cell.clone()}</td> })
                .collect_view();
            view! { <tr>{cells}</tr> }
        })
        .collect_view();
    view! {
        <details class="runs">
            <summary>{format!("Table ({} rows)", table.rows.len())}</summary>
            <div class="tablebox">
                <table class="figtable">
                    <thead>
                        <tr>{head}</tr>
                    </thead>
                    <tbody>{body}</tbody>
                </table>
            </div>
        </details>
    }
}

/// Calls back once, when an element comes within a screen of being visible.
fn once_near(node: NodeRef<html::Section>, near: impl Fn() + Clone + 'static) {
    let kept = StoredValue::new_local(
        None::<(
            web_sys::IntersectionObserver,
            Closure<dyn FnMut(js_sys::Array)>,
        )>,
    );
    Effect::new(move |_| {
        let Some(element) = node.get() else { return };
        let near = near.clone();
        let seen = Closure::<dyn FnMut(js_sys::Array)>::new(move |entries: js_sys::Array| {
            let any = entries.iter().any(|entry| {
                entry
                    .dyn_ref::<web_sys::IntersectionObserverEntry>()
                    .is_some_and(web_sys::IntersectionObserverEntry::is_intersecting)
            });
            if any {
                near();
                kept.try_with_value(|kept| {
                    if let Some((observer, _)) = kept {
                        observer.disconnect();
                    }
                });
            }
        });
        let options = web_sys::IntersectionObserverInit::new();
        options.set_root_margin("300px");
        let watch = || -> Result<web_sys::IntersectionObserver, JsValue> {
            let observer = web_sys::IntersectionObserver::new_with_options(
                seen.as_ref().unchecked_ref(),
                &options,
            )?;
            observer.observe(&element);
            Ok(observer)
        };
        if let Ok(observer) = watch() {
            kept.set_value(Some((observer, seen)));
        }
    });
    on_cleanup(move || {
        if let Some((observer, _)) = kept.try_update_value(Option::take).flatten() {
            observer.disconnect();
        }
    });
}
