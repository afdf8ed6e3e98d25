//! State of the panel: its controls, and what follows from them and the scenario.

use crate::core::scenario::Job;
use crate::core::strategy::{Evaluation, StrategyId, evaluate};
use crate::core::timeline::{Settings, StepView, view};
use crate::core::units::Bytes;
use crate::scene::gantt::{
    Chips, GroupState, GroupWords, Layout, Mode, Spot, Window, first_look, group_words, layout,
    matches,
};
use crate::ui::dom;
use crate::ui::state::{App, Form, Shared, use_app};
use leptos::prelude::*;

/// A simulated step with its words.
pub struct Shown {
    /// The job it was simulated for, the panel's controls applied.
    pub job: Shared<Job>,
    /// What is painted.
    pub view: StepView,
    /// Names and numbers beside it.
    pub words: Vec<GroupWords>,
}

impl Shown {
    /// Longest step, ns.
    pub fn step(&self) -> f64 {
        let worlds = self.view.worlds.iter().map(|world| world.timeline.step.0);
        worlds.chain([self.view.healthy.step.0]).max().unwrap_or(0) as f64
    }
}

/// What a step is simulated of.
#[derive(Clone, PartialEq)]
struct Subject {
    job: Shared<Job>,
    evaluation: Shared<Evaluation>,
    selected: StrategyId,
}

/// The last step that could be simulated, and why the present one cannot.
#[derive(Clone, PartialEq)]
struct Outcome {
    shown: Option<Shared<Shown>>,
    error: Option<String>,
}

/// Handles to the panel's state; found below it by `expect_context`.
#[derive(Clone, Copy)]
pub struct StepPanel {
    /// The page's state.
    pub app: App,
    /// What-if controls.
    pub settings: RwSignal<Settings>,
    /// The last step that could be simulated.
    pub shown: Memo<Option<Shared<Shown>>>,
    /// Why the present controls give none.
    pub error: Memo<Option<String>>,
    /// Views chosen by the user; none: as there is room.
    pub mode: RwSignal<Option<Mode>>,
    /// Whether the step is shown by term instead of over time.
    pub terms: RwSignal<bool>,
    /// Kinds that the legend hides.
    pub hidden: RwSignal<Chips>,
    /// Window chosen by the user; none: the first look.
    pub chosen: RwSignal<Option<Window>>,
    /// Window in force.
    pub window: Memo<Window>,
    /// Size of the picture, CSS px.
    pub size: RwSignal<(f64, f64)>,
    /// Groups that are collapsed or pinned.
    pub groups: RwSignal<Vec<GroupState>>,
    /// How far unpinned groups are scrolled, px.
    pub scroll: RwSignal<f64>,
    /// Where everything stands.
    pub layout: Memo<Option<Shared<Layout>>>,
    /// Span under the pointer, with the pointer.
    pub hover: RwSignal<Option<(Spot, f64, f64)>>,
    /// Selected span, with the step it belongs to.
    selected: RwSignal<Option<(Shared<Shown>, Spot)>>,
    /// Selected range of time, ns.
    pub range: RwSignal<Option<(f64, f64)>>,
    /// What is searched.
    pub query: RwSignal<String>,
    /// What was found; none while nothing is searched.
    pub found: Memo<Option<Vec<Spot>>>,
    /// Whether the search line is open.
    pub searching: RwSignal<bool>,
    /// Whether the list of keys is open.
    pub help: RwSignal<bool>,
}

/// Gradient bucket of the link, in GB.
fn bucket_of(text: &str) -> Option<Bytes> {
    let gb: f64 = text.parse().ok()?;
    (gb.is_finite() && gb > 0.0).then(|| Bytes::from_gb(gb))
}

