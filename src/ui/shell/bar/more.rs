//! The settings that the bar has no room for.

use super::slider::Slider;
use super::{Pop, Seg, Whole, tell};
use crate::core::hardware::Precision;
use crate::core::scenario::{HeadSplit, Recompute};
use crate::ui::later::{Later, Part};
use crate::ui::state::use_app;
use leptos::prelude::*;

/// Spares, power, heads, and how a step is computed.
#[component]
pub fn More() -> impl IntoView {
    let face = move || {
        view! {
            "More"
            <svg class="cv" viewBox="0 0 8 8" aria-hidden="true">
                <use href="#i-cv" />
            </svg>
        }
    };
    view! {
        <Pop face name="More settings" panel="moreset" part=Part::Settings>
            <Later part=Part::Settings />
        </Pop>
    }
}

/// The same, without the button.
#[component]
pub fn MoreFields() -> impl IntoView {
    let app = use_app();
    let heads = app.part(|s| s.policy.heads);
    let fixed = app.part(|s| s.policy.fixed_minibatch);
    let precision = app.part(|s| s.layout.precision);
    let recompute = app.part(|s| s.layout.recompute);
    let refused = RwSignal::new(None::<String>);
    let yes_no = Signal::stored(vec![(false, "no".to_owned()), (true, "yes".to_owned())]);
    view! {
        <h3>"Spares"</h3>
        <Whole
            label="Spare domains"
            field="policy.spare_domains"
            title="Domains that every strategy which can use them has"
            read=|s| s.policy.spare_domains
            write=|s, value| s.policy.spare_domains = value
            least=0
        />
        <Whole
            label="Hot spares"
            field="policy.hot_spare_domains"
            title="Domains that hot-spares alone holds, beyond the spare domains"
            read=|s| s.policy.hot_spare_domains
            write=|s, value| s.policy.hot_spare_domains = value
            least=0
        />
        <Whole
            label="Held back per domain"
            field="policy.in_domain_spares"
            title="GPUs of every domain that in-domain-spares holds back"
            read=|s| s.policy.in_domain_spares
            write=|s, value| s.policy.in_domain_spares = value
            least=0
        />
        <h3>"Rules"</h3>
        <Slider
            label="Rack headroom"
            field="policy.rack_headroom"
            title="Power the rack can deliver and cool, x TDP of all its GPUs"
            read=|s| s.policy.rack_headroom
            write=|s, value| s.policy.rack_headroom = value
        />
        <Seg
            label="Heads"
            title="Whole: a head is never split, the largest rank sets the pace. Even: idealised, as the paper's numbers look"
            options=Signal::stored(
                vec![(HeadSplit::Whole, "whole".to_owned()), (HeadSplit::Even, "even".to_owned())],
            )
            value=heads
            pick=Callback::new(move |heads| app.edit(|s| s.policy.heads = heads))
        />
        <Seg
            label="Fixed mini-batch"
            title="Pause rather than train on a smaller mini-batch"
            options=yes_no
            value=fixed
            pick=Callback::new(move |fixed| app.edit(|s| s.policy.fixed_minibatch = fixed))
        />
        <h3>"Step"</h3>
        <Seg
            label="Precision"
            options=Signal::stored(vec![(Precision::Bf16, "bf16".to_owned()), (Precision::Fp8, "fp8".to_owned())])
            value=precision
            pick=Callback::new(move |precision| {
                let told = tell(app.try_edit(|s| s.layout.precision = precision), "layout.precision");
                refused.set(told.err());
            })
        />
        <Show when=move || refused.read().is_some()>
            <p class="err here" role="alert">
                {move || refused.get()}
            </p>
        </Show>
        <Whole
            label="Sequence, tokens"
            field="layout.seq"
            read=|s| s.layout.seq
            write=|s, value| s.layout.seq = value
            step=|_| 1024
            wide=true
        />
        <Whole
            label="Micro-batch"
            field="layout.microbatch"
            title="Sequences per micro-batch"
            read=|s| s.layout.microbatch
            write=|s, value| s.layout.microbatch = value
        />
        <Whole
            label="Chunks (VP)"
            field="layout.vp"
            title="Interleaved chunks per pipeline stage"
            read=|s| s.layout.vp
            write=|s, value| s.layout.vp = value
        />
        <Whole
            label="Context parallel"
            field="layout.cp"
            read=|s| s.layout.cp
            write=|s, value| s.layout.cp = value
        />
        <Seg
            label="Recompute"
            options=Signal::stored(
                vec![
                    (Recompute::None, "none".to_owned()),
                    (Recompute::Selective, "selective".to_owned()),
                    (Recompute::Full, "full".to_owned()),
                ],
            )
            value=recompute
            pick=Callback::new(move |recompute| app.edit(|s| s.layout.recompute = recompute))
        />
    }
}
