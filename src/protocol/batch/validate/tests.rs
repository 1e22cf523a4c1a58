//! Each row of the reference's table of batch checks, with the answers that Kafka 4.4.0 gave to the same bytes. The
//! deviations that the room's own comment lists are marked.

use super::*;
use crate::protocol::batch::{Attributes, BatchBuilder, NewRecord, RecordIter, records};
use crate::types::{Offset, ProducerEpoch, ProducerId};

const NOW: i64 = 1_700_000_000_000;

fn rules() -> Rules<'static> {
    Rules {
        topic: "words",
        partition: 3,
        max_message_bytes: 1_048_588,
        max_decompressed_message_bytes: 2_147_483_639,
        segment_bytes: 1 << 30,
        is_compacted: false,
        timestamp_type: TimestampType::CreateTime,
        before_max_ms: i64::MAX,
        after_max_ms: 3_600_000,
        compression_type: None,
        now: TimestampMs(NOW),
        produce_version: 13,
    }
}

fn record(delta: i32) -> NewRecord<'static> {
    NewRecord { timestamp: TimestampMs(NOW + i64::from(delta)), key: Some(b"k"), value: Some(b"v"), headers: &[] }
}

fn batch_of(count: i32) -> BatchBuilder {
    let mut builder = BatchBuilder::new();
    for delta in 0..count {
        builder.push(&record(delta)).unwrap();
    }
    builder
}

fn bytes(builder: &BatchBuilder) -> Vec<u8> {
    builder.build().unwrap().to_vec()
}

/// A batch of `count` records with some header fields changed, and a valid CRC over them.
fn with_header(count: i32, change: impl FnOnce(&mut BatchHeader)) -> Vec<u8> {
    let batch = bytes(&batch_of(count));
    let mut header = BatchHeader::parse(&batch).unwrap();
    change(&mut header);
    assemble(&header, &batch[BatchHeader::LEN..]).unwrap().to_vec()
}

/// A batch that claims to hold one record, with any bytes for records.
fn with_payload(codec: i16, payload: &[u8]) -> Vec<u8> {
    let mut header = BatchHeader::parse(&bytes(&batch_of(1))).unwrap();
    header.attributes = Attributes(codec);
    assemble(&header, payload).unwrap().to_vec()
}

/// One record whose body is given, with its right length in front.
fn raw_record(body: &[u8]) -> Vec<u8> {
    let mut record = vec![u8::try_from(body.len() * 2).unwrap()];
    record.extend(body);
    record
}

/// The error, and whether the answer tells the log start.
fn refusal(batch: &[u8]) -> (ErrorCode, bool) {
    refusal_under(batch, &rules())
}

fn refusal_under(batch: &[u8], rules: &Rules<'_>) -> (ErrorCode, bool) {
    let invalid = validate(batch, rules).unwrap_err();
    (invalid.error, invalid.tells_log_start)
}

#[test]
fn a_sound_batch_is_kept_byte_for_byte() {
    let batch = bytes(&batch_of(3).producer(ProducerId(9), ProducerEpoch(2), 40));
    let validated = validate(&batch, &rules()).unwrap();
    assert_eq!(validated.batch, batch);
    let expected = BatchMeta {
        producer_id: ProducerId(9),
        producer_epoch: ProducerEpoch(2),
        base_sequence: 40,
        offset_count: 3,
        max_timestamp: TimestampMs(NOW + 2),
        is_transactional: false,
        log_append_time: TimestampMs(-1),
    };
    assert_eq!(validated.meta, expected);
}

#[test]
fn there_must_be_one_whole_batch() {
    let batch = bytes(&batch_of(1));
    for none in [&[][..], &batch[..11], &batch[..16], &batch[..batch.len() - 1]] {
        assert_eq!(refusal(none), (ErrorCode::InvalidRecord, false));
    }
    assert_eq!(refusal(&batch.repeat(2)), (ErrorCode::InvalidRecord, false));
}

#[test]
fn bytes_behind_the_batch_are_dropped_unless_they_are_another_one_or_nonsense() {
    let batch = bytes(&batch_of(1));
    for tail in [&b"12345"[..], &[1; 20], &batch[..40]] {
        let sent = [&batch, tail].concat();
        assert_eq!(validate(&sent, &rules()).unwrap().batch, batch);
    }
    assert_eq!(refusal(&[&batch, &[0; 20][..]].concat()), (ErrorCode::CorruptMessage, false));
}

