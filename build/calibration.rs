//! Measured efficiencies and fitted constants as constants of the program.

use crate::node::{Node, Wrong};

/// GPUs with a kernel table of their own, in the order of the program's arrays.
const TABLES: [&str; 6] = ["a100", "h100", "b200", "gb200", "b300", "gb300"];
const GENERATIONS: [&str; 4] = ["a100", "h100", "b200", "b300"];
const PRECISIONS: [&str; 2] = ["bf16", "fp8"];
const COLLECTIVES: [&str; 4] = ["all-gather", "reduce-scatter", "all-reduce", "all-to-all"];
/// GPUs of the measured collectives.
const RANKS: [u32; 3] = [2, 4, 8];

/// Each constant that the model uses, by name.
const CONSTANTS: [&str; 17] = [
    "hbm_efficiency",
    "optimizer_hbm_efficiency",
    "host_forward_s",
    "tp_overlap_exposed",
    "backward_async_exposed",
    "softmax_bytes",
    "loss_bytes",
    "cast_bytes",
    "jitter_sigma",
    "traffic_contention",
    "reshard_contention",
    "scaleout_efficiency",
    "nvlink_dp_efficiency",
    "scaleout_latency_s",
    "send_latency_s",
    "bucket_parameters",
    "step_host_s",
];

/// A slot that is filled once.
fn fill<T>(slot: Option<&mut Option<T>>, node: &Node<'_>, value: T) -> Result<(), Wrong> {
    match slot {
        Some(slot @ None) => {
            *slot = Some(value);
            Ok(())
        }
        _ => Err(node.wrong("one entry of each kind")),
    }
}

/// Checks that a file says what it holds and from where.
fn described(root: &Node<'_>) -> Result<(), Wrong> {
    for name in ["what", "unit", "source", "date"] {
        root.field(name)?.text()?;
    }
    root.only(&["what", "unit", "source", "date", "tables"])
}

/// A constant's value, once it has a source and lies in its range.
fn value(node: &Node<'_>, range: &Node<'_>) -> Result<f64, Wrong> {
    node.field("source")?.text()?;
    let value = node.field("value")?;
    let number = value.real()?;
    let inside = |range: &Node<'_>| {
        let ends: Result<Vec<f64>, Wrong> = range.items()?.iter().map(Node::real).collect();
        match ends?[..] {
            [low, high] if low < high && (low..=high).contains(&number) => Ok(()),
            [low, high] if low < high => Err(value.wrong(&format!("{low} to {high}"))),
            _ => Err(range.wrong("its two ends")),
        }
    };
    inside(range)?;
    node.optional("fit").map_or(Ok(()), |fit| inside(&fit))?;
    Ok(number)
}

/// `step_model.json`: the program's `Constants`.
pub fn constants(root: Node<'_>) -> Result<String, Wrong> {
    root.only(&[
        "what",
        "version",
        "date",
        "training_factor",
        "attention_efficiency",
        "constants",
    ])?;
    let mut factors = [[None; TABLES.len()]; PRECISIONS.len()];
    let group = root.field("training_factor")?;
    group.field("unit")?.text()?;
    for node in group.field("values")?.items()? {
        let row = factors.get_mut(node.field("precision")?.word(&PRECISIONS)?);
        let table = node.field("gpu")?.word(&TABLES)?;
        let value = value(&node, &group.field("range")?)?;
        fill(row.and_then(|row| row.get_mut(table)), &node, value)?;
    }
    let mut attention = [None; GENERATIONS.len()];
    let group = root.field("attention_efficiency")?;
    group.field("unit")?.text()?;
    for node in group.field("values")?.items()? {
        let slot = attention.get_mut(node.field("gpu")?.word(&GENERATIONS)?);
        fill(slot, &node, value(&node, &group.field("range")?)?)?;
    }
    let attention = all(attention, &group.field("values")?)?;
    let mut named = [None; CONSTANTS.len()];
    let list = root.field("constants")?;
    for node in list.items()? {
        node.field("unit")?.text()?;
        let slot = named.get_mut(node.field("name")?.word(&CONSTANTS)?);
        fill(slot, &node, value(&node, &node.field("range")?)?)?;
    }
    let named: Vec<String> = CONSTANTS
        .iter()
        .zip(all(named, &list)?)
        .map(|(name, value)| format!("{name}: {value:?}"))
        .collect();
    let [bf16, fp8] = factors;
    Ok(format!(
        "const CONSTANTS: Constants = Constants {{ bf16_factor: {bf16:?}, fp8_factor: {fp8:?}, attention: {attention:?}, {} }};\n",
        named.join(", ")
    ))
}

