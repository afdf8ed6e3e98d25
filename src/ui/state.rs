//! State of the page: one scenario with its history, what follows from it, and what is looked at.
//!
//! [`App`] is a `Copy` bundle of handles, found anywhere below the root by [`use_app`]. Everything the model computes hangs
//! off [`App::job`] by memos; hover, selection, route and theme never touch it. An edit reaches [`Now`] at once and the rest
//! once a frame is painted, so that the racks answer a click before everything else is worked out.

mod history;

use super::dom;
use super::route::Route;
use crate::core::scenario::{Job, Scenario, ScenarioError};
use crate::core::strategy::{
    DomainView, Evaluation, Evaluator, Outcome, Pattern, StrategyId, domain_views, evaluate,
};
use history::History;
use leptos::prelude::*;
use std::ops::Deref;
use std::sync::Arc;

/// A shared value whose equality is identity: comparing two costs nothing, so a memo of it never compares deeply.
pub struct Shared<T>(Arc<T>);

impl<T> Shared<T> {
    /// Wraps a value.
    pub fn new(value: T) -> Self {
        Self(Arc::new(value))
    }
}
impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}
impl<T> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
impl<T> Deref for Shared<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

/// Light or dark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// Ink on paper.
    Light,
    /// Paper on ink.
    Dark,
}

impl Theme {
    /// Value of `data-theme` on the root element.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
}

/// How wide the window is, by the breakpoints of the layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Below 640 px: one domain at a time.
    Phone,
    /// 640 to 1199 px: the page scrolls.
    Tablet,
    /// 1200 px and more: everything at once.
    Desktop,
}

/// What the racks show: the scenario as edited last, under the selected strategy alone.
#[derive(Clone, Copy)]
pub struct Now {
    /// The scenario.
    pub job: Memo<Shared<Job>>,
    /// The selected strategy on its failures.
    pub outcome: Memo<Shared<Outcome>>,
    /// Every domain under it.
    pub views: Memo<Shared<Vec<DomainView>>>,
}

impl Now {
    fn of(job: RwSignal<Shared<Job>>, selected: RwSignal<StrategyId>) -> Self {
        let job = Memo::new(move |_| job.get());
        let outcome = Memo::new(move |_| {
            let job = job.read();
            let outcome = Evaluator::new(&job).outcome(selected.get(), &Pattern::of(&job));
            Shared::new(outcome)
        });
        let views = Memo::new(move |_| Shared::new(domain_views(&job.read(), &outcome.read())));
        Self {
            job,
            outcome,
            views,
        }
    }
}

/// Handles to the whole state of the page.
#[derive(Clone, Copy)]
pub struct App {
    /// What an edit reaches at once.
    pub now: Now,
    /// The scenario, validated and looked up. Change it by [`App::edit`] only.
    pub job: Memo<Shared<Job>>,
    /// Every strategy on the job's failures.
    pub evaluation: Memo<Shared<Evaluation>>,
    /// The strategy whose racks are shown.
    pub selected: RwSignal<StrategyId>,
    /// Every domain under the selected strategy; empty while there is no outcome for it.
    pub views: Memo<Shared<Vec<DomainView>>>,
    /// Domain and GPU under the pointer or keyboard focus.
    pub hover: RwSignal<Option<(u32, u32)>>,
    /// One line to show to the user, such as why something was refused.
    pub notice: RwSignal<Option<String>>,
    /// Last sentence for the live region.
    pub said: RwSignal<String>,
    /// Page shown.
    pub route: RwSignal<Route>,
    /// Only the scene, for an iframe.
    pub embed: RwSignal<bool>,
    /// Theme in use.
    pub theme: RwSignal<Theme>,
    /// Width class of the window.
    pub form: RwSignal<Form>,
    /// Whether the key list is open.
    pub help: RwSignal<bool>,
    /// View parameters of the link that have no signal of their own, in order.
    pub params: RwSignal<Vec<(String, String)>>,
    current: RwSignal<Shared<Job>>,
    history: RwSignal<History<Shared<Job>>>,
}

impl App {
    /// Builds the state for a scenario that resolved, and makes it findable by [`use_app`].
    pub fn provide(job: Job, route: Route, theme: Theme, form: Form) -> Self {
        let current = RwSignal::new(Shared::new(job));
        let settled = RwSignal::new(current.get_untracked());
        Effect::new(move |_| {
            if current.get() != settled.get_untracked() {
                // The newest by then, and only once.
                dom::after_paint(move || {
                    if let Some(newest) = current.try_get_untracked()
                        && settled.try_get_untracked().as_ref() != Some(&newest)
                    {
                        settled.try_set(newest);
                    }
                });
            }
        });
        let job = Memo::new(move |_| settled.get());
        let evaluation = Memo::new(move |_| Shared::new(evaluate(&job.read())));
        let selected = RwSignal::new(StrategyId::NtpPw);
        let views = Memo::new(move |_| {
            let evaluation = evaluation.read();
            Shared::new(
                evaluation
                    .get(selected.get())
                    .map_or_else(Vec::new, |outcome| domain_views(&job.read(), outcome)),
            )
        });
        let app = Self {
            now: Now::of(current, selected),
            job,
            evaluation,
            selected,
            views,
            hover: RwSignal::new(None),
            notice: RwSignal::new(None),
            said: RwSignal::new(String::new()),
            route: RwSignal::new(route),
            embed: RwSignal::new(false),
            theme: RwSignal::new(theme),
            form: RwSignal::new(form),
            help: RwSignal::new(false),
            params: RwSignal::new(Vec::new()),
            current,
            history: RwSignal::new(History::default()),
        };
        provide_context(app);
        app
    }

