//! The discrete-event engine: operations on streams, dependencies, shared links, in integer nanoseconds.
//!
//! A *stream* runs its operations one at a time in the order they were pushed, as a CUDA stream does. An operation starts
//! when it heads its stream and everything it depends on has ended. Streams of one *link* that are busy together each
//! progress at 1/n; a stream that is *slowed by* another one loses a fraction of its rate while that one is busy.
//!
//! Work is counted in 2^-16 ns, so that a rate change in the middle of an operation loses nothing. Of two operations
//! that end at the same nanosecond the one of the lower stream goes first, which makes every run the same, natively and
//! in wasm. Everything lives in flat arrays: one entry an operation, one an edge.

use super::TimelineError;
use crate::core::units::Nanos;

/// No operation, no edge.
const NONE: u32 = u32::MAX;
/// Full rate, and work per nanosecond.
const FULL: u64 = 1 << 16;
/// Never.
const IDLE: u64 = u64::MAX;

/// Longest operation, ns (2.4 h): keeps the sum of [`super::MAX_OPERATIONS`] of them inside 64 bits.
pub const MAX_OPERATION_NS: u64 = 1 << 43;

/// An operation by its index in push order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OpId(pub u32);

/// A stream by its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamId(pub u32);

#[derive(Clone, Copy)]
struct Op {
    work_ns: u64,
    stream: u32,
    next: u32,
    waits: u32,
    first_edge: u32,
}

#[derive(Clone, Copy)]
struct Edge {
    to: u32,
    next: u32,
}

#[derive(Clone)]
struct Stream {
    head: u32,
    tail: u32,
    links: Vec<u32>,
    /// Streams that this one slows, with the fraction of rate they lose, in 1/[`FULL`].
    slows: Vec<(u32, u64)>,
    /// Streams that slow this one.
    slowed_by: Vec<(u32, u64)>,
}

/// Operations and what binds them.
#[derive(Clone, Default)]
pub struct Graph {
    ops: Vec<Op>,
    edges: Vec<Edge>,
    streams: Vec<Stream>,
    links: Vec<Vec<u32>>,
    too_long: Option<u64>,
}

/// When an operation ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Time {
    /// First nanosecond.
    pub start: Nanos,
    /// First nanosecond after it.
    pub end: Nanos,
}

impl Graph {
    /// An empty graph with room for `operations` and about as many edges.
    pub fn with_capacity(operations: usize) -> Self {
        Self {
            ops: Vec::with_capacity(operations),
            edges: Vec::with_capacity(operations),
            ..Self::default()
        }
    }

    /// A new stream.
    pub fn stream(&mut self) -> StreamId {
        self.streams.push(Stream {
            head: NONE,
            tail: NONE,
            links: Vec::new(),
            slows: Vec::new(),
            slowed_by: Vec::new(),
        });
        StreamId(self.streams.len() as u32 - 1)
    }

    /// One physical link that these streams share.
    pub fn link(&mut self, streams: &[StreamId]) {
        let link = self.links.len() as u32;
        for id in streams {
            if let Some(stream) = self.streams.get_mut(id.0 as usize) {
                stream.links.push(link);
            }
        }
        self.links.push(streams.iter().map(|id| id.0).collect());
    }

    /// While `busy` runs, `slowed` loses this fraction (0 to 0.99) of its rate.
    pub fn slow(&mut self, slowed: StreamId, busy: StreamId, fraction: f64) {
        let loss = (fraction.clamp(0.0, 0.99) * FULL as f64).round() as u64;
        if loss == 0 {
            return;
        }
        if let Some(stream) = self.streams.get_mut(busy.0 as usize) {
            stream.slows.push((slowed.0, loss));
        }
        if let Some(stream) = self.streams.get_mut(slowed.0 as usize) {
            stream.slowed_by.push((busy.0, loss));
        }
    }

