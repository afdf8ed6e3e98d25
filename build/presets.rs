//! Systems, models and error bands as constants.

use crate::node::{Node, Wrong};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Generations of GPUs, as in the files and in the code.
const GENERATIONS: [&str; 4] = ["a100", "h100", "b200", "b300"];

fn put(code: &mut String, name: &str, value: impl std::fmt::Debug) {
    // Writing to a String cannot fail.
    let _ = write!(code, "{name}: {value:?}, ");
}

/// Every item of the list as a row of constants, with ids that differ.
fn rows(
    root: &Node<'_>,
    item: impl Fn(&Node<'_>, &mut String) -> Result<(), Wrong>,
) -> Result<String, Wrong> {
    let (items, mut ids) = (root.items()?, BTreeSet::new());
    let mut code = String::from("&[\n");
    for node in &items {
        let id = node.field("id")?;
        if !ids.insert(id.text()?) {
            return Err(id.wrong("an id of its own"));
        }
        code.push_str("Row { ");
        for name in ["id", "name", "source"] {
            put(&mut code, name, node.field(name)?.text()?);
        }
        item(node, &mut code)?;
        code.push_str("},\n");
    }
    code.push(']');
    Ok(code)
}

/// `systems.json`.
pub fn systems(root: Node<'_>) -> Result<String, Wrong> {
    const GPU: [&str; 6] = [
        "bf16_tflops",
        "hbm_gb",
        "hbm_tb_s",
        "nvlink_gb_s_bidir",
        "scaleout_gbit_s",
        "tdp_w",
    ];
    const MAYBE: [&str; 2] = ["fp8_tflops", "base_clock_mhz"];
    const SIZES: [&str; 3] = ["domain_size", "tray_gpus", "switch_trays"];
    let rows = rows(&root, |node, code| {
        node.only(&[&["id", "name", "source", "gpu"][..], &SIZES].concat())?;
        for name in SIZES {
            put(code, name, node.field(name)?.whole()?);
        }
        let gpu = node.field("gpu")?;
        gpu.only(&[&["name", "generation"][..], &GPU, &MAYBE].concat())?;
        put(code, "gpu", gpu.field("name")?.text()?);
        let generation = gpu.field("generation")?.word(&GENERATIONS)?;
        let names = ["A100", "H100", "B200", "B300"];
        let name = names.get(generation).unwrap_or(&"");
        code.push_str(&format!("generation: Generation::{name}, "));
        for name in GPU {
            put(code, name, gpu.field(name)?.real()?);
        }
        for name in MAYBE {
            let value = gpu.optional(name).map(|node| node.real()).transpose()?;
            put(code, name, value);
        }
        Ok(())
    })?;
    Ok(format!("pub(super) const ROWS: &[Row] = {rows};\n"))
}

/// `models.json`.
pub fn models(root: Node<'_>) -> Result<String, Wrong> {
    const SIZES: [&str; 7] = [
        "layers", "hidden", "ffn", "heads", "kv_heads", "vocab", "seq",
    ];
    let rows = rows(&root, |node, code| {
        let others = ["id", "name", "source", "gated", "published_parameters"];
        node.only(&[&others[..], &SIZES].concat())?;
        for name in SIZES {
            put(code, name, node.field(name)?.whole()?);
        }
        put(code, "gated", node.field("gated")?.flag()?);
        let published = node.optional("published_parameters");
        let published = published.map(|node| node.real()).transpose()?;
        put(code, "published_parameters", published);
        Ok(())
    })?;
    Ok(format!("pub(super) const ROWS: &[Row] = {rows};\n"))
}

/// `prediction_errors.json`.
pub fn bands(root: Node<'_>) -> Result<String, Wrong> {
    root.only(&["what", "unit", "source", "bands", "unseen"])?;
    let row = |node: &Node<'_>, unseen: bool| {
        node.only(&["class", "rows", "mean", "worst", "measured"])?;
        let mut code = String::from("Row { ");
        let class = if unseen {
            ""
        } else {
            node.field("class")?.text()?
        };
        put(&mut code, "class", class);
        put(&mut code, "rows", node.field("rows")?.whole()?);
        put(&mut code, "mean", node.field("mean")?.real()?);
        put(&mut code, "worst", node.field("worst")?.real()?);
        put(&mut code, "measured", node.field("measured")?.flag()?);
        code.push('}');
        Ok(code)
    };
    let known = root.field("bands")?.items()?;
    let known: Result<Vec<String>, Wrong> = known.iter().map(|node| row(node, false)).collect();
    Ok(format!(
        "const KNOWN: &[Row] = &[\n{}\n];\nconst UNSEEN: Row = {};\n",
        known?.join(",\n"),
        row(&root.field("unseen")?, true)?
    ))
}