    /// Reads the scenario, tracking it.
    pub fn scenario<T>(&self, read: impl FnOnce(&Scenario) -> T) -> T {
        read(&self.job.read().scenario)
    }

    /// A memo of one part of the scenario: notifies only when that part changes.
    pub fn part<T: PartialEq + Send + Sync + 'static>(
        &self,
        read: impl Fn(&Scenario) -> T + Send + Sync + 'static,
    ) -> Memo<T> {
        let job = self.job;
        Memo::new(move |_| read(&job.read().scenario))
    }

    /// Changes the scenario as one undoable step. On an error the old one stays and the notice says why.
    pub fn edit(&self, change: impl FnOnce(&mut Scenario)) {
        if let Err(error) = self.try_edit(change) {
            self.notice.set(Some(error.to_string()));
        }
    }

    /// As [`App::edit`], for controls that show the error themselves.
    pub fn try_edit(&self, change: impl FnOnce(&mut Scenario)) -> Result<(), ScenarioError> {
        self.change(None, change)
    }

    /// As [`App::try_edit`], but consecutive edits with the same tag undo together (a slider being dragged).
    pub fn try_edit_merged(
        &self,
        tag: &'static str,
        change: impl FnOnce(&mut Scenario),
    ) -> Result<(), ScenarioError> {
        self.change(Some(tag), change)
    }

    fn change(
        &self,
        tag: Option<&'static str>,
        change: impl FnOnce(&mut Scenario),
    ) -> Result<(), ScenarioError> {
        let old = self.current.get_untracked();
        let mut scenario = old.scenario.clone();
        change(&mut scenario);
        if scenario != old.scenario {
            let job = scenario.resolve()?;
            if (&scenario.system, &scenario.model, &scenario.layout)
                != (
                    &old.scenario.system,
                    &old.scenario.model,
                    &old.scenario.layout,
                )
            {
                Evaluator::new(&job).fits()?;
            }
            self.history.update(|history| history.push(old, tag));
            self.current.set(Shared::new(job));
        }
        self.hush();
        Ok(())
    }

    /// Replaces the scenario (a file, a link), as one undoable step.
    pub fn replace(&self, scenario: Scenario) -> Result<(), ScenarioError> {
        self.try_edit(move |old| *old = scenario)
    }

    /// Goes one step back; false at the start.
    pub fn undo(&self) -> bool {
        self.travel(History::undo)
    }

    /// Takes an undone step again; false at the end.
    pub fn redo(&self) -> bool {
        self.travel(History::redo)
    }

    fn travel(
        &self,
        step: impl FnOnce(&mut History<Shared<Job>>, Shared<Job>) -> Option<Shared<Job>>,
    ) -> bool {
        let now = self.current.get_untracked();
        let then = self
            .history
            .try_update(|history| step(history, now))
            .flatten();
        let moved = then.is_some();
        if let Some(job) = then {
            self.current.set(job);
            self.hush();
        }
        moved
    }

    /// Takes the notice away, if there is one.
    fn hush(&self) {
        if self.notice.read_untracked().is_some() {
            self.notice.set(None);
        }
    }

    /// Back to the default scene, as one undoable step.
    pub fn reset(&self) {
        self.edit(|scenario| *scenario = Scenario::default_scene());
    }

    /// A view parameter of the link, such as `bucket`; see [`crate::core::scenario::url::view_keys`].
    pub fn param(&self, key: &'static str) -> Memo<Option<String>> {
        let params = self.params;
        Memo::new(move |_| {
            let params = params.read();
            params
                .iter()
                .find(|(name, _)| name == key)
                .map(|(_, value)| value.clone())
        })
    }

    /// Sets or removes a view parameter of the link.
    pub fn set_param(&self, key: &str, value: Option<String>) {
        let mut params = self.params.get_untracked();
        params.retain(|(name, _)| name != key);
        params.extend(value.map(|value| (key.to_owned(), value)));
        if params != self.params.get_untracked() {
            self.params.set(params);
        }
    }

    /// Whether there is a step to undo, and one to redo; follows an edit with everything else.
    pub fn can_travel(&self) -> (bool, bool) {
        self.job.track();
        self.history
            .with_untracked(|history| (history.can_undo(), history.can_redo()))
    }
}

/// The state of the page. Call it in a component's body, not in a callback.
pub fn use_app() -> App {
    expect_context::<App>()
}
