//! Several workers for work that splits.

use super::{Hand, Hear, cores};
use crate::work::Request;

/// As many workers as are needed, up to the number of cores.
pub struct Pool {
    hands: Vec<Hand>,
    most: usize,
}

/// One order of a pool.
pub struct Ticket {
    hand: Hand,
    id: u32,
}

impl Default for Pool {
    /// With no worker yet.
    fn default() -> Self {
        Self {
            hands: Vec::new(),
            most: cores(),
        }
    }
}

impl Pool {
    /// How many orders are done at once.
    pub fn width(&self) -> usize {
        self.most
    }

    /// Gives an order to an idle worker, to a new one while there may be more, else to the one with least to do.
    pub fn ask(&mut self, request: Request, hear: Hear) -> Ticket {
        let least = self.hands.iter().min_by_key(|hand| hand.open()).cloned();
        let hand = match least {
            Some(hand) if hand.open() == 0 || self.hands.len() >= self.most => hand,
            _ => {
                let hand = Hand::default();
                self.hands.push(hand.clone());
                hand
            }
        };
        let id = hand.ask(request, None, hear);
        Ticket { hand, id }
    }

    /// Ends all workers at once; nothing more is heard.
    pub fn kill(&mut self) {
        for hand in self.hands.drain(..) {
            hand.kill();
        }
    }
}

impl Ticket {
    /// Nothing more is heard about the order.
    pub fn stop(&self) {
        self.hand.stop(self.id);
    }
}
