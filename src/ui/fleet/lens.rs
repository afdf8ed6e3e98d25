//! What the pointer shows: a domain in small, a GPU in words. Markup as text: it is made anew at every move.

use crate::core::fleet::recording::Look;
use crate::core::strategy::GpuState;
use crate::scene::fleet::grid::{Rect, Tiles};
use crate::scene::fleet::{pace, words};
use crate::scene::side::number::{count, fixed};
use crate::work::fleet::{Detail, Head};

/// The legend under the map.
pub const LEGEND: &str = concat!(
    "<span><i class='fc healthy'></i>healthy</span>",
    "<span><i class='fc reduced'></i>reduced TP</span>",
    "<span><i class='fc boosted'></i>reduced TP, boosted</span>",
    "<span><i class='fc healed'></i>spare GPUs stand in</span>",
    "<span><i class='fc idle'><svg viewBox='0 0 10 10'><use href='#g-pause'/></svg></i>idle</span>",
    "<span><i class='fc spare'><svg viewBox='0 0 10 10'><use href='#g-ring'/></svg></i>spare</span>",
    "<span><i class='fx'><svg viewBox='0 0 10 10'><use href='#g-x'/></svg></i>failed GPU</span>",
    "<span><i class='fx'><svg viewBox='0 0 10 10'><use href='#g-ring'/></svg></i>restarting GPU</span>",
    "<span><i class='fc peer'></i>same replica</span>",
);

/// A ring over the canvas.
pub fn ring(out: &mut String, class: &str, rect: &Rect) {
    out.push_str("<i class='");
    out.push_str(class);
    for (name, value) in [
        ("' style='left:", rect.x - 2.0),
        ("px;top:", rect.y - 2.0),
        ("px;width:", rect.w + 4.0),
        ("px;height:", rect.h + 4.0),
    ] {
        out.push_str(name);
        out.push_str(&px(value));
    }
    out.push_str("px'></i>");
}

/// One decimal, with a plain minus sign and no commas.
fn px(value: f64) -> String {
    fixed(value, 1).replace('−', "-").replace(',', "")
}

fn back(detail: Option<&Detail>) -> String {
    let Some(detail) = detail.filter(|detail| !detail.back.is_empty()) else {
        return String::new();
    };
    let mut hours: Vec<f64> = detail.back.iter().map(|(_, hours, _)| *hours).collect();
    hours.sort_by(f64::total_cmp);
    hours.dedup();
    let mut text: Vec<String> = hours
        .iter()
        .take(3)
        .map(|hours| pace::span(*hours))
        .collect();
    if hours.len() > 3 {
        text.push("…".to_owned());
    }
    ["<div class='m'>back in<br>", &text.join(", "), "</div>"].concat()
}

/// A domain: its GPUs in small, what it does, what its GPUs do.
pub fn domain(
    domain: u32,
    head: &Head,
    look: &Look,
    tiles: &Tiles,
    detail: Option<&Detail>,
) -> String {
    let mut out = String::from("<div class='fl1'><b>Domain ");
    out.push_str(&count(u64::from(domain)));
    out.push_str("</b><span class='m'>");
    out.push_str(words::cell(look));
    out.push_str("</span></div><div class='m'>");
    match detail.and_then(|detail| Some((detail, detail.place?))) {
        Some((detail, (replica, stage))) => {
            out.push_str(
                &[
                    "replica ",
                    &replica.to_string(),
                    ", stage ",
                    &stage.to_string(),
                ]
                .concat(),
            );
            if detail.peers.len() > 1 {
                let others = detail.peers.len() - 1;
                out.push_str(&if others == 1 {
                    ", with the dashed one".to_owned()
                } else {
                    [", with the ", &others.to_string(), " dashed ones"].concat()
                });
            }
        }
        None => out.push_str("&nbsp;"),
    }
    let high = if tiles.rows > 6 { 132.0 } else { 44.0 };
    let square = Rect {
        x: 0.0,
        y: 0.0,
        w: 84.0,
        h: high,
    };
    out.push_str("</div><div class='fl2'><svg width='84' height='");
    out.push_str(&px(high));
    out.push_str("' aria-hidden='true'>");
    let mut gpu = 0;
    for (state, count) in &look.runs {
        for _ in 0..*count {
            let tile = tiles.tile(&square, gpu);
            out.push_str("<rect class='");
            out.push_str(state.id());
            for (name, value) in [
                ("' x='", tile.x),
                ("' y='", tile.y),
                ("' width='", tile.w),
                ("' height='", tile.h),
            ] {
                out.push_str(name);
                out.push_str(&px(value));
            }
            out.push_str("'/>");
            gpu += 1;
        }
    }
    out.push_str("</svg><div>");
    for (at, line) in words::gpu_lines(look).into_iter().enumerate() {
        let (open, close) = if at == 0 {
            ("<div><b>", "</b></div>")
        } else {
            ("<div>", "</div>")
        };
        out.push_str(&[open, &line, close].concat());
    }
    if let Some(detail) = detail {
        if detail.degree > 0 {
            let text = [
                "<div>TP <b>",
                &detail.degree.to_string(),
                "</b> of ",
                &head.tp.to_string(),
                "</div>",
            ];
            out.push_str(&text.concat());
        }
        if let Some(clock) = detail.clock_mhz.filter(|_| detail.boost_p > 1.0) {
            out.push_str(&["<div>", &fixed(clock, 0), " MHz</div>"].concat());
        }
        out.push_str(&back(Some(detail)));
    }
    out.push_str("</div></div><b>Click to open</b>");
    out
}

/// A GPU in words.
pub fn gpu(domain: u32, gpu: u32, look: &Look, detail: Option<&Detail>) -> String {
    let state = look.gpu(gpu);
    let mut out = [
        "<b>D",
        &domain.to_string(),
        " GPU ",
        &gpu.to_string(),
        "</b> ",
        state.words(),
    ]
    .concat();
    let own = detail.and_then(|detail| detail.back.iter().find(|(own, ..)| u32::from(*own) == gpu));
    if let Some((_, hours, _)) = own {
        out.push_str(&[", back in ", &pace::span(*hours)].concat());
    }
    if let Some(detail) = detail
        && let Some((replica, stage)) = detail.place
    {
        let place = [
            "<br><span class='q'>replica ",
            &replica.to_string(),
            ", stage ",
            &stage.to_string(),
            ", TP ",
            &detail.degree.to_string(),
            "</span>",
        ];
        out.push_str(&place.concat());
    }
    out.push_str(match state {
        GpuState::Failed | GpuState::Restarting => "<br><b>Click to repair</b>",
        _ => "<br><b>Click to fail</b>",
    });
    out
}
