//! `wait`: checkpoint-restart without spares.

use super::evaluator::Evaluator;
use super::pattern::Losses;
use super::plan::{Plan, Strategy};
use crate::core::scenario::Policy;

/// Pauses until every GPU is back.
pub(super) struct Wait;

impl Strategy for Wait {
    fn held_spare_domains(&self, _: &Policy) -> u32 {
        0
    }
    fn plan(&self, evaluator: &Evaluator<'_>, losses: &Losses) -> Plan {
        Plan {
            paused: !losses.slots.is_empty(),
            ..Plan::whole(evaluator, losses)
        }
    }
}
