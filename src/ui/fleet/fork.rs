//! Forks: what to do otherwise from the playhead on, and the flag where a run left another one.

use super::deck::use_deck;
use crate::core::units::Nanos;
use crate::scene::fleet::pace;
use crate::ui::shell::Pop;
use crate::work::fleet::Change;
use leptos::prelude::*;

/// Edits that are often asked about; each leaves the run at the playhead.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quick {
    Spares,
    Held,
    Checkpoint,
    Rate,
    Domain,
}

impl Quick {
    const ALL: [(Self, &'static str); 5] = [
        (Self::Spares, "8 more spare domains"),
        (Self::Held, "Hold back 2 more GPUs a domain"),
        (Self::Checkpoint, "Checkpoint twice as often"),
        (Self::Rate, "Twice the failure rate"),
        (Self::Domain, "A whole domain fails"),
    ];
}

/// A button that opens a list of edits.
#[component]
pub fn ForkHere() -> impl IntoView {
    let deck = use_deck();
    let open = RwSignal::new(false);
    let act = move |quick: Quick| {
        open.set(false);
        deck.playing.set(false);
        match quick {
            Quick::Spares => deck.app.edit(|s| s.policy.spare_domains += 8),
            Quick::Held => deck.app.edit(|s| s.policy.in_domain_spares += 2),
            Quick::Checkpoint | Quick::Rate => {
                let mut faults = deck.faults();
                let every = deck
                    .run
                    .with_untracked(|run| run.as_ref().map_or(30.0, |run| run.head.every_min));
                let rate = faults
                    .get("rate_multiplier")
                    .and_then(serde_json::Value::as_f64)
                    .unwrap_or(1.0);
                let (pointer, value) = if quick == Quick::Rate {
                    ("/rate_multiplier", rate * 2.0)
                } else {
                    ("/checkpoint/every_min", every / 2.0)
                };
                if let Some(slot) = faults.pointer_mut(pointer) {
                    *slot = value.into();
                }
                deck.set_faults(faults);
            }
            Quick::Domain => {
                // The first one that is whole: the middle of the fleet, so that it is seen.
                let Some((domains, size)) = deck.run.with_untracked(|run| {
                    run.as_ref()
                        .map(|run| (run.head.domains, run.head.domain_size))
                }) else {
                    return;
                };
                let domain = domains / 2;
                let change = Change::FailAll {
                    domain,
                    gpus: size as u16,
                };
                deck.fork(change, ["D", &domain.to_string(), " fails"].concat());
            }
        }
    };
    let face = || view! { "Fork here" };
    view! {
        <Pop face name="Fork here" class="tb line" panel="fforks" open>
            <p class="m">
                {move || {
                    if deck.calm.get() == Nanos::ZERO {
                        "At day 0 an edit starts the run anew. Later, the run forks at the playhead:".to_owned()
                    } else {
                        ["From day ", &pace::days(deck.calm.get()), " on, and compared with the run as it was:"].concat()
                    }
                }}
            </p>
            {Quick::ALL
                .map(|(quick, words)| {
                    view! {
                        <button class="tb" on:click=move |_| act(quick)>
                            {words}
                        </button>
                    }
                })
                .collect_view()}
            <p class="m">"Any setting above, and a click on a GPU of the map, forks too."</p>
        </Pop>
    }
}

/// The flag where the run left another one.
#[component]
pub fn Flag(
    /// Where it stands, px, and whether there is more room on its left; none without a fork.
    place: Signal<Option<(f64, bool)>>,
) -> impl IntoView {
    let deck = use_deck();
    let label = move || {
        deck.run
            .with(|run| {
                run.as_ref()
                    .and_then(|run| run.left.as_ref().map(|(_, label)| label.clone()))
            })
            .unwrap_or_default()
    };
    let back = move |event: web_sys::MouseEvent| {
        event.stop_propagation();
        if let Some(run) = deck.run.get_untracked()
            && let Some(original) = deck.original(&run)
        {
            // Settings go back with the run, without another fork.
            deck.back_to(&original);
        }
    };
    view! {
        {move || {
            place
                .get()
                .map(|(x, left)| {
                    view! {
                        <div class="fflag" class:left=left style=["left:", &crate::scene::side::number::fixed(x, 1).replace(',', ""), "px"].concat()>
                            <span>
                                "fork: " {label()}
                                <button class="tb" title="Show the run as it was" on:click=back>
                                    "Undo fork"
                                </button>
                            </span>
                        </div>
                    }
                })
        }}
    }
}
