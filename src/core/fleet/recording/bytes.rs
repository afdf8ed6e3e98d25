//! Recordings as bytes: little-endian, column by column.

use super::{COLUMNS, CauseName, Recording, Track};
use crate::core::faults::FaultEvent;
use crate::core::fleet::live::PhaseKind;
use crate::core::units::Nanos;

/// Bytes that are no recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("recording: the data is cut off or of another version")]
pub struct Broken;

const PHASES: [PhaseKind; 4] = [
    PhaseKind::Running,
    PhaseKind::Detecting,
    PhaseKind::Restarting,
    PhaseKind::Paused,
];

/// Writes numbers.
#[derive(Default)]
pub(super) struct Out(pub Vec<u8>);

impl Out {
    pub fn byte(&mut self, value: u8) {
        self.0.push(value);
    }
    pub fn short(&mut self, value: u16) {
        self.0.extend(value.to_le_bytes());
    }
    pub fn word(&mut self, value: u32) {
        self.0.extend(value.to_le_bytes());
    }
    pub fn long(&mut self, value: u64) {
        self.0.extend(value.to_le_bytes());
    }
    pub fn count(&mut self, value: usize) {
        self.word(u32::try_from(value).unwrap_or(u32::MAX));
    }
}

/// Reads them back.
pub(super) struct In<'a>(pub &'a [u8]);

impl In<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Broken> {
        let (bytes, rest) = self.0.split_first_chunk::<N>().ok_or(Broken)?;
        self.0 = rest;
        Ok(*bytes)
    }
    pub fn byte(&mut self) -> Result<u8, Broken> {
        self.take::<1>().map(|[byte]| byte)
    }
    pub fn short(&mut self) -> Result<u16, Broken> {
        self.take().map(u16::from_le_bytes)
    }
    pub fn word(&mut self) -> Result<u32, Broken> {
        self.take().map(u32::from_le_bytes)
    }
    pub fn long(&mut self) -> Result<u64, Broken> {
        self.take().map(u64::from_le_bytes)
    }
    /// A count of items of at least `size` bytes each: never more than there are bytes for.
    pub fn count(&mut self, size: usize) -> Result<usize, Broken> {
        let count = self.word()? as usize;
        if count.saturating_mul(size) > self.0.len() {
            return Err(Broken);
        }
        Ok(count)
    }
    /// So many numbers of `N` bytes each, one after another: a long run holds millions, and the page reads them in one go.
    fn column<const N: usize, T>(
        &mut self,
        count: usize,
        number: impl Fn([u8; N]) -> T,
    ) -> Result<Vec<T>, Broken> {
        let length = count.saturating_mul(N);
        let (bytes, rest) = self.0.split_at_checked(length).ok_or(Broken)?;
        self.0 = rest;
        let (numbers, _) = bytes.as_chunks::<N>();
        Ok(numbers.iter().map(|bytes| number(*bytes)).collect())
    }
    fn times(&mut self, count: usize) -> Result<Vec<Nanos>, Broken> {
        self.column(count, |bytes| Nanos(u64::from_le_bytes(bytes)))
    }
    fn words(&mut self, count: usize) -> Result<Vec<u32>, Broken> {
        self.column(count, u32::from_le_bytes)
    }
    pub fn text(&mut self) -> Result<String, Broken> {
        let length = self.count(1)?;
        let (text, rest) = self.0.split_at_checked(length).ok_or(Broken)?;
        self.0 = rest;
        String::from_utf8(text.to_vec()).map_err(|_| Broken)
    }
}

impl Recording {
    /// As bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Out::default();
        out.long(self.end.0);
        out.long(self.forked_at.map_or(u64::MAX, |time| time.0));
        out.byte(u8::from(self.while_running));
        out.count(self.causes.len());
        for cause in &self.causes {
            out.byte(u8::from(cause.software));
            out.count(cause.name.len());
            out.0.extend(cause.name.as_bytes());
        }
        out.count(self.events.len());
        for event in &self.events {
            out.long(event.time.0);
            out.long(event.repair.0);
            out.word(event.domain);
            out.short(event.first);
            out.short(event.gpus);
            out.short(event.cause);
        }
        out.count(self.tracks.len());
        for track in &self.tracks {
            track.write(&mut out);
        }
        out.0
    }

    /// From bytes.
    ///
    /// # Errors
    /// When they are none of [`Recording::to_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Broken> {
        let mut reader = Reader::new(bytes.to_vec())?;
        while reader.read_on()? {}
        Ok(reader.recording)
    }
}

