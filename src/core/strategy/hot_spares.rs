//! `hot-spares`: whole spare domains stand by.

use super::dp_drop::replace_then_drop;
use super::evaluator::Evaluator;
use super::pattern::Losses;
use super::plan::{Plan, Strategy};
use crate::core::scenario::Policy;

/// As `dp-drop`, with its own pool of spare domains on top of the common one.
pub(super) struct HotSpares;

impl Strategy for HotSpares {
    fn held_spare_domains(&self, policy: &Policy) -> u32 {
        policy
            .spare_domains
            .saturating_add(policy.hot_spare_domains)
    }
    fn plan(&self, evaluator: &Evaluator<'_>, losses: &Losses) -> Plan {
        replace_then_drop(evaluator, losses)
    }
}
