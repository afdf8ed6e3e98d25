//! The About page: what is computed, how far it is off, where the numbers come from, the file format.

mod data;
mod format;

use crate::core::cost::factors;
use data::{Errors, Models, Systems};
use format::{LinkFormat, ScenarioFormat};
use leptos::prelude::*;

/// The About page.
#[component]
pub fn AboutPage() -> impl IntoView {
    view! {
        <main class="about" id="main">
            <article>
                <section>
                    <h1>"What this shows"</h1>
                    <p>
                        "A large training job is split over GPUs in three ways: every layer over the GPUs of one NVLink domain (tensor parallelism, TP), the layers over pipeline stages (PP), and the batch over replicas (DP). When one GPU of a TP group dies, the whole group stops, and usually its replica with it. "
                        <b>"Nonuniform tensor parallelism"</b>
                        " lets the damaged group go on with the GPUs it has left: at a lower TP degree, with a smaller local batch ("
                        <code>"ntp"</code>") or with higher clocks on the survivors ("<code>"ntp-pw"</code>
                        "). This page fails GPUs and shows what six strategies make of it, on the same failures."
                    </p>
                    <p>
                        "The rules follow the paper "
                        <cite>"Nonuniform-Tensor-Parallelism: Mitigating GPU failure impact for Scaled-up LLM Training"</cite>
                        " (arXiv 2504.06095) and Megatron Core's nonuniform TP. Everything runs in this browser; nothing is sent anywhere."
                    </p>
                </section>
                <section>
                    <h2>"How far the numbers go"</h2>
                    <p>
                        "Cost model version "{factors::version()}", constants of "{factors::date()}"."
                    </p>
                    <ul>
                        <li>
                            "Step times are analytical: matrix multiplications by measured efficiency of their shape, memory-bound work by bandwidth, collectives by measured curves, pipeline bubble, overlap. They were fitted on published runs; the table below says how far off they are."
                        </li>
                        <li>
                            "A replica with one reduced or slow stage is timed as if all its stages were like it, in the pipeline's filling and draining too: pessimistic for many stages and few micro-batches."
                        </li>
                        <li>
                            "For B300 and GB300 no training run of this kind is published; their error is that of GPUs predicted without their own runs. Their base clock is not published either, so clocks are shown as a factor."
                        </li>
                        <li>
                            "Boosted GPUs follow one power-to-performance curve through two published points, up to 1.3 x TDP. Power multiplies compute only, never communication. What a rack can deliver and cool is your setting."
                        </li>
                        <li>
                            "Failures are independent but for their blast radius. Network congestion, slow-downs without a cause and data loading are not modelled. Restart time is not part of the Rack page's numbers, only of Fleet's."
                        </li>
                        <li>
                            "Where Megatron Core's shard map cannot hold a layout (128 heads at TP 70), the page shows its own balanced map and says why."
                        </li>
                    </ul>
                    <Errors />
                </section>
                <section>
                    <h2>"Hardware"</h2>
                    <Systems />
                </section>
                <section>
                    <h2>"Models"</h2>
                    <Models />
                </section>
                <section>
                    <h2>"Scenario files"</h2>
                    <ScenarioFormat />
                </section>
                <section>
                    <h2>"Links"</h2>
                    <LinkFormat />
                </section>
            </article>
        </main>
    }
}
