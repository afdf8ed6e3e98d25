//! The first paint: the opening scene as static markup that looks as the live page will, so that something true is on the
//! screen before the engine arrives and nothing jumps when it does.
//!
//! `index.html` holds this text between two marks; `tests/first_paint.rs` keeps it up to date.

use super::rack::group::{groups, head};
use super::rack::html::{DomainHead, Look, one_replica};
use super::rack::shape::RackShape;
use super::rack::words;
use super::side::number::gpu_word;
use super::side::rows::rows;
use super::side::text::Sentence;
use super::side::verdict::{counts, verdict};
use crate::core::scenario::{Job, Scenario, ScenarioError};
use crate::core::strategy::{DomainView, Evaluation, StrategyId, domain_views, evaluate};
use std::fmt::Write;
use std::ops::Range;

/// Most groups of domains that a window shows at once.
const GROUPS: usize = 3;
/// Pages of the navigation, as the live page lists them.
const PAGES: [&str; 4] = ["Rack", "Fleet", "Figures", "About"];

/// The opening scene's markup, for a desktop and for a phone; the style sheet shows one of them.
///
/// # Errors
/// When the opening scene itself is not valid.
pub fn paint() -> Result<String, ScenarioError> {
    let job = Scenario::default_scene().resolve()?;
    let evaluation = evaluate(&job);
    let views = evaluation
        .get(StrategyId::NtpPw)
        .map_or_else(Vec::new, |outcome| domain_views(&job, outcome));
    let mut out = String::new();
    desktop(&mut out, &job, &evaluation, &views);
    phone(&mut out, &job, &evaluation, &views);
    Ok(out)
}

// Writing to a string cannot fail, so results of `write!` are dropped throughout.
fn desktop(out: &mut String, job: &Job, evaluation: &Evaluation, views: &[DomainView]) {
    out.push_str("<div class=\"app first-desktop\" data-show=\"\"><header class=\"top\"><div class=\"brand\"><svg width=\"20\" height=\"20\" viewBox=\"0 0 20 20\"><use href=\"#i-brand\"/></svg>NTP Explorer</div><nav class=\"nav\">");
    for page in PAGES {
        let _ = write!(
            out,
            "<a{}>{page}</a>",
            if page == "Rack" { " class=\"on\"" } else { "" }
        );
    }
    let layout = &job.scenario.layout;
    let _ = write!(
        out,
        "</nav></header><div class=\"scn\"><span class=\"sel\">{} on {}</span>",
        job.model.name, job.system.name
    );
    for (label, value) in [
        ("TP", layout.tp),
        ("PP", layout.pp),
        ("DP", layout.dp),
        ("batch", layout.global_batch),
    ] {
        let _ = write!(
            out,
            "<span class=\"fld\">{label}<span class=\"inp still\">{value}</span></span>"
        );
    }
    out.push_str("</div><main class=\"main\"><section class=\"racks\"><div class=\"rh\"><div><h2>Racks <span class=\"m\">under</span> <svg class=\"mk\" style=\"color:var(--sg-ntp-pw)\" viewBox=\"0 0 12 12\"><use href=\"#m-ntp-pw\"/></svg> ntp-pw</h2><div class=\"hint\"><b>Click any GPU to fail it,</b> click again to repair. <span class=\"m\">Drag for many, right-click for kinds.</span></div></div></div><div class=\"stand\"><div class=\"view\"><div class=\"groups\" data-tile=\"full\">");
    let shape = RackShape::of(&job.system);
    let look = Look {
        shape,
        tp: layout.tp,
        gpu: &job.system.gpu,
        alone: false,
    };
    for group in groups(&job.placement, job.placement.domains)
        .iter()
        .take(GROUPS)
    {
        let over = head(group, views, layout.tp);
        let _ = write!(
            out,
            "<div class=\"rep\"><header><h3>{}</h3><span class=\"m nt\">{}</span></header><div class=\"doms\">",
            over.title, over.note
        );
        for view in views
            .get(group.domains.start as usize..group.domains.end as usize)
            .unwrap_or_default()
        {
            domain(out, &look, view, one_replica(&over));
        }
        out.push_str("</div></div>");
    }
    out.push_str("</div></div><div class=\"mm\"></div></div><div class=\"lgd\"></div></section><aside class=\"side\">");
    said(out, job, evaluation, false);
    out.push_str("<section class=\"sec\"><div class=\"sh\"><h2>Goodput</h2><span class=\"m wide\">of the healthy job; click a row to see its racks</span><span class=\"grow\"></span><span class=\"s m\">lost, in GPUs</span></div>");
    scores(out, evaluation);
    out.push_str("</section></aside><section class=\"gantt\"></section></main></div>\n");
}

