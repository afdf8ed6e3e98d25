//! Tables of the data that the numbers come from.

use crate::core::hardware::systems;
use crate::core::validation::bands;
use crate::core::workload::models;
use crate::scene::side::number::{count, fixed, percent};
use crate::ui::dom::columns;
use leptos::prelude::*;

/// Error of the step time by class of published runs.
#[component]
pub fn Errors() -> impl IntoView {
    view! {
        <div class="wide">
            <table>
                <caption>"Predicted against published step time"</caption>
                <thead>
                    <tr>{columns(&["GPU, precision", "published runs", "mean error", "worst"])}</tr>
                </thead>
                <tbody>
                    {bands()
                        .iter()
                        .map(|band| {
                            view! {
                                <tr>
                                    <th scope="row">{band.class.clone()}</th>
                                    <td>{count(band.rows as u64)}</td>
                                    <td>{percent(band.mean, 1)}</td>
                                    <td>{percent(band.worst, 0)}</td>
                                </tr>
                            }
                        })
                        .collect_view()}
                </tbody>
            </table>
        </div>
    }
}

/// Every preset system with its source.
#[component]
pub fn Systems() -> impl IntoView {
    view! {
        <div class="wide">
            <table>
                <thead>
                    <tr>
                        {columns(&[
                            "system", "GPUs per domain", "bf16, TFLOP/s", "fp8, TFLOP/s", "HBM, GB", "HBM, TB/s",
                            "NVLink, GB/s both ways", "scale-out, Gbit/s", "TDP, W", "clock, MHz",
                        ])}
                    </tr>
                </thead>
                <tbody>
                    {systems()
                        .iter()
                        .map(|system| {
                            let gpu = &system.gpu;
                            let some = |value: Option<f64>| value.map_or_else(|| "not published".into(), |value| fixed(value, 0));
                            view! {
                                <tr>
                                    <th scope="row">
                                        {system.name.clone()} <br />
                                        <code>{system.id.clone()}</code>
                                    </th>
                                    <td>{count(u64::from(system.domain_size))}</td>
                                    <td>{fixed(gpu.bf16_tflops, 0)}</td>
                                    <td>{gpu.fp8_tflops.map_or_else(|| "none".into(), |value| fixed(value, 0))}</td>
                                    <td>{fixed(gpu.hbm_gb, 0)}</td>
                                    <td>{fixed(gpu.hbm_tb_s, 2)}</td>
                                    <td>{fixed(gpu.nvlink_gb_s_bidir, 0)}</td>
                                    <td>{fixed(gpu.scaleout_gbit_s, 0)}</td>
                                    <td>{fixed(gpu.tdp_w, 0)}</td>
                                    <td>{some(gpu.base_clock_mhz)}</td>
                                </tr>
                                <tr class="src">
                                    <td colspan="10">{system.source.clone()}</td>
                                </tr>
                            }
                        })
                        .collect_view()}
                </tbody>
            </table>
        </div>
    }
}

/// Every preset model with its source.
#[component]
pub fn Models() -> impl IntoView {
    view! {
        <div class="wide">
            <table>
                <thead>
                    <tr>
                        {columns(&[
                            "model", "layers", "hidden", "FFN columns", "heads", "KV heads", "vocabulary",
                            "parameters, 10⁹", "published, 10⁹",
                        ])}
                    </tr>
                </thead>
                <tbody>
                    {models()
                        .iter()
                        .map(|model| {
                            let whole = |value: u32| count(u64::from(value));
                            view! {
                                <tr>
                                    <th scope="row">
                                        {model.name.clone()} <br />
                                        <code>{model.id.clone()}</code>
                                    </th>
                                    <td>{whole(model.layers)}</td>
                                    <td>{whole(model.hidden)}</td>
                                    <td>{whole(model.ffn)}</td>
                                    <td>{whole(model.heads)}</td>
                                    <td>{whole(model.kv_heads)}</td>
                                    <td>{whole(model.vocab)}</td>
                                    <td>{fixed(model.parameters() / 1e9, 1)}</td>
                                    <td>
                                        {model
                                            .published_parameters
                                            .map_or_else(String::new, |value| fixed(value / 1e9, 1))}
                                    </td>
                                </tr>
                                <tr class="src">
                                    <td colspan="9">{model.source.clone()}</td>
                                </tr>
                            }
                        })
                        .collect_view()}
                </tbody>
            </table>
        </div>
    }
}
