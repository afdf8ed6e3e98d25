//! GPU-hours of a run, and what they cost at the user's price.

use serde::Serialize;

/// GPU-hours and their cost, in the currency of the price.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Bill {
    /// GPU-hours held, spare and failed ones included.
    pub gpu_h: f64,
    /// Of those, lost to failures and what is done against them: 1 - goodput.
    pub lost_gpu_h: f64,
    /// What all of them cost.
    pub cost: f64,
    /// What the lost ones cost.
    pub lost_cost: f64,
    /// Cost of one GPU-hour of useful work; none when no work is done.
    pub cost_per_useful_gpu_h: Option<f64>,
}

impl Bill {
    /// For `gpus` held over `days` at a goodput, with the price of one GPU-hour.
    pub fn new(gpus: u64, days: f64, goodput: f64, price_per_gpu_h: f64) -> Self {
        let gpu_h = gpus as f64 * days * 24.0;
        let lost_gpu_h = gpu_h * (1.0 - goodput);
        Self {
            gpu_h,
            lost_gpu_h,
            cost: gpu_h * price_per_gpu_h,
            lost_cost: lost_gpu_h * price_per_gpu_h,
            cost_per_useful_gpu_h: (goodput > 0.0).then(|| price_per_gpu_h / goodput),
        }
    }
}
