//! Tracks and where they stand: groups of streams, pipelines below them, collapsed and pinned ones.

use super::commands::Rect;
use crate::core::timeline::{StepView, Stream, Timeline};

/// Width of the names at the left.
pub const LABELS: f64 = 196.0;
/// Width of the numbers at the right.
pub const RIGHT: f64 = 128.0;
/// Height of the strip that shows the whole step, with the funnel below it.
pub const STRIP: f64 = 26.0;
/// Height of the time axis.
const AXIS: f64 = 16.0;
/// Lane of the look, and how far it grows with the panel.
const LANE: (f64, f64) = (13.0, 28.0);
/// Between lanes: the room of the arrows.
const GAP: f64 = 5.0;
/// More between groups.
const GROUP_GAP: f64 = 9.0;
/// Thinnest and thickest row of a pipeline's stage; without streams it grows as a lane does.
const STAGE: (f64, f64) = (5.0, 16.0);

/// Which views are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// Streams of one GPU a group.
    pub streams: bool,
    /// Blocks of every stage a group.
    pub pipeline: bool,
}

/// What the user did with a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupState {
    /// Only its first row is shown.
    pub collapsed: bool,
    /// It stays in place while the others scroll.
    pub pinned: bool,
}

/// What a row shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// One stream of the shown GPU; NVLink also holds the resharding, and either link the transfers between stages.
    Stream(Stream),
    /// Blocks of a stage, with its DP sync as a thin line below them.
    Stage(u32),
}

/// One row.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Position in the view's groups.
    pub group: usize,
    /// What it shows.
    pub kind: RowKind,
    /// Where.
    pub area: Rect,
    /// Whether it scrolls.
    pub pinned: bool,
    /// Positions of its lanes in the timeline's `streams` or `pipeline`, lowest first.
    pub lanes: Vec<usize>,
}

impl Row {
    /// Name at its left.
    pub fn name(&self) -> String {
        match self.kind {
            RowKind::Stream(stream) => stream.name().into(),
            RowKind::Stage(stage) => format!("stage {stage}"),
        }
    }
    /// Whether it shows a span.
    pub fn holds(&self, view: &StepView, spot: super::Spot) -> bool {
        let Some(group) = view.groups.get(spot.group) else {
            return false;
        };
        let lanes = self.lanes_of(view.timeline(group));
        self.group == spot.group
            && self
                .lanes
                .iter()
                .filter_map(|lane| lanes.get(*lane))
                .any(|lane| lane.spans.contains(&spot.span))
    }
    /// The timeline's lanes that it draws from.
    pub fn lanes_of<'a>(&self, timeline: &'a Timeline) -> &'a [crate::core::timeline::Lane] {
        match self.kind {
            RowKind::Stream(_) => &timeline.streams,
            RowKind::Stage(_) => &timeline.pipeline,
        }
    }
}

/// All rows and the boxes around them.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// Whole picture.
    pub width: f64,
    /// Whole picture.
    pub height: f64,
    /// Where spans are drawn: right of the names, left of the numbers, between strip and axis.
    pub plot: Rect,
    /// The strip of the whole step.
    pub strip: Rect,
    /// Top of the unpinned rows, below the pinned ones.
    pub scroll_top: f64,
    /// Rows, pinned ones first.
    pub rows: Vec<Row>,
    /// Boxes around each group's rows, by group; of no height when none of its rows is shown.
    pub groups: Vec<Rect>,
    /// Height that all unpinned rows need.
    pub content: f64,
    /// Whether names and numbers stand beside the lanes, or (on a narrow panel) only short names.
    pub wide: bool,
}

impl Layout {
    /// Height that the unpinned rows have.
    pub fn room(&self) -> f64 {
        (self.plot.bottom() - self.scroll_top).max(0.0)
    }
    /// Furthest that they scroll.
    pub fn scroll_end(&self) -> f64 {
        (self.content - self.room()).max(0.0)
    }
}