/// `step_model.json`: its version and month.
pub fn version(root: Node<'_>) -> Result<String, Wrong> {
    let (version, date) = (root.field("version")?.whole()?, root.field("date")?.text()?);
    Ok(format!(
        "const VERSION: u32 = {version};\nconst DATE: &str = {date:?};\n"
    ))
}

/// What stands in slots that must all be filled.
fn all<T>(slots: impl IntoIterator<Item = Option<T>>, node: &Node<'_>) -> Result<Vec<T>, Wrong> {
    let found: Option<Vec<T>> = slots.into_iter().collect();
    found.ok_or_else(|| node.wrong("one entry of each kind"))
}

/// Keeps the first list of points and checks the others against it.
fn same(first: &mut Option<Vec<u32>>, node: &Node<'_>) -> Result<(), Wrong> {
    let points = node.multiples(1)?;
    if !points.is_sorted_by(|a, b| a < b) || points.first() == Some(&0) {
        return Err(node.wrong("points that rise from above 0"));
    }
    if *first.get_or_insert_with(|| points.clone()) == points {
        Ok(())
    } else {
        Err(node.wrong("the same points in every table"))
    }
}

/// Values at every point, as multiples of `1 / by`.
fn values(node: &Node<'_>, points: Option<&Vec<u32>>, by: u32) -> Result<Vec<u32>, Wrong> {
    let found = node.multiples(by)?;
    if points.map(Vec::len) != Some(found.len()) || found.contains(&0) {
        return Err(node.wrong("a value above 0 for every point"));
    }
    Ok(found)
}

/// `gemm_efficiency.json`: thousandths of peak by width.
pub fn gemm(root: Node<'_>) -> Result<String, Wrong> {
    described(&root)?;
    let mut slots: [[Option<Vec<u32>>; 2]; TABLES.len()] = Default::default();
    let mut width = None;
    for node in root.field("tables")?.items()? {
        same(&mut width, &node.field("width")?)?;
        let share = values(&node.field("fraction_of_peak")?, width.as_ref(), 1000)?;
        let table = slots.get_mut(node.field("gpu")?.word(&TABLES)?);
        let precision = node.field("precision")?.word(&PRECISIONS)?;
        fill(table.and_then(|by| by.get_mut(precision)), &node, share)?;
    }
    let width = width.unwrap_or_default();
    let slots = slots.map(|by| by.map(Option::unwrap_or_default).map(Slice));
    Ok(format!(
        "const WIDTHS: [u32; {}] = {width:?};\nconst THOUSANDTHS: [[&[u16]; 2]; TABLES] = {slots:?};\n",
        width.len()
    ))
}

/// A list written as a slice, so that a table nobody measured takes no room.
struct Slice(Vec<u32>);

impl std::fmt::Debug for Slice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "&{:?}", self.0)
    }
}

/// `nccl_time.json`: hundred-thousandths of a millisecond by bytes.
pub fn nccl(root: Node<'_>) -> Result<String, Wrong> {
    described(&root)?;
    let mut slots: [[[Option<Vec<u32>>; RANKS.len()]; COLLECTIVES.len()]; GENERATIONS.len()] =
        Default::default();
    let mut links = [None; GENERATIONS.len()];
    let mut sizes = None;
    let tables = root.field("tables")?;
    for node in tables.items()? {
        let generation = node.field("generation")?.word(&GENERATIONS)?;
        let nvlink = node.field("nvlink_gb_s_bidir")?;
        if let Some(link) = links.get_mut(generation)
            && *link.get_or_insert(nvlink.real()?) != nvlink.real()?
        {
            return Err(nvlink.wrong("the same in every table of a generation"));
        }
        let collective = node.field("collective")?.word(&COLLECTIVES)?;
        let gpus = node.field("gpus")?;
        let ranks = gpus.whole()?;
        let ranks = RANKS.iter().position(|known| *known == ranks);
        let ranks = ranks.ok_or_else(|| gpus.wrong("2, 4 or 8"))?;
        same(&mut sizes, &node.field("bytes")?)?;
        let time = values(&node.field("time_ms")?, sizes.as_ref(), 100_000)?;
        let by = slots
            .get_mut(generation)
            .and_then(|by| by.get_mut(collective));
        fill(by.and_then(|by| by.get_mut(ranks)), &node, time)?;
    }
    let sizes = sizes.unwrap_or_default();
    all(
        slots.iter().flatten().flatten().map(Option::as_ref),
        &tables,
    )?;
    let slots = slots.map(|by| by.map(|by| by.map(Option::unwrap_or_default)));
    Ok(format!(
        "const SIZES: [u32; {n}] = {sizes:?};\nconst NCCL_NVLINK: [f64; GENERATIONS] = {links:?};\n\
         const TIMES: [[[[u32; {n}]; 3]; 4]; GENERATIONS] = {slots:?};\n",
        n = sizes.len(),
        links = all(links, &tables)?,
    ))
}