    /// Appends an operation of `work_ns` nanoseconds at full rate to a stream of this graph.
    pub fn push(&mut self, stream: StreamId, work_ns: u64) -> OpId {
        let id = self.ops.len() as u32;
        if work_ns > MAX_OPERATION_NS {
            self.too_long = Some(work_ns);
        }
        self.ops.push(Op {
            work_ns,
            stream: stream.0,
            next: NONE,
            waits: 0,
            first_edge: NONE,
        });
        if let Some(lane) = self.streams.get_mut(stream.0 as usize) {
            if lane.tail == NONE {
                lane.head = id;
            } else if let Some(last) = self.ops.get_mut(lane.tail as usize) {
                last.next = id;
            }
            lane.tail = id;
        }
        OpId(id)
    }

    /// `after` starts no earlier than `before` ends.
    pub fn after(&mut self, before: OpId, after: OpId) {
        let edge = self.edges.len() as u32;
        let Some(first) = self
            .ops
            .get_mut(before.0 as usize)
            .map(|op| std::mem::replace(&mut op.first_edge, edge))
        else {
            return;
        };
        self.edges.push(Edge {
            to: after.0,
            next: first,
        });
        if let Some(op) = self.ops.get_mut(after.0 as usize) {
            op.waits += 1;
        }
    }

    /// Runs everything; one [`Time`] an operation, in push order.
    pub fn run(&self) -> Result<Vec<Time>, TimelineError> {
        if let Some(work) = self.too_long {
            return Err(TimelineError::TooLong {
                seconds: Nanos(work).seconds().get(),
            });
        }
        let mut run = Run::new(self);
        run.go();
        if run.done == self.ops.len() {
            Ok(run.times.into_vec())
        } else {
            Err(TimelineError::Stuck {
                done: run.done,
                of: self.ops.len(),
            })
        }
    }
}

/// Smallest key of a fixed set, by a tournament: a change costs at most log2(streams) steps and nothing is allocated.
// Boxed slices here and below: where the page is built for size, an index into a `Vec` is a call.
struct Tournament {
    base: usize,
    winner: Box<[u32]>,
    key: Box<[u64]>,
}

impl Tournament {
    fn new(streams: usize) -> Self {
        let base = streams.max(2).next_power_of_two();
        let mut winner = vec![0; 2 * base].into_boxed_slice();
        for (leaf, slot) in winner.iter_mut().skip(base).enumerate() {
            *slot = leaf as u32;
        }
        for node in (1..base).rev() {
            winner[node] = winner[2 * node];
        }
        Self {
            base,
            winner,
            key: vec![IDLE; base].into_boxed_slice(),
        }
    }

    fn set(&mut self, stream: u32, at: u64) {
        self.key[stream as usize] = at;
        let mut node = (self.base + stream as usize) >> 1;
        while node > 0 {
            let (left, right) = (self.winner[2 * node], self.winner[2 * node + 1]);
            let wins = if self.key[right as usize] < self.key[left as usize] {
                right
            } else {
                left
            };
            // Others win here as before: nothing changes further up.
            if wins != stream && wins == self.winner[node] {
                return;
            }
            self.winner[node] = wins;
            node /= 2;
        }
    }

    fn min(&self) -> (u32, u64) {
        let stream = self.winner[1];
        (stream, self.key[stream as usize])
    }
}

/// A stream at work.
#[derive(Clone, Copy)]
struct Lane {
    /// Operation that runs, or would run next.
    op: u32,
    busy: bool,
    /// Whether its rate may change: it sits on a link, or slows or is slowed.
    coupled: bool,
    /// Whether what it shares with has changed since its rate was set.
    stirred: bool,
    /// Work left at `since`, in 2^-16 ns.
    left: u64,
    /// Work per nanosecond since then; 0 before the first one is set.
    rate: u64,
    since: u64,
}

struct Run<'a> {
    ops: &'a [Op],
    edges: &'a [Edge],
    streams: &'a [Stream],
    links: &'a [Vec<u32>],
    waits: Box<[u32]>,
    lanes: Box<[Lane]>,
    active: Box<[u32]>,
    ends: Tournament,
    times: Box<[Time]>,
    /// Busy streams to give a new rate before time goes on.
    stirred: Vec<u32>,
    done: usize,
}

