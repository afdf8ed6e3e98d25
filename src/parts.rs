//! What the page's program is linked of: the racks, and with the feature `split` two more programs that are fetched when
//! something in them is first wanted. `scripts/split/wasm-bindgen` takes them out of the linked program.

use js_sys::Promise;
use leptos::task::spawn_local;
use ntp_explorer::ui::bench::Work;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

#[cfg(not(feature = "split"))]
pub const PROGRAMS: ntp_explorer::ui::later::Programs =
    ntp_explorer::ui::later::Programs::at_hand();
#[cfg(feature = "split")]
pub use split::PROGRAMS;

#[cfg(feature = "split")]
#[allow(clippy::unnecessary_wraps)] // what can fail is fetching, which the attribute adds
mod split {
    use leptos::wasm_split::{SplitLoaderError, wasm_split};
    use ntp_explorer::core::scenario::{Scenario, ScenarioError};
    use ntp_explorer::ui::bench::{self, Work};
    use ntp_explorer::ui::later::{self, Make, Part, Programs};

    pub const PROGRAMS: Programs = Programs {
        part: |part| {
            Box::pin(async move {
                let make = match part {
                    Part::Step => step(part).await,
                    _ => more(part).await,
                };
                make.ok()
            })
        },
        timed: |work| Box::pin(async move { timed(work).await.ok() }),
        read_file: |text| Box::pin(async move { read_file(text).await.ok() }),
    };

    #[wasm_split(step, wasm_split_path = ::leptos::wasm_split, fallible)]
    fn step(part: Part) -> Result<Make, SplitLoaderError> {
        Ok(later::step(part))
    }

    #[wasm_split(step, wasm_split_path = ::leptos::wasm_split, fallible)]
    fn timed(work: Work) -> Result<f64, SplitLoaderError> {
        Ok(bench::timed(work))
    }

    #[wasm_split(more, wasm_split_path = ::leptos::wasm_split, fallible)]
    fn more(part: Part) -> Result<Make, SplitLoaderError> {
        Ok(later::more(part))
    }

    #[wasm_split(more, wasm_split_path = ::leptos::wasm_split, fallible)]
    fn read_file(text: String) -> Result<Result<Scenario, ScenarioError>, SplitLoaderError> {
        Ok(Scenario::from_json(&text))
    }
}

/// Step evaluations a second in this browser, measured over about `seconds`.
#[wasm_bindgen]
pub fn bench_steps(seconds: f64) -> Promise {
    promised(Work::Steps(seconds))
}

/// Milliseconds that the step panel's simulation takes in this browser, the mean of `runs`.
#[wasm_bindgen]
pub fn bench_timeline(runs: u32) -> Promise {
    promised(Work::Timelines(runs))
}

/// What the work is measured at; 0 where its program could not be fetched.
fn promised(work: Work) -> Promise {
    Promise::new(&mut |answer, _| {
        spawn_local(async move {
            let value = (PROGRAMS.timed)(work).await.unwrap_or_default();
            // Calling a promise's own function cannot fail.
            let _ = answer.call1(&JsValue::NULL, &JsValue::from_f64(value));
        });
    })
}
