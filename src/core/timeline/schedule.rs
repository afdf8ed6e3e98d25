//! Pipeline schedules: the order in which each stage runs its forward and backward blocks.
//!
//! One block is one pass of one micro-batch through one chunk of layers of one stage. With one chunk the order is 1F1B
//! (arXiv 2104.04473, figure 4 top): stage `s` runs `stages - 1 - s` forwards ahead, then alternates. With `v` chunks it is
//! the interleaved order of the same paper: micro-batches go through all chunks in rounds of at least `stages`, and
//! stage `s` runs `2 (stages - 1 - s) + (v - 1) x round` forwards ahead.

use super::engine::{Graph, OpId, Time};
use super::{MAX_OPERATIONS, TimelineError};
use crate::core::hardware::FieldError;
use crate::core::units::Nanos;

/// Direction of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Activations, towards the last stage.
    Forward,
    /// Gradients, towards the first stage.
    Backward,
}

/// One pass of one micro-batch through one chunk of one stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Direction.
    pub pass: Pass,
    /// Chunk of layers on its stage, from 0.
    pub chunk: u32,
    /// Micro-batch, from 0.
    pub microbatch: u32,
}

/// The order of all blocks of one replica's step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Pipeline stages.
    pub stages: u32,
    /// Micro-batches per step.
    pub microbatches: u32,
    /// Chunks per stage.
    pub chunks: u32,
    blocks: Vec<Block>,
}

/// Sizes of the rounds in which micro-batches visit all chunks: near equal, none below `stages` unless there are fewer.
fn rounds(stages: u32, microbatches: u32) -> impl Iterator<Item = std::ops::Range<u32>> {
    let count = (microbatches / stages).max(1);
    let (size, longer) = (microbatches / count, microbatches % count);
    (0..count).map(move |round| {
        let start = round * size + round.min(longer);
        start..start + size + u32::from(round < longer)
    })
}

impl Schedule {
    /// 1F1B for one chunk per stage, its interleaved form for more. The three counts must be at least 1, and the
    /// `2 x stages x chunks x microbatches` blocks at most [`MAX_OPERATIONS`].
    pub fn one_f_one_b(stages: u32, microbatches: u32, chunks: u32) -> Result<Self, TimelineError> {
        let needed = Self::check(stages, microbatches, chunks)?;
        let per_stage = (chunks * microbatches) as usize;
        let mut forward = Vec::with_capacity(per_stage);
        let mut backward = Vec::with_capacity(per_stage);
        for round in rounds(stages, microbatches) {
            for step in 0..chunks {
                for microbatch in round.clone() {
                    forward.push(Block {
                        pass: Pass::Forward,
                        chunk: step,
                        microbatch,
                    });
                    backward.push(Block {
                        pass: Pass::Backward,
                        chunk: chunks - 1 - step,
                        microbatch,
                    });
                }
            }
        }
        let longest_round = rounds(stages, microbatches)
            .map(|round| round.len())
            .max()
            .unwrap_or(0);
        let mut blocks = Vec::with_capacity(needed as usize);
        for stage in 0..stages {
            let behind = (stages - 1 - stage) as usize;
            let ahead = if chunks == 1 {
                behind
            } else {
                2 * behind + (chunks as usize - 1) * longest_round
            };
            let ahead = ahead.min(per_stage);
            let (warm_up, steady) = forward.split_at(ahead);
            blocks.extend_from_slice(warm_up);
            for (f, b) in steady.iter().zip(&backward) {
                blocks.push(*f);
                blocks.push(*b);
            }
            blocks.extend(backward.iter().skip(steady.len()));
        }
        Ok(Self {
            stages,
            microbatches,
            chunks,
            blocks,
        })
    }

    /// The number of blocks, or why there is no such schedule.
    pub fn check(stages: u32, microbatches: u32, chunks: u32) -> Result<u64, TimelineError> {
        let counts = [
            ("layout.pp", stages),
            ("timeline.microbatches", microbatches),
            ("layout.vp", chunks),
        ];
        if let Some((field, value)) = counts.into_iter().find(|(_, value)| *value == 0) {
            return Err(FieldError::new(field, value, "at least 1").into());
        }
        let blocks = u64::from(stages)
            .saturating_mul(u64::from(microbatches))
            .saturating_mul(u64::from(chunks));
        let needed = blocks.saturating_mul(2);
        if needed > MAX_OPERATIONS {
            Err(TimelineError::TooMany { needed })
        } else {
            Ok(needed)
        }
    }

    /// Blocks of all stages.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Never true: every count is at least 1.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Blocks of one stage, in the order it runs them; empty past the last stage.
    pub fn stage(&self, stage: u32) -> &[Block] {
        let per_stage = 2 * (self.chunks * self.microbatches) as usize;
        self.blocks
            .chunks_exact(per_stage)
            .nth(stage as usize)
            .unwrap_or(&[])
    }

    /// A dense number of a block, below [`Schedule::len`].
    pub fn index(&self, stage: u32, block: Block) -> usize {
        let pass = match block.pass {
            Pass::Forward => 0,
            Pass::Backward => 1,
        };
        (((stage * 2 + pass) * self.chunks + block.chunk) * self.microbatches + block.microbatch)
            as usize
    }

