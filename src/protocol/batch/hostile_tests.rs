//! Bytes that want to hurt: bombs, and batches with any bits changed.

use proptest::prelude::*;

use super::header::assemble;
use super::*;
use crate::types::{ErrorCode, TimestampMs};

fn rules(max_message_bytes: i32) -> Rules<'static> {
    Rules {
        topic: "words",
        partition: 0,
        max_message_bytes,
        max_decompressed_message_bytes: i32::MAX,
        segment_bytes: i32::MAX,
        is_compacted: false,
        timestamp_type: TimestampType::CreateTime,
        before_max_ms: i64::MAX,
        after_max_ms: i64::MAX,
        compression_type: None,
        now: TimestampMs(0),
        produce_version: 13,
    }
}

/// A batch of one record whose value is `len` zeros.
fn zeros(codec: Compression, len: usize) -> Vec<u8> {
    let value = vec![0; len];
    let mut builder = BatchBuilder::new().compression(codec);
    builder.push(&NewRecord { value: Some(&value), ..NewRecord::default() }).unwrap();
    builder.build().unwrap().to_vec()
}

#[test]
fn the_cap_follows_the_topics_limit_up_to_a_ceiling() {
    assert_eq!(decompressed_bytes_max(-1), 0);
    assert_eq!(decompressed_bytes_max(1000), 128_000);
    assert_eq!(decompressed_bytes_max(1_048_588), 128 * 1024 * 1024);
    assert_eq!(decompressed_bytes_max(512 * 1024 * 1024), 512 * 1024 * 1024);
}

#[test]
fn a_bomb_is_told_to_split_its_batch() {
    // 16 MiB of zeros in a batch of at most 64 KiB, in a topic whose batches may unpack to 8 MiB.
    for codec in [Compression::Gzip, Compression::Zstd] {
        let bomb = zeros(codec, 16 * 1024 * 1024);
        assert!(bomb.len() < 65_536, "{} made {} bytes", codec.name(), bomb.len());
        let invalid = validate(&bomb, &rules(65_536)).unwrap_err();
        assert_eq!((invalid.error, invalid.tells_log_start), (ErrorCode::MessageTooLarge, false), "{}", codec.name());
        let header = BatchHeader::parse(&bomb).unwrap();
        assert_eq!(
            records(&header, &bomb, 1000),
            Err(BatchError::DecompressedTooLarge { max: 1000 }),
            "{}",
            codec.name()
        );
    }
}

#[test]
fn walking_through_large_records_finds_their_end() {
    for codec in Compression::ALL {
        let batch = zeros(codec, 3 * 1024 * 1024);
        let header = BatchHeader::parse(&batch).unwrap();
        let shapes: Vec<_> = RecordShapes::new(&header, &batch, usize::MAX, usize::MAX).unwrap().collect();
        let shape = RecordShape { offset_delta: 0, timestamp: TimestampMs(0), has_key: false };
        assert_eq!(shapes, [Ok(shape)], "{}", codec.name());
    }
}

type OwnedRecord = (i64, Option<Vec<u8>>, Option<Vec<u8>>, Vec<(Vec<u8>, Option<Vec<u8>>)>);

fn any_record() -> impl Strategy<Value = OwnedRecord> {
    let bytes = || prop::collection::vec(any::<u8>(), 0..40);
    let nullable = move || prop::option::of(bytes());
    let headers = prop::collection::vec((bytes(), nullable()), 0..3);
    (any::<i64>(), nullable(), nullable(), headers)
}

fn any_codec() -> impl Strategy<Value = Compression> {
    prop::sample::select(Compression::ALL.to_vec())
}

fn build(codec: Compression, story: &[OwnedRecord]) -> Vec<u8> {
    let mut builder = BatchBuilder::new().compression(codec);
    for (timestamp, key, value, headers) in story {
        let headers: Vec<_> = headers.iter().map(|(key, value)| (key.as_slice(), value.as_deref())).collect();
        let record = NewRecord {
            timestamp: TimestampMs(*timestamp),
            key: key.as_deref(),
            value: value.as_deref(),
            headers: &headers,
        };
        builder.push(&record).unwrap();
    }
    builder.build().unwrap().to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn what_is_built_is_read(codec in any_codec(), story in prop::collection::vec(any_record(), 1..20)) {
        let batch = build(codec, &story);
        let header = BatchHeader::parse(&batch).unwrap();
        let bytes = records(&header, &batch, 1 << 20).unwrap();
        let read: Vec<OwnedRecord> = RecordIter::new(&header, &bytes)
            .map(|record| {
                let record = record.unwrap();
                let headers = record.headers.map(|(key, value)| (key.to_vec(), value.map(<[u8]>::to_vec)));
                let owned = |bytes: Option<&[u8]>| bytes.map(<[u8]>::to_vec);
                (record.timestamp.0, owned(record.key), owned(record.value), headers.collect())
            })
            .collect();
        prop_assert_eq!(read, story);
    }

    #[test]
    fn changed_bytes_give_errors_and_never_more_than_the_cap(
        codec in any_codec(),
        story in prop::collection::vec(any_record(), 1..8),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut batch = build(codec, &story);
        for (at, byte) in changes {
            let at = at.index(batch.len());
            batch[at] = byte;
        }
        if let Some(cut) = cut {
            batch.truncate(cut.index(batch.len()));
        }
        let _ = validate(&batch, &rules(4096));
        // The same damage under a right length and CRC, so that it reaches the records.
        let Some(payload) = batch.get(BatchHeader::LEN..) else { return Ok(()) };
        let Ok(header) = BatchHeader::parse(&batch) else { return Ok(()) };
        let batch = assemble(&header, payload).unwrap();
        let header = BatchHeader::parse(&batch).unwrap();
        if let Ok(validated) = validate(&batch, &rules(4096)) {
            let header = BatchHeader::parse(&validated.batch).unwrap();
            let bytes = records(&header, &validated.batch, decompressed_bytes_max(4096)).unwrap();
            prop_assert!(RecordIter::new(&header, &bytes).all(|record| record.is_ok()));
        }
        if let Ok(bytes) = records(&header, &batch, 4096) {
            prop_assert!(bytes.len() <= 4096);
            for record in RecordIter::new(&header, &bytes).flatten() {
                prop_assert!(record.headers.count() <= bytes.len());
            }
        }
    }
}