// Every index below was made by `Graph::push`, `Graph::stream` or `Graph::link` of the same graph.
impl<'a> Run<'a> {
    fn new(graph: &'a Graph) -> Self {
        Self {
            ops: &graph.ops,
            edges: &graph.edges,
            streams: &graph.streams,
            links: &graph.links,
            waits: graph.ops.iter().map(|op| op.waits).collect(),
            lanes: graph
                .streams
                .iter()
                .map(|stream| Lane {
                    op: stream.head,
                    busy: false,
                    coupled: !(stream.links.is_empty()
                        && stream.slows.is_empty()
                        && stream.slowed_by.is_empty()),
                    stirred: false,
                    left: 0,
                    rate: 0,
                    since: 0,
                })
                .collect(),
            active: vec![0; graph.links.len()].into_boxed_slice(),
            ends: Tournament::new(graph.streams.len()),
            times: vec![Time::default(); graph.ops.len()].into_boxed_slice(),
            stirred: Vec::with_capacity(graph.streams.len()),
            done: 0,
        }
    }

    fn go(&mut self) {
        for stream in 0..self.lanes.len() as u32 {
            self.try_start(stream, 0);
        }
        self.settle(0);
        loop {
            let (stream, now) = self.ends.min();
            if now == IDLE {
                return;
            }
            self.finish(stream, now);
        }
    }

    fn try_start(&mut self, stream: u32, now: u64) {
        let lane = &mut self.lanes[stream as usize];
        if lane.busy || lane.op == NONE || self.waits[lane.op as usize] > 0 {
            return;
        }
        let work = self.ops[lane.op as usize].work_ns;
        self.times[lane.op as usize].start = Nanos(now);
        lane.busy = true;
        if lane.coupled {
            (lane.left, lane.rate, lane.since) = (work * FULL, 0, now);
            self.stir(stream);
        } else {
            self.ends.set(stream, now + work);
        }
    }

    fn finish(&mut self, stream: u32, now: u64) {
        let lane = &mut self.lanes[stream as usize];
        let op = lane.op;
        lane.busy = false;
        lane.op = self.ops[op as usize].next;
        let coupled = lane.coupled;
        self.times[op as usize].end = Nanos(now);
        self.done += 1;
        if coupled {
            self.stir(stream);
        }
        let mut edge = self.ops[op as usize].first_edge;
        while edge != NONE {
            let Edge { to, next } = self.edges[edge as usize];
            self.waits[to as usize] -= 1;
            if self.waits[to as usize] == 0 {
                self.try_start(self.ops[to as usize].stream, now);
            }
            edge = next;
        }
        self.try_start(stream, now);
        if !self.lanes[stream as usize].busy {
            self.ends.set(stream, IDLE);
        }
        self.settle(now);
    }

    /// A coupled stream has just become busy or idle: everyone it shares with may get a new rate.
    fn stir(&mut self, stream: u32) {
        let entry = &self.streams[stream as usize];
        let busy = self.lanes[stream as usize].busy;
        for &link in &*entry.links {
            let active = &mut self.active[link as usize];
            *active = if busy {
                *active + 1
            } else {
                active.saturating_sub(1)
            };
            for &other in &*self.links[link as usize] {
                self.mark(other);
            }
        }
        for &(other, _) in &*entry.slows {
            self.mark(other);
        }
        self.mark(stream);
    }

    fn mark(&mut self, stream: u32) {
        let lane = &mut self.lanes[stream as usize];
        // One that is idle now is marked when it starts.
        if lane.busy && !lane.stirred {
            lane.stirred = true;
            self.stirred.push(stream);
        }
    }