#[test]
fn only_format_two_is_taken() {
    for (magic, error) in [
        (0, ErrorCode::InvalidRecord),
        (1, ErrorCode::InvalidRecord),
        (3, ErrorCode::CorruptMessage),
        (255, ErrorCode::CorruptMessage),
    ] {
        let mut batch = bytes(&batch_of(1));
        batch[16] = magic;
        assert_eq!(refusal(&batch), (error, false), "magic {magic}");
    }
}

#[test]
fn impossible_lengths_are_corrupt() {
    for length in [i32::MIN, -1, 0, 13, 14, 20, 48] {
        let mut batch = bytes(&batch_of(1));
        batch[8..12].copy_from_slice(&length.to_be_bytes());
        assert_eq!(refusal(&batch), (ErrorCode::CorruptMessage, false), "length {length}");
        batch.truncate(12 + usize::try_from(length).unwrap_or(0));
        assert_eq!(refusal(&batch), (ErrorCode::CorruptMessage, false), "length {length}, no more than that");
    }
    let mut batch = bytes(&batch_of(1));
    batch[8..12].copy_from_slice(&i32::MAX.to_be_bytes());
    assert_eq!(refusal(&batch), (ErrorCode::InvalidRecord, false));
}

#[test]
fn a_client_leaves_the_base_offset_at_zero() {
    for base_offset in [3, -1, i64::MIN, i64::MAX] {
        let batch = with_header(1, |header| header.base_offset = Offset(base_offset));
        assert_eq!(refusal(&batch), (ErrorCode::InvalidRecord, true));
    }
}

#[test]
fn a_wrong_crc_is_corrupt_but_size_is_looked_at_first() {
    let mut batch = bytes(&batch_of(1));
    batch[17] ^= 1;
    assert_eq!(refusal(&batch), (ErrorCode::CorruptMessage, false));
    let small = Rules { max_message_bytes: 60, ..rules() };
    assert_eq!(refusal_under(&batch, &small), (ErrorCode::MessageTooLarge, false));
}

#[test]
fn max_message_bytes_counts_the_compressed_batch_with_its_header() {
    let batch = bytes(&batch_of(4));
    let size = i32::try_from(batch.len()).unwrap();
    assert!(validate(&batch, &Rules { max_message_bytes: size, ..rules() }).is_ok());
    let smaller = Rules { max_message_bytes: size - 1, ..rules() };
    assert_eq!(refusal_under(&batch, &smaller), (ErrorCode::MessageTooLarge, false));

    let text = b"many words ".repeat(1000);
    let mut builder = BatchBuilder::new().compression(Compression::Zstd);
    builder.push(&NewRecord { value: Some(&text), ..record(0) }).unwrap();
    assert!(validate(&bytes(&builder), &Rules { max_message_bytes: 200, ..rules() }).is_ok());
}

#[test]
fn a_batch_must_fit_a_segment() {
    let batch = bytes(&batch_of(4));
    let size = i32::try_from(batch.len()).unwrap();
    assert!(validate(&batch, &Rules { segment_bytes: size, ..rules() }).is_ok());
    let small = Rules { segment_bytes: size - 1, ..rules() };
    assert_eq!(refusal_under(&batch, &small), (ErrorCode::RecordListTooLarge, false));
}

#[test]
fn counts_must_agree_with_each_other_and_with_the_records() {
    for (record_count, last_offset_delta) in
        [(0, -1), (-1, -2), (0, 0), (1, 1), (2, 0), (1, -1), (i32::MAX, i32::MAX), (i32::MIN, i32::MAX)]
    {
        let batch = with_header(1, |header| {
            header.record_count = record_count;
            header.last_offset_delta = last_offset_delta;
        });
        assert_eq!(refusal(&batch), (ErrorCode::InvalidRecord, true), "{record_count} {last_offset_delta}");
    }
    for codec in Compression::ALL {
        let builder = batch_of(2).compression(codec);
        let batch = bytes(&builder);
        for count in [1, 3, i32::MAX] {
            let header = BatchHeader {
                record_count: count,
                last_offset_delta: count - 1,
                ..BatchHeader::parse(&batch).unwrap()
            };
            let lying = assemble(&header, &batch[BatchHeader::LEN..]).unwrap();
            assert_eq!(refusal(&lying), (ErrorCode::InvalidRecord, true), "{} {count}", codec.name());
        }
    }
}