impl StepPanel {
    /// Makes the state and provides it.
    pub fn provide() -> Self {
        let app = use_app();
        let mut first = Settings::default();
        let bucket = app.param("bucket").get_untracked();
        if let Some(bytes) = bucket.as_deref().and_then(bucket_of) {
            first.bucket_bytes = bytes;
        }
        let settings = RwSignal::new(first);
        // The racks answer first; the step follows once their frame is painted.
        let subject = RwSignal::new(None::<Subject>);
        Effect::new(move |_| {
            let now = Subject {
                job: app.job.get(),
                evaluation: app.evaluation.get(),
                selected: app.selected.get(),
            };
            // The panel may be gone by then.
            dom::after_paint(move || drop(subject.try_set(Some(now))));
        });
        let outcome = Memo::new(move |last: Option<&Outcome>| {
            let Some(subject) = subject.get() else {
                return Outcome {
                    shown: None,
                    error: None,
                };
            };
            match simulate(subject, &settings.get()) {
                Ok(shown) => Outcome {
                    shown: Some(Shared::new(shown)),
                    error: None,
                },
                // The picture stays; the control says why.
                Err(error) => Outcome {
                    shown: last.and_then(|last| last.shown.clone()),
                    error: Some(error),
                },
            }
        });
        let shown = Memo::new(move |_| outcome.read().shown.clone());
        let error = Memo::new(move |_| outcome.read().error.clone());
        let chosen = RwSignal::new(None::<Window>);
        let window = Memo::new(move |_| {
            let shown = shown.read();
            let Some(shown) = shown.as_ref() else {
                return Window::whole(1.0);
            };
            chosen.get().map_or_else(
                || first_look(&shown.view),
                |window| window.held(shown.step()),
            )
        });
        let mode = RwSignal::new(None::<Mode>);
        let size = RwSignal::new((0.0, 0.0));
        let groups = RwSignal::new(Vec::new());
        let scroll = RwSignal::new(0.0);
        let layout = Memo::new(move |_| {
            let (wide, high) = size.get();
            let shown = shown.read();
            let shown = shown.as_ref().filter(|_| wide > 0.0 && high > 0.0)?;
            let mode = mode
                .get()
                .unwrap_or_else(|| fitting(&shown.view, wide, high));
            Some(Shared::new(layout(
                &shown.view,
                mode,
                &groups.read(),
                wide,
                high,
                scroll.get(),
            )))
        });
        let query = RwSignal::new(String::new());
        let found = Memo::new(move |_| {
            let query = query.read();
            let shown = shown.read();
            let shown = shown.as_ref().filter(|_| !query.trim().is_empty())?;
            Some(matches(&shown.view, &query))
        });
        let panel = Self {
            app,
            settings,
            shown,
            error,
            mode,
            terms: RwSignal::new(false),
            hidden: RwSignal::new(Chips::default()),
            chosen,
            window,
            size,
            groups,
            scroll,
            layout,
            hover: RwSignal::new(None),
            selected: RwSignal::new(None),
            range: RwSignal::new(None),
            query,
            found,
            searching: RwSignal::new(false),
            help: RwSignal::new(false),
        };
        provide_context(panel);
        panel
    }

    /// The selected span, while the step it belongs to is shown.
    pub fn selected(&self) -> Option<Spot> {
        let selected = self.selected.read();
        let (of, spot) = selected.as_ref()?;
        (self.shown.read().as_ref() == Some(of)).then_some(*spot)
    }

    /// [`StepPanel::selected`] without tracking it, for event handlers.
    pub fn selected_now(&self) -> Option<Spot> {
        untrack(|| self.selected())
    }

    /// Selects a span of what is shown now, or nothing.
    pub fn select(&self, spot: Option<Spot>) {
        let shown = self.shown.get_untracked();
        self.selected.set(shown.zip(spot));
    }

    /// Which views are shown.
    pub fn mode(&self) -> Mode {
        self.mode.get().unwrap_or_else(|| {
            let (wide, high) = self.size.get();
            self.shown.read().as_ref().map_or(
                Mode {
                    streams: true,
                    pipeline: false,
                },
                |shown| fitting(&shown.view, wide, high),
            )
        })
    }