fn phone(out: &mut String, job: &Job, evaluation: &Evaluation, views: &[DomainView]) {
    let layout = &job.scenario.layout;
    let _ = write!(
        out,
        "<div class=\"app phone first-phone\"><header class=\"ptop\"><svg width=\"20\" height=\"20\" viewBox=\"0 0 20 20\"><use href=\"#i-brand\"/></svg><b>NTP Explorer</b></header><main class=\"pbody\"><div class=\"psc\"><b class=\"cut\">{} on {}</b><span class=\"m\">TP {}, PP {}, DP {}</span></div>",
        job.model.name, job.system.name, layout.tp, layout.pp, layout.dp
    );
    said(out, job, evaluation, true);
    out.push_str("<section class=\"racks\"><div class=\"stand\"><div class=\"view\"><div class=\"groups\" data-tile=\"full\">");
    let look = Look {
        shape: RackShape::of(&job.system),
        tp: layout.tp,
        gpu: &job.system.gpu,
        alone: true,
    };
    if let Some(view) = views.first() {
        out.push_str("<div class=\"rep\"><div class=\"doms\">");
        domain(out, &look, view, false);
        out.push_str("</div></div>");
    }
    out.push_str("</div></div><div class=\"mm\"></div></div></section></main><div class=\"pdock\"><div class=\"pact\"><b>Tap a GPU to fail it.</b><span class=\"m grow\">Hold for kinds.</span></div><div class=\"pscores\">");
    scores(out, evaluation);
    out.push_str("</div><div class=\"ptabs\"></div></div></div>\n");
}

/// A domain without the handles that only the live page needs.
fn domain(out: &mut String, look: &Look<'_>, view: &DomainView, named: bool) {
    let head = DomainHead::new(view, look.tp, named);
    let _ = write!(
        out,
        "<section class=\"dom on\"><header><div class=\"l1\"><h3>D{}</h3><span class=\"m place\">{}</span><span class=\"deg\"><b>{}</b><span class=\"m\">{}</span></span></div><div class=\"s cn m\">{}</div></header><div class=\"cab\">",
        view.index, head.place, head.degree, head.of, head.condition
    );
    let shape = &look.shape;
    if shape.switch_after > 0 {
        columns(out, look, view, 0..shape.switch_after);
        let _ = write!(
            out,
            "<div class=\"sws\" style=\"--n:{0}\"><span>{0} NVLink switch trays</span></div>",
            shape.switch_trays
        );
    }
    columns(out, look, view, shape.switch_after..shape.rows());
    out.push_str("</div></section>");
}

/// Rows of tiles, a column of them as one element: seven racks of 72 tiles of three elements took a slow machine longer
/// than the engine. All are healthy here, so their boxes are a pattern behind two texts.
fn columns(out: &mut String, look: &Look<'_>, view: &DomainView, rows: Range<u32>) {
    let _ = write!(out, "<div class=\"flat\" style=\"--n:{}\">", rows.len());
    for column in 0..look.shape.per_row {
        let gpus = || {
            rows.clone()
                .filter_map(|row| look.shape.at(row, column))
                .filter_map(|index| view.gpus.get(index as usize))
        };
        let ranks: Vec<_> = gpus().map(words::rank).collect();
        let clocks: Vec<_> = gpus().map(|gpu| words::clock(look.gpu, gpu)).collect();
        let _ = write!(
            out,
            "<div><b>{}</b><i>{}</i></div>",
            ranks.join("\n"),
            clocks.join("\n")
        );
    }
    out.push_str("</div>");
}

fn said(out: &mut String, job: &Job, evaluation: &Evaluation, short: bool) {
    let verdict = verdict(counts(job), evaluation, short);
    out.push_str("<div class=\"verdict\"><p>");
    runs(out, &verdict.what);
    out.push_str("<br>");
    runs(out, &verdict.cost);
    out.push_str("</p></div>");
}

fn runs(out: &mut String, sentence: &Sentence) {
    for run in &sentence.0 {
        let (open, close) = if run.bold { ("<b>", "</b>") } else { ("", "") };
        let _ = write!(out, "{open}{}{close}", run.text);
    }
}

fn scores(out: &mut String, evaluation: &Evaluation) {
    out.push_str("<div class=\"rows\">");
    for row in rows(evaluation) {
        let id = row.strategy.id();
        let on = if row.strategy == StrategyId::NtpPw {
            " on"
        } else {
            ""
        };
        let _ = write!(
            out,
            "<div class=\"row{on}\" style=\"--place:{}\"><svg class=\"mk\" style=\"color:var(--sg-{id})\" viewBox=\"0 0 12 12\"><use href=\"#m-{id}\"/></svg><div class=\"nm\"><div class=\"tx\"><b>{id}</b><span class=\"m\">{}</span></div><div class=\"track\"><svg width=\"100%\" height=\"8\"><rect width=\"100%\" height=\"8\" rx=\"2\" fill=\"var(--sunk)\"/><rect width=\"{:.2}%\" height=\"8\" rx=\"2\" fill=\"var(--sg-{id})\"/></svg></div></div><span class=\"num\">{}</span><span class=\"ls\">{}<span class=\"m\"> {}</span></span></div>",
            row.place,
            row.summary,
            row.share * 100.0,
            row.number,
            row.lost,
            gpu_word(&row.lost)
        );
    }
    out.push_str("</div>");
}