#[test]
fn offset_deltas_must_count_up_from_zero() {
    // Kafka stores these, to the harm of its consumers.
    for deltas in [[0, 5], [1, 2], [0, 2]] {
        let mut builder = BatchBuilder::new();
        for delta in deltas {
            builder.push_at(delta, &record(delta)).unwrap();
        }
        let batch = bytes(&builder.last_offset_delta(1));
        let mut header = BatchHeader::parse(&batch).unwrap();
        header.last_offset_delta = 1;
        let batch = assemble(&header, &batch[BatchHeader::LEN..]).unwrap();
        assert_eq!(refusal(&batch), (ErrorCode::InvalidRecord, true), "{deltas:?}");
    }
}

#[test]
fn control_batches_are_not_a_clients() {
    assert_eq!(refusal(&bytes(&batch_of(1).control())), (ErrorCode::InvalidRecord, true));
}

#[test]
fn an_idempotent_producer_needs_a_sequence() {
    let batch = bytes(&batch_of(1).producer(ProducerId(5), ProducerEpoch(0), -1));
    assert_eq!(refusal(&batch), (ErrorCode::InvalidRecord, true));
    let no_producer = bytes(&batch_of(1).producer(ProducerId(-2), ProducerEpoch(-1), -1));
    assert!(validate(&no_producer, &rules()).is_ok());
}

#[test]
fn a_compacted_topic_needs_keys_and_the_answer_names_the_records_without() {
    let compacted = Rules { is_compacted: true, ..rules() };
    for codec in Compression::ALL {
        let mut builder = BatchBuilder::new().compression(codec);
        for (delta, key) in (0..).zip([Some(&b"a"[..]), None, Some(b""), None]) {
            builder.push(&NewRecord { key, ..record(delta) }).unwrap();
        }
        let batch = bytes(&builder);
        assert!(validate(&batch, &rules()).is_ok());
        let invalid = validate(&batch, &compacted).unwrap_err();
        assert_eq!((invalid.error, invalid.tells_log_start), (ErrorCode::InvalidRecord, true));
        let indexes: Vec<i32> = invalid.record_errors.iter().map(|error| error.batch_index).collect();
        assert_eq!(indexes, [1, 3]);
        assert!(invalid.record_errors[0].message.contains("words-3"));
        assert!(invalid.message.is_some());
    }
}

#[test]
fn the_list_of_record_errors_has_an_end() {
    let mut builder = BatchBuilder::new().compression(Compression::Zstd);
    for _ in 0..3000 {
        builder.push(&NewRecord { key: None, ..record(0) }).unwrap();
    }
    let invalid = validate(&bytes(&builder), &Rules { is_compacted: true, ..rules() }).unwrap_err();
    assert_eq!(invalid.record_errors.len(), RECORD_ERRORS_MAX);
    assert!(invalid.message.unwrap().starts_with("3000 records"));
}

#[test]
fn timestamps_have_bounds_in_both_directions() {
    let at = |timestamp: i64| {
        let mut builder = BatchBuilder::new();
        builder.push(&NewRecord { timestamp: TimestampMs(timestamp), ..record(0) }).unwrap();
        bytes(&builder)
    };
    let bounded = Rules { before_max_ms: 1000, after_max_ms: 500, ..rules() };
    for fine in [NOW - 1000, NOW, NOW + 500, -1] {
        assert!(validate(&at(fine), &bounded).is_ok(), "{fine}");
    }
    for wrong in [NOW - 1001, NOW + 501, 0, -2, i64::MAX, i64::MIN] {
        let invalid = validate(&at(wrong), &bounded).unwrap_err();
        assert_eq!((invalid.error, invalid.record_errors.len()), (ErrorCode::InvalidTimestamp, 1), "{wrong}");
    }
    // Kafka's defaults: an hour ahead, any time back. The very oldest wraps around and counts as the future there too.
    assert!(validate(&at(NOW + 3_600_000), &rules()).is_ok());
    assert!(validate(&at(-5), &rules()).is_ok());
    for wrong in [NOW + 3_600_001, i64::MIN] {
        assert_eq!(refusal(&at(wrong)), (ErrorCode::InvalidTimestamp, true));
    }
}

#[test]
fn one_bad_timestamp_among_missing_keys_makes_it_a_timestamp_error() {
    let mut builder = BatchBuilder::new();
    builder.push(&NewRecord { key: None, ..record(0) }).unwrap();
    builder.push(&record(1)).unwrap();
    builder.push(&NewRecord { timestamp: TimestampMs(NOW + 9_999_999), ..record(2) }).unwrap();
    let invalid = validate(&bytes(&builder), &Rules { is_compacted: true, ..rules() }).unwrap_err();
    assert_eq!(invalid.error, ErrorCode::InvalidTimestamp);
    let indexes: Vec<i32> = invalid.record_errors.iter().map(|error| error.batch_index).collect();
    assert_eq!(indexes, [0, 2]);
}

