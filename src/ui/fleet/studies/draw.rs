//! Results: curves, the checkpoint map, the tornado, the table.

use super::ask::of_one;
use super::lab::Lab;
use crate::core::studies::{Bar, Question, Value, tornado};
use crate::scene::markup::escaped;
use crate::scene::side::number::fixed;
use crate::scene::studies as scene;
use crate::ui::plot::ChartView;
use leptos::prelude::*;

/// Lines with bands.
pub fn curves(lab: Lab, question: Question) -> AnyView {
    let chart = Signal::derive(move || {
        lab.tick.track();
        lab.board.with_value(|board| scene::chart(board, question))
    });
    let focus = RwSignal::new(None::<(usize, usize)>);
    let tip = move |(line, point): (usize, usize)| {
        chart.with_untracked(|chart| {
            let Some(line) = chart.lines.get(line) else {
                return Vec::new();
            };
            let Some((x, y)) = line.points.get(point) else {
                return Vec::new();
            };
            vec![
                line.name.clone(),
                ["", &chart.x.words(*x), " ", &chart.x.title].concat(),
                ["", &fixed(100.0 * y, 2), " %"].concat(),
            ]
        })
    };
    view! {
        <ChartView
            chart
            height=360.0
            focus
            answers=Callback::new(|_| true)
            tip=Callback::new(tip)
            label=Signal::derive(move || chart.with(|chart| ["Chart: ", &chart.y.title, " against ", &chart.x.title].concat()))
        />
        <p class="fignote">"Bands: two standard errors. All points and strategies see the same failures."</p>
    }
    .into_any()
}

fn heat_markup(heat: &scene::Heat) -> String {
    let mut out = String::from("<table><thead><tr><th>save every, min</th>");
    let Some(first) = heat.rows.get(heat.rows.len() / 2) else {
        return String::new();
    };
    for cell in &first.cells {
        out.push_str("<th>");
        out.push_str(&fixed(cell.minutes, usize::from(cell.minutes < 10.0)));
        out.push_str("</th>");
    }
    out.push_str("</tr></thead><tbody>");
    for row in &heat.rows {
        out.push_str("<tr><th scope=row>");
        out.push_str(&escaped(&row.name));
        out.push_str("</th>");
        for (at, cell) in row.cells.iter().enumerate() {
            // Never so deep that ink on it would be hard to read.
            let shade = fixed(6.0 + 64.0 * cell.shade, 0);
            let class = if cell.best {
                "b"
            } else if cell.as_good {
                "eq"
            } else {
                ""
            };
            out.push_str(&format!(
                "<td class='{class}' style='--h:{shade}%' title='a save every {} min: {}'>",
                fixed(cell.minutes, 1),
                scene::with_error(&cell.value),
            ));
            if cell.value.runs > 0 {
                out.push_str(&fixed(100.0 * cell.value.mean, 1));
            }
            for (mark, minutes, place) in row.marks(at) {
                out.push_str(&format!(
                    "<i class={mark} style='left:{}%' title='{} min'>{mark}</i>",
                    fixed(100.0 * place, 0),
                    fixed(minutes, 1)
                ));
            }
            out.push_str("</td>");
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table>");
    out
}

/// The checkpoint map.
#[component]
pub fn HeatMap(lab: Lab) -> impl IntoView {
    let markup = move || {
        lab.tick.track();
        let strategy = lab.strategy();
        lab.board
            .with_value(|board| heat_markup(&scene::heat(board, strategy)))
    };
    view! {
        <div class="stheat tablebox" inner_html=markup></div>
        <p class="fignote">
            "Goodput in %, by minutes between saves (columns; those of the middle row where rows differ). Y: Young's formula, D: Daly's, S: best by simulation (top of a parabola through the best cell and its neighbours). Framed: best of its row; underlined: no worse on these seeds."
        </p>
    }
}

fn bar_markup(side: Option<&(String, Value)>, reach: f64, class: &str) -> String {
    let Some((label, value)) = side else {
        return String::from("<span class='tl'></span>");
    };
    let percent = |points: f64| (50.0 * points / reach.max(1e-12)).min(50.0);
    let share = percent(value.mean.abs());
    let from = if value.mean < 0.0 { 50.0 - share } else { 50.0 };
    // Two standard errors to either side, as in the words.
    let error = 2.0 * percent(2.0 * value.standard_error);
    format!(
        "<span class='tl'><b>{}</b> {}</span><span class='ta'><i class='{class}' style='left:{}%;width:{}%'></i><i class='e' style='left:{}%;width:{}%'></i></span>",
        escaped(label),
        scene::points(value),
        fixed(from, 2),
        fixed(share, 2),
        fixed(
            (if value.mean < 0.0 { from } else { from + share }) - error / 2.0,
            2
        ),
        fixed(error, 2),
    )
}

/// Assumptions, the heaviest first.
#[component]
pub fn Tornado(lab: Lab) -> impl IntoView {
    let markup = move || {
        lab.tick.track();
        let strategy = lab.strategy();
        let bars = lab.board.with_value(|board| tornado(board, strategy, None));
        let reach = bars.iter().map(Bar::room).fold(0.0, f64::max);
        let mut out = String::new();
        for bar in &bars {
            out.push_str("<div class='tr'><span class='tn'>");
            out.push_str(&escaped(&bar.name));
            out.push_str("</span>");
            out.push_str(&bar_markup(bar.low.as_ref(), reach, "lo"));
            out.push_str(&bar_markup(bar.high.as_ref(), reach, "hi"));
            out.push_str("</div>");
        }
        out
    };
    view! {
        <div class="sttor" style=move || ["--c:var(--sg-", lab.strategy().id(), ")"].concat() inner_html=markup></div>
        <p class="fignote">
            "Change of goodput in percentage points when one assumption moves and all else stays, on the same failures wherever those do not change; ± two standard errors of the paired difference."
        </p>
    }
}

/// The table of a question.
pub fn numbers(lab: Lab, question: Question) -> AnyView {
    if of_one(question) {
        return ().into_any();
    }
    let markup = move || {
        lab.tick.track();
        let days = lab
            .setup
            .with(|setup| setup.as_ref().map_or(15.0, |setup| setup.days));
        let (strategy, price) = (lab.strategy(), lab.price());
        let (columns, rows) = lab.board.with_value(|board| {
            let days = board.shortest_days().unwrap_or(days);
            scene::table(board, question, strategy, days, price)
        });
        let mut out = String::from("<table class='figtable'><thead><tr>");
        for (name, number) in &columns {
            out.push_str(if *number { "<th class=n>" } else { "<th>" });
            out.push_str(&escaped(name));
            out.push_str("</th>");
        }
        out.push_str("</tr></thead><tbody>");
        for row in &rows {
            out.push_str("<tr>");
            let whole = row.len() < columns.len();
            for (at, cell) in row.iter().enumerate() {
                if whole && at == 1 {
                    out.push_str(&format!("<td colspan={}>", columns.len() - 1));
                } else {
                    out.push_str(if at > 0 { "<td class=n>" } else { "<td>" });
                }
                out.push_str(&escaped(cell));
                out.push_str("</td>");
            }
            out.push_str("</tr>");
        }
        out.push_str("</tbody></table>");
        out
    };
    view! {
        <div class="tablebox" inner_html=markup></div>
        <p class="fignote">"± two standard errors. GPU-hours of one run, spare and failed GPUs included; lost: all that is not useful work."</p>
    }
    .into_any()
}