    /// The stage and block whose output a block needs; none for the first chunk's forward on the first stage. The last
    /// chunk's backward on the last stage needs its own forward.
    pub fn input(&self, stage: u32, block: Block) -> Option<(u32, Block)> {
        let last = self.stages - 1;
        match block.pass {
            Pass::Forward if stage > 0 => Some((stage - 1, block)),
            Pass::Forward => Some((
                last,
                Block {
                    chunk: block.chunk.checked_sub(1)?,
                    ..block
                },
            )),
            Pass::Backward if stage < last => Some((stage + 1, block)),
            Pass::Backward if block.chunk + 1 < self.chunks => Some((
                0,
                Block {
                    chunk: block.chunk + 1,
                    ..block
                },
            )),
            Pass::Backward => Some((
                stage,
                Block {
                    pass: Pass::Forward,
                    ..block
                },
            )),
        }
    }

    /// Runs the schedule with one duration per forward and per backward block and free transfers. Blocks come stage by
    /// stage in the order they run.
    pub fn simulate(&self, forward: Nanos, backward: Nanos) -> Result<Vec<Time>, TimelineError> {
        let mut graph = Graph::with_capacity(self.len());
        let mut ids = vec![OpId(0); self.len()];
        for stage in 0..self.stages {
            let stream = graph.stream();
            for &block in self.stage(stage) {
                let work = match block.pass {
                    Pass::Forward => forward,
                    Pass::Backward => backward,
                };
                if let Some(slot) = ids.get_mut(self.index(stage, block)) {
                    *slot = graph.push(stream, work.0);
                }
            }
        }
        for stage in 0..self.stages {
            for &block in self.stage(stage) {
                let Some((from, input)) = self.input(stage, block) else {
                    continue;
                };
                if let (Some(&before), Some(&after)) = (
                    ids.get(self.index(from, input)),
                    ids.get(self.index(stage, block)),
                ) {
                    graph.after(before, after);
                }
            }
        }
        graph.run()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn makespan(stages: u32, microbatches: u32, chunks: u32, f: u64, b: u64) -> u64 {
        let schedule = Schedule::one_f_one_b(stages, microbatches, chunks).unwrap();
        let times = schedule.simulate(Nanos(f), Nanos(b)).unwrap();
        times.iter().map(|time| time.end.0).max().unwrap()
    }

    #[test]
    fn one_f_one_b_takes_the_published_time() {
        // F = 1, B = 2: (microbatches + stages - 1) x 3.
        assert_eq!(makespan(4, 8, 1, 10, 20), 330);
        assert_eq!(makespan(8, 64, 1, 10, 20), 2130);
        assert_eq!(makespan(16, 128, 1, 10, 20), 4290);
        assert_eq!(makespan(1, 5, 1, 10, 20), 150);
    }

    #[test]
    fn interleaving_divides_the_bubble_by_the_chunks() {
        for (stages, microbatches) in [(4, 8), (4, 16), (8, 64)] {
            let work = u64::from(microbatches) * 36;
            for chunks in [1, 2, 3, 4] {
                let span = makespan(
                    stages,
                    microbatches,
                    chunks,
                    12 / u64::from(chunks),
                    24 / u64::from(chunks),
                );
                assert_eq!(
                    span - work,
                    u64::from(stages - 1) * 36 / u64::from(chunks),
                    "{stages} x {microbatches}, v {chunks}"
                );
            }
        }
    }

    #[test]
    fn the_first_stage_of_four_runs_three_forwards_ahead() {
        let schedule = Schedule::one_f_one_b(4, 8, 1).unwrap();
        let word: String = schedule
            .stage(0)
            .iter()
            .map(|block| {
                if block.pass == Pass::Forward {
                    'F'
                } else {
                    'B'
                }
            })
            .collect();
        assert_eq!(word, "FFFFBFBFBFBFBBBB");
        assert!(schedule.stage(4).is_empty());
    }

    #[test]
    fn zero_of_anything_and_too_many_blocks_are_named() {
        let error = Schedule::one_f_one_b(0, 1, 1).unwrap_err().to_string();
        assert_eq!(error, "layout.pp: 0 is not allowed, expected at least 1");
        let error = Schedule::one_f_one_b(u32::MAX, u32::MAX, u32::MAX)
            .unwrap_err()
            .to_string();
        assert!(error.contains("1000000"), "{error}");
    }

    proptest! {
        #[test]
        fn every_block_runs_once_and_nothing_locks_up(stages in 1_u32..9, microbatches in 1_u32..30, chunks in 1_u32..6) {
            let schedule = Schedule::one_f_one_b(stages, microbatches, chunks).unwrap();
            let mut seen = vec![0_u32; schedule.len()];
            for stage in 0..stages {
                for &block in schedule.stage(stage) {
                    seen[schedule.index(stage, block)] += 1;
                }
            }
            prop_assert!(seen.iter().all(|&count| count == 1));
            let times = schedule.simulate(Nanos(7), Nanos(15)).unwrap();
            let span = times.iter().map(|time| time.end.0).max().unwrap();
            let work = u64::from(microbatches * chunks) * 22;
            prop_assert!(span >= work);
            // Never worse than running one micro-batch after another.
            prop_assert!(span <= work * u64::from(stages));
        }
    }
}
