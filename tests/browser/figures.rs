//! The Figures page: figures made by the worker, and the jobs behind them.

use crate::rig::browse;
use crate::rig::page::Page;
use crate::rig::view::View;
use serde_json::json;

/// Opens the job of a figure, once the figure is made.
async fn open_job(page: &Page, id: &str, button: &str) {
    let find = format!(
        "[...document.querySelectorAll('#fig-{id} .figfacts button')].find(b => b.textContent.trim() === '{button}')"
    );
    page.until("a figure with its job", &find).await;
    page.script(&format!("({find}).click()"), json!([])).await;
}

#[test]
fn figures_come_from_the_worker_and_open_their_jobs() {
    browse("figures", View::DESKTOP, "#/figures?fig=3", async |page| {
        open_job(page, "3", "Open the job on the Rack page").await;
        // 0.1 % of 32,768 GPUs, in domains of 64.
        page.until(
            "the racks of Figure 3",
            "location.hash.startsWith('#/rack?') && location.hash.includes('sys.domain_size=64') \
             && document.querySelector('.side')?.textContent.includes('33 of 32,768 GPUs failed')",
        )
        .await;
        let worker = "performance.getEntriesByType('resource').some(entry => entry.name.includes('worker-start'))";
        assert_eq!(page.value(worker).await, json!(true));
        page.goto("#/figures?fig=4-nvl").await;
        open_job(page, "4-nvl", "Open the job on the Fleet page").await;
        page.until(
            "the fleet of NVL72",
            "location.hash.startsWith('#/fleet?') && document.querySelector('.fleet')",
        )
        .await;
        assert!(page.see_link().await.contains("sys=gb300-nvl72"));
    });
}