/// Failures read in one stretch.
const EVENTS_A_STRETCH: usize = 20_000;

/// Reads a recording a stretch at a time: a long run's takes longer than a page may stand still.
pub struct Reader {
    bytes: Vec<u8>,
    /// Bytes read.
    at: usize,
    /// Failures still to read, and tracks once it is known how many.
    events: usize,
    tracks: Option<usize>,
    recording: Recording,
}

impl Reader {
    /// Reads the head.
    ///
    /// # Errors
    /// When the bytes are none of [`Recording::to_bytes`].
    pub fn new(bytes: Vec<u8>) -> Result<Self, Broken> {
        let mut read = In(&bytes);
        let end = Nanos(read.long()?);
        let forked_at = Some(read.long()?)
            .filter(|time| *time != u64::MAX)
            .map(Nanos);
        let while_running = read.byte()? != 0;
        let mut causes = Vec::new();
        for _ in 0..read.count(5)? {
            let software = read.byte()? != 0;
            let name = read.text()?;
            causes.push(CauseName { name, software });
        }
        let events = read.count(26)?;
        Ok(Self {
            at: bytes.len() - read.0.len(),
            bytes,
            events,
            tracks: None,
            recording: Recording {
                end,
                forked_at,
                while_running,
                causes,
                events: Vec::with_capacity(events),
                tracks: Vec::new(),
            },
        })
    }

    /// Reads a stretch. False at the end.
    ///
    /// # Errors
    /// As [`Reader::new`].
    pub fn read_on(&mut self) -> Result<bool, Broken> {
        let mut read = In(self.bytes.get(self.at..).unwrap_or_default());
        if self.events > 0 {
            let count = self.events.min(EVENTS_A_STRETCH);
            self.recording.events.extend(read.column(count, event)?);
            self.events -= count;
        } else if let Some(left) = &mut self.tracks {
            if *left > 0 {
                self.recording.tracks.push(Track::read(&mut read)?);
                *left -= 1;
            }
        } else {
            self.tracks = Some(read.count(16)?);
        }
        self.at = self.bytes.len() - read.0.len();
        Ok(self.events > 0 || self.tracks != Some(0))
    }

    /// What was read.
    pub fn recording(self) -> Recording {
        self.recording
    }
}

fn event(bytes: [u8; 26]) -> FaultEvent {
    let mut read = In(&bytes);
    // None of these goes past the end.
    let mut long = || Nanos(read.long().unwrap_or_default());
    let (time, repair) = (long(), long());
    let domain = read.word().unwrap_or_default();
    let mut short = || read.short().unwrap_or_default();
    let (first, gpus, cause) = (short(), short(), short());
    FaultEvent {
        time,
        domain,
        first,
        gpus,
        cause,
        repair,
    }
}

impl Track {
    fn write(&self, out: &mut Out) {
        out.long(self.occupied_gpus);
        out.count(self.stops.len());
        self.stops.iter().for_each(|(time, _)| out.long(time.0));
        self.stops.iter().for_each(|(_, event)| out.word(*event));
        out.count(self.times.len());
        self.times.iter().for_each(|time| out.long(time.0));
        for phase in &self.phases {
            out.byte(PHASES.iter().position(|p| p == phase).unwrap_or(0) as u8);
        }
        self.minibatch.iter().for_each(|value| out.word(*value));
        self.failed.iter().for_each(|value| out.word(*value));
        let spent = self.spent.iter().flatten();
        spent.for_each(|value| out.word(value.to_bits()));
    }

    fn read(read: &mut In<'_>) -> Result<Self, Broken> {
        let occupied_gpus = read.long()?;
        let stops = read.count(12)?;
        let times = read.times(stops)?.into_iter();
        let stops = times.zip(read.words(stops)?).collect();
        let rows = read.count(17 + 4 * COLUMNS)?;
        let times = read.times(rows)?;
        let phases = read.column(rows, |[byte]| PHASES.get(usize::from(byte)).copied())?;
        let phases: Option<Vec<PhaseKind>> = phases.into_iter().collect();
        let (minibatch, failed) = (read.words(rows)?, read.words(rows)?);
        let spent = read.column(rows.saturating_mul(COLUMNS), f32::from_le_bytes)?;
        Ok(Self {
            times,
            phases: phases.ok_or(Broken)?,
            minibatch,
            failed,
            spent: spent.as_chunks::<COLUMNS>().0.to_vec(),
            stops,
            occupied_gpus,
        })
    }
}