    /// Sets the rates that hold from now on, once everything of this nanosecond's event has started or ended.
    fn settle(&mut self, now: u64) {
        while let Some(stream) = self.stirred.pop() {
            let mut lane = self.lanes[stream as usize];
            lane.stirred = false;
            let rate = self.rate(stream);
            // The same rate ends at the same time, to the nanosecond.
            if rate != lane.rate {
                lane.left = lane.left.saturating_sub((now - lane.since) * lane.rate);
                (lane.rate, lane.since) = (rate, now);
                self.ends.set(stream, now + lane.left.div_ceil(rate));
            }
            self.lanes[stream as usize] = lane;
        }
    }

    fn rate(&self, stream: u32) -> u64 {
        let entry = &self.streams[stream as usize];
        let mut rate = FULL;
        for &link in &*entry.links {
            rate = rate.min(FULL / u64::from(self.active[link as usize].max(1)));
        }
        for &(other, loss) in &*entry.slowed_by {
            if self.lanes[other as usize].busy {
                rate = rate * (FULL - loss) / FULL;
            }
        }
        rate.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(graph: &Graph) -> Vec<u64> {
        graph.run().unwrap().iter().map(|time| time.end.0).collect()
    }

    #[test]
    fn a_stream_runs_one_at_a_time_and_waits_for_dependencies() {
        let mut graph = Graph::default();
        let (a, b) = (graph.stream(), graph.stream());
        let first = graph.push(a, 10);
        graph.push(a, 5);
        let other = graph.push(b, 3);
        graph.after(first, other);
        assert_eq!(ends(&graph), [10, 15, 13]);
    }

    #[test]
    fn a_shared_link_halves_both_and_gives_the_rest_back() {
        // Alone 10 and 4. Together from 0: the short one needs 8, by then the long one has done 4 and has 6 left.
        let mut graph = Graph::default();
        let (a, b) = (graph.stream(), graph.stream());
        graph.link(&[a, b]);
        graph.push(a, 10);
        graph.push(b, 4);
        assert_eq!(ends(&graph), [14, 8]);
    }

    #[test]
    fn three_on_a_link_get_a_third_each() {
        let mut graph = Graph::default();
        let streams = [graph.stream(), graph.stream(), graph.stream()];
        graph.link(&streams);
        for stream in streams {
            graph.push(stream, 100);
        }
        for end in ends(&graph) {
            assert!((300..=301).contains(&end), "{end}");
        }
    }

    #[test]
    fn a_slowed_stream_loses_its_fraction_only_while_the_other_runs() {
        // 4 ns at 3/4 rate do 3 of the 10; 7 are left.
        let mut graph = Graph::default();
        let (compute, comm) = (graph.stream(), graph.stream());
        graph.slow(compute, comm, 0.25);
        graph.push(compute, 10);
        graph.push(comm, 4);
        assert_eq!(ends(&graph), [11, 4]);
    }

    #[test]
    fn a_collective_on_two_links_takes_the_smaller_share() {
        let mut graph = Graph::default();
        let (collective, left, right) = (graph.stream(), graph.stream(), graph.stream());
        graph.link(&[collective, left]);
        graph.link(&[collective, right]);
        graph.push(collective, 10);
        graph.push(left, 2);
        // Together until 4 (2 done each), then alone: 8 left.
        assert_eq!(ends(&graph), [12, 4]);
        graph.push(right, 100);
        assert_eq!(ends(&graph)[0], 20);
    }

    #[test]
    fn nothing_takes_no_time_and_a_cycle_is_an_error() {
        let mut graph = Graph::default();
        let stream = graph.stream();
        let (a, b) = (graph.push(stream, 0), graph.push(stream, 0));
        assert_eq!(ends(&graph), [0, 0]);
        graph.after(b, a);
        assert_eq!(graph.run(), Err(TimelineError::Stuck { done: 0, of: 2 }));
    }

    #[test]
    fn an_operation_of_hours_is_refused() {
        let mut graph = Graph::default();
        let stream = graph.stream();
        graph.push(stream, MAX_OPERATION_NS + 1);
        assert!(matches!(graph.run(), Err(TimelineError::TooLong { .. })));
    }
}
