//! What the page's program is linked of: the racks, and with the feature `split` three more programs that are fetched when
//! something in them is first wanted. `scripts/split/wasm-bindgen` takes them out of the linked program.

use js_sys::Promise;
use leptos::task::spawn_local;
use ntp_explorer::ui::bench::{self, Long, Work};
use ntp_explorer::ui::later::Coming;
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
    use js_sys::Promise;
    use leptos::wasm_split::{SplitLoaderError, wasm_split};
    use ntp_explorer::core::faults;
    use ntp_explorer::core::scenario::{Scenario, ScenarioError};
    use ntp_explorer::ui::bench::{self, Long, Work};
    use ntp_explorer::ui::later::{self, Make, Part, Program, Programs};

    pub const PROGRAMS: Programs = Programs {
        part: |part| {
            Box::pin(async move {
                let make = match part.program() {
                    Program::Step => step(part).await,
                    Program::Pages => pages(part).await,
                    Program::More => more(part).await,
                };
                make.ok()
            })
        },
        timed: |work| Box::pin(async move { timed(work).await.ok() }),
        asked: |long| Box::pin(async move { asked(long).await.ok() }),
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

    #[wasm_split(pages, wasm_split_path = ::leptos::wasm_split, fallible)]
    fn pages(part: Part) -> Result<Make, SplitLoaderError> {
        Ok(later::pages(part))
    }

    #[wasm_split(pages, wasm_split_path = ::leptos::wasm_split, fallible)]
    fn asked(long: Long) -> Result<Promise, SplitLoaderError> {
        Ok(bench::asked(long))
    }

    #[wasm_split(more, wasm_split_path = ::leptos::wasm_split, fallible)]
    fn more(part: Part) -> Result<Make, SplitLoaderError> {
        Ok(later::more(part))
    }

    // Beside the page that shows failure processes: a file may hold some.
    #[wasm_split(pages, wasm_split_path = ::leptos::wasm_split, fallible)]
    fn read_file(text: String) -> Result<Result<Scenario, ScenarioError>, SplitLoaderError> {
        Ok(faults::read_file(&text))
    }
}

/// Step evaluations a second in this browser, measured over about `seconds`.
#[wasm_bindgen]
pub fn bench_steps(seconds: f64) -> Promise {
    promised(&|| (PROGRAMS.timed)(Work::Steps(seconds)))
}

/// Milliseconds that the step panel's simulation takes in this browser, the mean of `runs`.
#[wasm_bindgen]
pub fn bench_timeline(runs: u32) -> Promise {
    promised(&|| (PROGRAMS.timed)(Work::Timelines(runs)))
}

/// 28-day runs of the 1,024-GPU study a second in a worker, over `runs` of them once it is warm; 0 where it fails.
#[wasm_bindgen]
pub fn bench_fleets(runs: u32) -> Promise {
    promised(&|| (PROGRAMS.asked)(Long::Fleets(runs)))
}

/// The digest of a fixed run as the worker computes it, or the line that says why not: the tests compare it with the native one.
#[wasm_bindgen]
pub fn golden_digest(seed: u32) -> Promise {
    promised(&|| (PROGRAMS.asked)(Long::Digest(seed)))
}

/// What comes; 0 where its program could not be fetched.
fn promised<T: Into<JsValue> + 'static>(coming: &dyn Fn() -> Coming<T>) -> Promise {
    Promise::new(&mut |answer, _| {
        let coming = coming();
        spawn_local(async move {
            let value = coming.await.map_or(JsValue::from_f64(0.0), Into::into);
            bench::tell(&answer, &value);
        });
    })
}
