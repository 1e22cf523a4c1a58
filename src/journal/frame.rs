//! One frame: some entries in a header, a payload and two checksums. Bytes only, no files.
//!
//! A frame fills whole blocks. Each block begins with a tag: one for the block that holds a header, another for all
//! that follow. So the bytes of a client, wherever they come to lie, never look like a header. The format is described
//! byte by byte in `migrations/README.md`; numbers are big-endian.

use bytes::Bytes;

use super::{Entry, Item};
use crate::types::{Lsn, TopicId, TopicPartition};

/// Frames begin at multiples of this, and no block holds bytes of two frames.
pub(super) const BLOCK_BYTES: usize = 4096;
/// The frame format written here.
pub(super) const VERSION: u16 = 1;
/// The largest entry: a record batch of 100 MiB with room for what comes with it.
pub(super) const MAX_ENTRY_BYTES: usize = 112 << 20;

const HEADER_TAG: [u8; 4] = *b"SKJ1";
const MORE_TAG: [u8; 4] = *b"skj+";
pub(super) const HEADER_BYTES: usize = 56;
const CRC_BYTES: usize = 4;

const PUT: u8 = 1;
const DELETE: u8 = 2;
const DELETE_PREFIX: u8 = 3;
const APPEND: u8 = 4;
// 5 is reserved for append_ref: a batch that lies in its segment already, synced before the frame is written
// (topic id, partition, base offset, segment, position, length, checksum).

/// The least an entry takes: the count of its items.
const MIN_ENTRY_BYTES: usize = 4;
/// The least an item takes: its kind and one length.
const MIN_ITEM_BYTES: usize = 5;

/// What a frame says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// The file's; a frame of another generation is a left-over of the file's former life.
    pub(super) generation: u64,
    /// Counts rounds; the frames of one round share it.
    pub(super) round: u64,
    /// The first entry.
    pub(super) first: Lsn,
    /// The last entry.
    pub(super) last: Lsn,
    /// Everything up to here was synced before this frame was written.
    pub(super) synced_through: Lsn,
    /// Bytes of entries.
    pub(super) payload_bytes: u32,
}

/// What lies at a block boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// No header, or one of another generation.
    Nothing,
    /// A header.
    Header(Header),
    /// A header of a format that is not known here.
    Newer(u16),
}

fn header_crc(generation: u64, header: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&generation.to_be_bytes()), header)
}

/// Where the payload's checksum begins: a payload is bound to its file's generation and to its place in the order.
fn payload_seed(generation: u64, first: Lsn) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&generation.to_be_bytes()), &first.0.to_be_bytes())
}

impl Header {
    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEADER_BYTES);
        out.extend(HEADER_TAG);
        out.extend(VERSION.to_be_bytes());
        out.extend([0; 2]);
        out.extend(self.generation.to_be_bytes());
        out.extend(self.round.to_be_bytes());
        out.extend(self.first.0.to_be_bytes());
        out.extend(self.last.0.to_be_bytes());
        out.extend(self.synced_through.0.to_be_bytes());
        out.extend(self.payload_bytes.to_be_bytes());
        out.extend(header_crc(self.generation, &out).to_be_bytes());
        out
    }

    /// Reads what lies at a block boundary of a file of this generation.
    pub(super) fn find(bytes: &[u8], generation: u64) -> Found {
        let Some(bytes) = bytes.get(..HEADER_BYTES) else { return Found::Nothing };
        let Some(body) = bytes.strip_prefix(&HEADER_TAG) else { return Found::Nothing };
        let Some((checked, crc)) = bytes.split_last_chunk::<CRC_BYTES>() else { return Found::Nothing };
        if u32::from_be_bytes(*crc) != header_crc(generation, checked) {
            return Found::Nothing;
        }
        match Self::parse(body) {
            Some((VERSION, header)) if header.generation == generation && header.is_sound() => Found::Header(header),
            Some((version, _)) if version != VERSION => Found::Newer(version),
            _ => Found::Nothing,
        }
    }

    fn parse(body: &[u8]) -> Option<(u16, Self)> {
        let mut reader = Reader(body);
        let version = u16::from_be_bytes(reader.array()?);
        reader.take(2)?;
        let header = Self {
            generation: u64::from_be_bytes(reader.array()?),
            round: u64::from_be_bytes(reader.array()?),
            first: Lsn(u64::from_be_bytes(reader.array()?)),
            last: Lsn(u64::from_be_bytes(reader.array()?)),
            synced_through: Lsn(u64::from_be_bytes(reader.array()?)),
            payload_bytes: u32::from_be_bytes(reader.array()?),
        };
        Some((version, header))
    }

    /// Whether the numbers fit each other, so that nothing is sized by a lie.
    fn is_sound(&self) -> bool {
        let payload_bytes = usize::try_from(self.payload_bytes).unwrap_or(usize::MAX);
        let most_entries = u64::try_from(payload_bytes / MIN_ENTRY_BYTES).unwrap_or(0);
        payload_bytes <= MAX_ENTRY_BYTES
            && Lsn(0) < self.first
            && self.first <= self.last
            && self.last < Lsn(u64::MAX)
            && self.last.0 - self.first.0 < most_entries
            && self.synced_through < self.first
    }

    /// How many bytes of the file the frame takes; whole blocks.
    pub(super) fn frame_bytes(&self) -> usize {
        frame_bytes(usize::try_from(self.payload_bytes).unwrap_or(usize::MAX))
    }
}

