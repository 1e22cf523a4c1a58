//! Bytes on their way out: small ones are gathered, large ones are passed on as they are.

use std::collections::VecDeque;
use std::io::IoSlice;

use bytes::{Buf, Bytes, BytesMut};

/// What is smaller than this is cheaper to copy than to write on its own.
const SHARED_BYTES_MIN: usize = 4096;

/// Bytes to be written one after the other.
#[derive(Debug, Default)]
pub struct Segments {
    whole: VecDeque<Bytes>,
    /// What comes behind them and may still grow.
    open: BytesMut,
    whole_bytes: usize,
}

impl Segments {
    /// How many bytes are to be written.
    #[must_use]
    pub fn len(&self) -> usize {
        self.whole_bytes.saturating_add(self.open.len())
    }

    /// Whether nothing is to be written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where to append bytes.
    pub fn open(&mut self) -> &mut BytesMut {
        &mut self.open
    }

    /// Appends bytes without copying them, unless they are few.
    pub fn push(&mut self, bytes: Bytes) {
        if bytes.len() < SHARED_BYTES_MIN {
            self.open.extend_from_slice(&bytes);
            return;
        }
        self.close();
        self.whole_bytes = self.whole_bytes.saturating_add(bytes.len());
        self.whole.push_back(bytes);
    }

    fn close(&mut self) {
        if !self.open.is_empty() {
            let bytes = self.open.split().freeze();
            self.whole_bytes = self.whole_bytes.saturating_add(bytes.len());
            self.whole.push_back(bytes);
        }
    }

    /// The first bytes, as many slices as there is room for.
    pub fn slices<'a>(&'a self, room: &mut [IoSlice<'a>]) -> usize {
        let parts = self.whole.iter().map(|bytes| &**bytes).chain([&*self.open]).filter(|part| !part.is_empty());
        let mut count = 0;
        for (place, part) in room.iter_mut().zip(parts) {
            *place = IoSlice::new(part);
            count += 1;
        }
        count
    }

    /// Takes away the first `written` bytes; shared ones are let go as soon as they are written.
    pub fn advance(&mut self, mut written: usize) {
        while written > 0 {
            let Some(first) = self.whole.front_mut() else {
                self.open.advance(written.min(self.open.len()));
                return;
            };
            let part = written.min(first.len());
            first.advance(part);
            if first.is_empty() {
                self.whole.pop_front();
            }
            self.whole_bytes = self.whole_bytes.saturating_sub(part);
            written -= part;
        }
    }

    /// Gives memory back if much of it is kept for nothing.
    pub fn trim(&mut self, kept_bytes: usize) {
        if self.is_empty() && self.open.capacity() > kept_bytes {
            self.open = BytesMut::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes everything, at most `step` bytes at a time.
    fn drain(segments: &mut Segments, step: usize) -> Vec<u8> {
        let mut all = Vec::new();
        while !segments.is_empty() {
            let before = segments.len();
            let mut room = [IoSlice::new(&[]); 2];
            let count = segments.slices(&mut room);
            let next: Vec<u8> = room[..count].iter().flat_map(|slice| slice.to_vec()).take(step).collect();
            segments.advance(next.len());
            assert_eq!(segments.len(), before - next.len());
            all.extend(next);
        }
        all
    }

    #[test]
    fn what_goes_in_comes_out_in_order_however_it_is_cut() {
        let large = Bytes::from(vec![7; SHARED_BYTES_MIN]);
        for step in [1, 5, 4096, 5000, usize::MAX] {
            let mut segments = Segments::default();
            segments.open().extend_from_slice(b"head");
            segments.push(large.clone());
            segments.push(Bytes::from_static(b"few"));
            segments.open().extend_from_slice(b"tail");
            segments.push(large.clone());
            let expected = [b"head", &large[..], b"fewtail", &large[..]].concat();
            assert_eq!(segments.len(), expected.len());
            assert_eq!(drain(&mut segments, step), expected, "{step}");
        }
    }

    #[test]
    fn large_bytes_are_not_copied() {
        let large = Bytes::from(vec![7; SHARED_BYTES_MIN]);
        let mut segments = Segments::default();
        segments.push(large.clone());
        let mut room = [IoSlice::new(&[])];
        assert_eq!(segments.slices(&mut room), 1);
        assert_eq!(room[0].as_ptr(), large.as_ptr());
        segments.open().reserve(100_000);
        segments.advance(large.len());
        segments.trim(1000);
        assert_eq!(segments.open().capacity(), 0);
    }
}