#[test]
fn the_append_time_flag_is_not_a_clients_to_set() {
    let batch = bytes(&batch_of(2).log_append_time(TimestampMs(NOW)));
    for timestamp_type in [TimestampType::CreateTime, TimestampType::LogAppendTime] {
        let invalid = validate(&batch, &Rules { timestamp_type, ..rules() }).unwrap_err();
        assert_eq!((invalid.error, invalid.record_errors.len()), (ErrorCode::InvalidTimestamp, 2));
    }
}

#[test]
fn a_topic_with_append_time_gets_it_set_whatever_the_records_say() {
    let rules = Rules { timestamp_type: TimestampType::LogAppendTime, now: TimestampMs(NOW + 77), ..rules() };
    for codec in Compression::ALL {
        let mut builder = BatchBuilder::new().compression(codec);
        builder.push(&NewRecord { timestamp: TimestampMs(i64::MAX), ..record(0) }).unwrap();
        let validated = validate(&bytes(&builder), &rules).unwrap();
        let header = BatchHeader::parse(&validated.batch).unwrap();
        assert_eq!(header.attributes.timestamp_type(), TimestampType::LogAppendTime);
        assert_eq!(header.max_timestamp, TimestampMs(NOW + 77));
        assert_eq!(header.check_crc(&validated.batch), Ok(()));
        assert_eq!(validated.meta.log_append_time, TimestampMs(NOW + 77));
    }
}

#[test]
fn a_lying_max_timestamp_is_put_right() {
    for lie in [-1, 7, NOW + 99] {
        let batch = with_header(3, |header| header.max_timestamp = TimestampMs(lie));
        let validated = validate(&batch, &rules()).unwrap();
        let header = BatchHeader::parse(&validated.batch).unwrap();
        assert_eq!(header.max_timestamp, TimestampMs(NOW + 2));
        assert_eq!(validated.meta.max_timestamp, TimestampMs(NOW + 2));
        assert_eq!(header.check_crc(&validated.batch), Ok(()));
    }
}

#[test]
fn old_produce_versions_carry_no_zstd() {
    let batch = bytes(&batch_of(1).compression(Compression::Zstd));
    let old = Rules { produce_version: 6, ..rules() };
    assert_eq!(refusal_under(&batch, &old), (ErrorCode::UnsupportedCompressionType, false));
    assert!(validate(&batch, &Rules { produce_version: 7, ..rules() }).is_ok());
    assert!(validate(&bytes(&batch_of(1).compression(Compression::Lz4)), &old).is_ok());
}

#[test]
fn codecs_without_a_meaning_and_streams_that_are_none_are_refused() {
    for codec in 5..8 {
        assert_eq!(refusal(&with_payload(codec, b"x")), (ErrorCode::UnsupportedCompressionType, true));
    }
    for codec in 1..5 {
        for payload in [&b""[..], b"garbage12345", &[0xff; 64]] {
            assert_eq!(refusal(&with_payload(codec, payload)), (ErrorCode::InvalidRecord, true), "codec {codec}");
        }
    }
    for codec in [Compression::Gzip, Compression::Snappy, Compression::Lz4, Compression::Zstd] {
        let batch = bytes(&batch_of(50).compression(codec));
        let header = BatchHeader::parse(&batch).unwrap();
        let payload = &batch[BatchHeader::LEN..];
        for cut in 0..payload.len() {
            let cut_batch = assemble(&header, &payload[..cut]).unwrap();
            assert_eq!(refusal(&cut_batch).0, ErrorCode::InvalidRecord, "{} cut at {cut}", codec.name());
        }
    }
}

#[test]
fn lying_records_are_refused() {
    // Attributes, timestamp delta, offset delta, key, value, headers.
    for (name, body) in [
        ("nothing", &[][..]),
        ("headers missing", &[0, 0, 0, 1, 1]),
        ("negative header count", &[0, 0, 0, 1, 1, 1]),
        ("2^31-1 headers", &[0, 0, 0, 1, 1, 0xfe, 0xff, 0xff, 0xff, 0x0f]),
        ("a header less", &[0, 0, 0, 1, 1, 2]),
        ("a header without key", &[0, 0, 0, 1, 1, 2, 1, 0]),
        ("a key of 99999 bytes", &[0, 0, 0, 0xbe, 0x9a, 0x0c, 1, 0]),
        (
            "a varint of eleven bytes",
            &[0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 1, 1, 0],
        ),
        ("bytes at the end", &[0, 0, 0, 1, 1, 0, b'z']),
    ] {
        let record = raw_record(body);
        for codec in Compression::ALL {
            let payload = codec.compress(&mut &*record, usize::MAX).unwrap();
            let batch = with_payload(codec.id(), &payload);
            assert_eq!(refusal(&batch), (ErrorCode::InvalidRecord, true), "{name}, {}", codec.name());
        }
    }
    for (name, payload) in [("negative size", &[5][..]), ("size beyond the end", &[0xb0, 0x2e, 0, 0, 0, 1, 1, 0])] {
        assert_eq!(refusal(&with_payload(0, payload)), (ErrorCode::InvalidRecord, true), "{name}");
    }
}