/// Rows of one group, top to bottom, with the factor that their height has of a lane's.
fn rows_of(
    timeline: &Timeline,
    replica: usize,
    mode: Mode,
    state: GroupState,
) -> Vec<(RowKind, Vec<usize>)> {
    let mut rows = Vec::new();
    if mode.streams {
        let lanes = |wanted: &[Stream]| -> Vec<usize> {
            wanted
                .iter()
                .filter_map(|stream| {
                    timeline
                        .streams
                        .iter()
                        .position(|l| l.replica == replica && l.stream == *stream)
                })
                .collect()
        };
        let (nvlink, scaleout): (&[Stream], &[Stream]) = if timeline.spec.pp_on_nvlink {
            (
                &[Stream::Pipeline, Stream::Reshard, Stream::NvLink],
                &[Stream::ScaleOut],
            )
        } else {
            (
                &[Stream::Reshard, Stream::NvLink],
                &[Stream::ScaleOut, Stream::Pipeline],
            )
        };
        rows.push((RowKind::Stream(Stream::Compute), lanes(&[Stream::Compute])));
        rows.push((RowKind::Stream(Stream::NvLink), lanes(nvlink)));
        rows.push((RowKind::Stream(Stream::ScaleOut), lanes(scaleout)));
    }
    if mode.pipeline {
        for stage in 0..timeline.spec.stages() {
            let lanes = timeline
                .pipeline
                .iter()
                .enumerate()
                .filter(|(_, lane)| lane.replica == replica && lane.stage == stage)
                .map(|(position, _)| position)
                .collect();
            rows.push((RowKind::Stage(stage), lanes));
        }
    }
    if state.collapsed {
        rows.truncate(1);
    }
    rows
}

/// Stacks the rows of all groups into a panel; unpinned ones are moved up by `scroll`.
pub fn layout(
    view: &StepView,
    mode: Mode,
    states: &[GroupState],
    width: f64,
    height: f64,
    scroll: f64,
) -> Layout {
    let wide = width >= 760.0;
    let (left, right) = if wide { (LABELS, RIGHT) } else { (64.0, 0.0) };
    let plot = Rect::new(
        left,
        STRIP,
        (width - left - right).max(16.0),
        (height - STRIP - AXIS).max(0.0),
    );
    let state = |group: usize| states.get(group).copied().unwrap_or_default();
    let groups: Vec<_> = view
        .groups
        .iter()
        .enumerate()
        .map(|(index, group)| rows_of(view.timeline(group), group.replica, mode, state(index)))
        .collect();
    let streams = groups
        .iter()
        .flatten()
        .filter(|(kind, _)| matches!(kind, RowKind::Stream(_)))
        .count() as f64;
    let stages = groups.iter().flatten().count() as f64 - streams;
    let between = groups.len().saturating_sub(1) as f64 * (GROUP_GAP - GAP);
    // Lanes take the height there is, between the look's and a comfortable one; stages give way first.
    let stage_gap = 2.0;
    let free = plot.h - between - streams * GAP - stages * stage_gap;
    let stage = if stages > 0.0 {
        ((free - streams * LANE.0) / stages)
            .clamp(STAGE.0, if streams > 0.0 { STAGE.1 } else { LANE.1 })
    } else {
        0.0
    };
    let lane = if streams > 0.0 {
        ((free - stages * stage) / streams).clamp(LANE.0, LANE.1)
    } else {
        LANE.0
    };
    let mut layout = Layout {
        width,
        height,
        plot,
        strip: Rect::new(plot.x, 2.0, plot.w, 16.0),
        scroll_top: plot.y,
        rows: Vec::new(),
        groups: vec![Rect::default(); groups.len()],
        content: 0.0,
        wide,
    };
    let mut pinned_end = plot.y;
    let mut end = 0.0;
    for pass in [true, false] {
        let mut y = if pass { plot.y } else { pinned_end - scroll };
        let top = y;
        for (index, rows) in groups
            .iter()
            .enumerate()
            .filter(|(index, _)| state(*index).pinned == pass)
        {
            let start = y;
            for (kind, lanes) in rows {
                let (h, gap) = match kind {
                    RowKind::Stream(_) => (lane, GAP),
                    RowKind::Stage(_) => (stage, stage_gap),
                };
                let area = Rect::new(plot.x, y, plot.w, h);
                layout.rows.push(Row {
                    group: index,
                    kind: *kind,
                    area,
                    pinned: pass,
                    lanes: lanes.clone(),
                });
                y += h + gap;
            }
            if let Some(group) = layout.groups.get_mut(index) {
                *group = Rect::new(0.0, start, width, y - start - GAP / 2.0);
            }
            y += GROUP_GAP - GAP;
        }
        if pass {
            pinned_end = y;
        } else {
            end = y - top;
        }
    }
    layout.scroll_top = pinned_end;
    layout.content = end;
    layout
}