    /// Length of the longest step, ns.
    pub fn step(&self) -> f64 {
        self.shown
            .read_untracked()
            .as_ref()
            .map_or(1.0, |shown| shown.step())
    }

    /// Sets the window.
    pub fn look(&self, window: Window) {
        self.chosen.set(Some(window));
    }

    /// Fits the selected range, the selected span, or the whole step.
    pub fn fit(&self) {
        let step = self.step();
        let span = self.selected_now().and_then(|spot| self.ends(spot));
        let window = match (self.range.get_untracked(), span) {
            (Some((a, b)), _) => Window::around(a.min(b), a.max(b), step),
            (None, Some((start, end))) => Window::around(start, end, step),
            (None, None) => Window::whole(step),
        };
        self.look(window);
    }

    /// Both ends of a span, ns.
    pub fn ends(&self, spot: Spot) -> Option<(f64, f64)> {
        let shown = self.shown.read_untracked();
        let view = &shown.as_ref()?.view;
        let span = view
            .timeline(view.groups.get(spot.group)?)
            .spans
            .get(spot.span)?;
        Some((span.start.0 as f64, span.end.0 as f64))
    }

    /// Selects a span, brings it into view, and says what it is.
    pub fn go(&self, spot: Spot) {
        self.select(Some(spot));
        let (Some((start, end)), step) = (self.ends(spot), self.step()) else {
            return;
        };
        let window = self.window.get_untracked();
        if start < window.start || end > window.end {
            let middle = f64::midpoint(start, end);
            let half = (window.span() / 2.0).max((end - start) * 0.6);
            self.look(
                Window {
                    start: middle - half,
                    end: middle + half,
                }
                .held(step),
            );
        }
        if let Some(shown) = self.shown.read_untracked().as_ref()
            && let Some(tip) = crate::scene::gantt::tip(&shown.view, spot)
        {
            let takes = tip.facts.first().map_or("", |fact| fact.1.as_str());
            self.app
                .said
                .set(format!("{}, {}, {takes}", tip.title, tip.place));
        }
    }

    /// Changes a control of the panel.
    pub fn set(&self, change: impl FnOnce(&mut Settings)) {
        self.settings.update(change);
        let gb = self.settings.read_untracked().bucket_bytes.get() / 1e9;
        let default = Settings::default().bucket_bytes.get() / 1e9;
        self.app
            .set_param("bucket", (gb != default).then(|| format!("{gb}")));
    }
}

/// Both views where the streams leave room for the pipelines.
fn fitting(view: &StepView, wide: f64, high: f64) -> Mode {
    let groups = view.groups.len() as f64;
    let stages = f64::from(view.healthy.spec.stages());
    let streams = groups * (3.0 * 18.0 + 4.0) + 42.0;
    let pipeline = stages > 1.0 && wide > 600.0 && high >= streams + groups * stages * 9.0;
    Mode {
        streams: true,
        pipeline,
    }
}

fn simulate(subject: Subject, settings: &Settings) -> Result<Shown, String> {
    let Subject {
        job,
        evaluation,
        selected,
    } = subject;
    let (job, view) = if settings.keeps_job() {
        // Only to check the controls' ranges.
        settings.check().map_err(|error| error.to_string())?;
        let view = view(&job, &evaluation, selected, settings);
        (job, view)
    } else {
        let job = settings.apply(&job).map_err(|error| error.to_string())?;
        let view = view(&job, &evaluate(&job), selected, settings);
        (Shared::new(job), view)
    };
    let view = view.map_err(|error| error.to_string())?;
    let words = group_words(&view, &job.system.gpu);
    Ok(Shown { job, view, words })
}

/// Whether the panel stands on a phone.
pub fn on_phone(app: App) -> bool {
    app.form.get() == Form::Phone
}