/// How many bytes a frame with such a payload takes; whole blocks.
pub(super) fn frame_bytes(payload_bytes: usize) -> usize {
    let in_first = BLOCK_BYTES - HEADER_BYTES;
    let more = payload_bytes.saturating_add(CRC_BYTES).saturating_sub(in_first);
    (1 + more.div_ceil(BLOCK_BYTES - MORE_TAG.len())) * BLOCK_BYTES
}

/// Writes one frame.
pub(super) struct Builder {
    header: Header,
    out: Vec<u8>,
    crc: u32,
    payload_bytes: usize,
}

impl Builder {
    /// A frame without entries so far; the header's `last` and `payload_bytes` are filled in as they come.
    pub(super) fn new(header: Header, expected_payload_bytes: usize) -> Self {
        let mut out = Vec::with_capacity(frame_bytes(expected_payload_bytes));
        out.resize(HEADER_BYTES, 0);
        let crc = payload_seed(header.generation, header.first);
        Self { header, out, crc, payload_bytes: 0 }
    }

    pub(super) fn add(&mut self, entry: &Entry) {
        self.header.last = entry.lsn;
        self.put(&length(entry.items.len()));
        for item in &entry.items {
            match item {
                Item::Put { key, value } => {
                    self.put(&[PUT]);
                    self.put_sized(key);
                    self.put_sized(value);
                }
                Item::Delete { key } => {
                    self.put(&[DELETE]);
                    self.put_sized(key);
                }
                Item::DeletePrefix { prefix } => {
                    self.put(&[DELETE_PREFIX]);
                    self.put_sized(prefix);
                }
                Item::Append { partition, base_offset, batch } => {
                    self.put(&[APPEND]);
                    self.put(&partition.topic_id.to_bytes());
                    self.put(&partition.partition.to_be_bytes());
                    self.put(&base_offset.to_be_bytes());
                    self.put_sized(batch);
                }
            }
        }
    }

    fn put_sized(&mut self, bytes: &[u8]) {
        self.put(&length(bytes.len()));
        self.put(bytes);
    }

    fn put(&mut self, bytes: &[u8]) {
        self.crc = crc32c::crc32c_append(self.crc, bytes);
        self.payload_bytes += bytes.len();
        self.scatter(bytes);
    }

    fn scatter(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.out.len().is_multiple_of(BLOCK_BYTES) {
                self.out.extend(MORE_TAG);
            }
            let room = BLOCK_BYTES - self.out.len() % BLOCK_BYTES;
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.out.extend(now);
            bytes = later;
        }
    }

    /// The frame's bytes.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.header.payload_bytes = u32::try_from(self.payload_bytes).unwrap_or(u32::MAX);
        self.scatter(&self.crc.to_be_bytes());
        self.out.resize(self.out.len().next_multiple_of(BLOCK_BYTES), 0);
        for (place, byte) in self.out.iter_mut().zip(self.header.encode()) {
            *place = byte;
        }
        self.out
    }
}