#[test]
fn odd_but_harmless_records_pass_as_in_kafka() {
    for (name, body) in [
        ("attribute bits", &[0xff, 0, 0, 1, 1, 0][..]),
        ("key length -7 is null", &[0, 0, 0, 13, 1, 0]),
        ("a needlessly long varint", &[0, 0, 0x80, 0x80, 0x80, 0x80, 0, 1, 1, 0]),
    ] {
        assert!(validate(&with_payload(0, &raw_record(body)), &rules()).is_ok(), "{name}");
    }
    for bits in [0x40, 0x80, 0x100] {
        let batch = with_header(1, |header| header.attributes = Attributes(bits));
        assert_eq!(validate(&batch, &rules()).unwrap().batch, batch);
    }
}

#[test]
fn a_single_record_of_a_compressed_batch_can_be_limited() {
    let mut builder = BatchBuilder::new();
    builder.push(&NewRecord { value: Some(&[7; 500]), ..record(0) }).unwrap();
    let limited = Rules { max_decompressed_message_bytes: 400, ..rules() };
    assert!(validate(&bytes(&builder), &limited).is_ok());
    let compressed = bytes(&builder.compression(Compression::Gzip));
    assert!(validate(&compressed, &rules()).is_ok());
    assert_eq!(refusal_under(&compressed, &limited), (ErrorCode::InvalidRecord, true));
}

#[test]
fn a_topics_own_codec_replaces_the_clients() {
    for source in Compression::ALL {
        for target in Compression::ALL {
            let mut builder = batch_of(40).compression(source).producer(ProducerId(1), ProducerEpoch(2), 3);
            builder.push(&NewRecord { headers: &[(b"h", None)], ..record(40) }).unwrap();
            let sent = bytes(&builder);
            let rules = Rules { compression_type: Some(target), ..rules() };
            let validated = validate(&sent, &rules).unwrap();
            let (before, after) = (BatchHeader::parse(&sent).unwrap(), BatchHeader::parse(&validated.batch).unwrap());
            assert_eq!(after.attributes.compression(), Ok(target));
            assert_eq!(after.check_crc(&validated.batch), Ok(()));
            assert_eq!(after.total_len(), validated.batch.len());
            assert_eq!(validated.meta, BatchMeta::from(&before));
            let (old, new) =
                (records(&before, &sent, 1 << 20).unwrap(), records(&after, &validated.batch, 1 << 20).unwrap());
            let read = |header, bytes| RecordIter::new(header, bytes).collect::<Result<Vec<_>, _>>().unwrap();
            assert_eq!(read(&before, &old), read(&after, &new));
            if source == target {
                assert_eq!(validated.batch, sent);
            }
        }
    }
}

#[test]
fn a_batch_that_grows_beyond_the_limit_when_compressed_anew_is_too_large() {
    let text = b"many words ".repeat(1000);
    let mut builder = BatchBuilder::new().compression(Compression::Zstd);
    builder.push(&NewRecord { value: Some(&text), ..record(0) }).unwrap();
    let batch = bytes(&builder);
    let rules = Rules { compression_type: Some(Compression::None), max_message_bytes: 5000, ..rules() };
    assert_eq!(refusal_under(&batch, &rules), (ErrorCode::MessageTooLarge, false));
    let unpacked = validate(&batch, &Rules { max_message_bytes: 1_000_000, ..rules }).unwrap().batch.len();
    let unpacked = i32::try_from(unpacked).unwrap();
    assert!(validate(&batch, &Rules { max_message_bytes: unpacked, ..rules }).is_ok());
    let rules = Rules { max_message_bytes: unpacked - 1, ..rules };
    assert_eq!(refusal_under(&batch, &rules), (ErrorCode::MessageTooLarge, false), "its header counts too");
}