/// A length as it is written. Entries that could overflow it were refused ([`entry_bytes`]).
fn length(len: usize) -> [u8; 4] {
    u32::try_from(len).unwrap_or(u32::MAX).to_be_bytes()
}

/// How many bytes of payload an entry takes.
pub(super) fn entry_bytes(entry: &Entry) -> usize {
    let items = entry.items.iter().map(|item| match item {
        Item::Put { key, value } => 9 + key.len() + value.len(),
        Item::Delete { key } => 5 + key.len(),
        Item::DeletePrefix { prefix } => 5 + prefix.len(),
        Item::Append { batch, .. } => 33 + batch.len(),
    });
    items.fold(MIN_ENTRY_BYTES, usize::saturating_add)
}

/// The payload of a whole frame as read from the file, or `None` if a byte of it is not what was written.
pub(super) fn payload(header: &Header, mut frame: Vec<u8>) -> Option<Vec<u8>> {
    let mut end = BLOCK_BYTES;
    for start in (BLOCK_BYTES..frame.len()).step_by(BLOCK_BYTES) {
        let data = start + MORE_TAG.len()..start + BLOCK_BYTES;
        if frame.get(start..data.start)? != MORE_TAG || data.end > frame.len() {
            return None;
        }
        let data_bytes = data.len();
        frame.copy_within(data, end);
        end += data_bytes;
    }
    let payload_end = HEADER_BYTES.checked_add(usize::try_from(header.payload_bytes).ok()?)?;
    let crc = frame.get(payload_end..payload_end + CRC_BYTES)?.first_chunk::<CRC_BYTES>()?;
    let crc = u32::from_be_bytes(*crc);
    frame.truncate(payload_end);
    frame.drain(..HEADER_BYTES);
    let seed = payload_seed(header.generation, header.first);
    (crc == crc32c::crc32c_append(seed, &frame)).then_some(frame)
}

/// Takes the entries of a payload apart, one at a time. Each owns its bytes.
pub(super) struct Entries<'a> {
    reader: Reader<'a>,
    next: Lsn,
    last: Lsn,
}

/// A payload with a good checksum that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unreadable;

impl<'a> Entries<'a> {
    pub(super) fn new(header: &Header, payload: &'a [u8]) -> Self {
        Self { reader: Reader(payload), next: header.first, last: header.last }
    }

    fn entry(&mut self) -> Option<Entry> {
        let count = self.reader.length()?;
        if count.checked_mul(MIN_ITEM_BYTES)? > self.reader.0.len() {
            return None;
        }
        let mut items = Vec::with_capacity(count.min(1024));
        for _ in 0..count {
            items.push(self.reader.item()?);
        }
        Some(Entry { lsn: self.next, items })
    }
}

impl Iterator for Entries<'_> {
    type Item = Result<Entry, Unreadable>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next > self.last {
            let rest = std::mem::take(&mut self.reader.0);
            return if rest.is_empty() { None } else { Some(Err(Unreadable)) };
        }
        let entry = self.entry();
        self.next = if entry.is_some() { self.next.next() } else { self.last.next() };
        if entry.is_none() {
            self.reader.0 = &[];
        }
        Some(entry.ok_or(Unreadable))
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, left) = self.0.split_at_checked(len)?;
        self.0 = left;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.first_chunk::<N>().copied()
    }

    fn length(&mut self) -> Option<usize> {
        usize::try_from(u32::from_be_bytes(self.array()?)).ok()
    }

    /// Bytes of their own, so that a key does not keep its whole frame in memory.
    fn sized(&mut self) -> Option<Bytes> {
        let len = self.length()?;
        Some(Bytes::copy_from_slice(self.take(len)?))
    }

    fn item(&mut self) -> Option<Item> {
        let [kind] = self.array()?;
        Some(match kind {
            PUT => Item::Put { key: self.sized()?, value: self.sized()? },
            DELETE => Item::Delete { key: self.sized()? },
            DELETE_PREFIX => Item::DeletePrefix { prefix: self.sized()? },
            APPEND => {
                let topic_id = TopicId::from_bytes(self.array()?);
                let partition = i32::from_be_bytes(self.array()?);
                let base_offset = i64::from_be_bytes(self.array()?);
                Item::Append { partition: TopicPartition { topic_id, partition }, base_offset, batch: self.sized()? }
            }
            _ => return None,
        })
    }
}
