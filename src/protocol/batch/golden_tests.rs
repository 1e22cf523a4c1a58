//! Batches of real clients are read to the last byte. How they were made: `testdata/README.md`.

use super::*;
use crate::types::{Offset, ProducerEpoch, ProducerId, TimestampMs};

const T: i64 = 1_700_000_000_000;

fn bytes_of(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

macro_rules! golden {
    ($name:literal) => {
        ($name, bytes_of(include_str!(concat!("testdata/", $name, ".hex"))))
    };
}

/// What a record says, as text.
fn told(batch: &[u8]) -> Vec<String> {
    let header = BatchHeader::parse(batch).unwrap();
    let bytes = records(&header, batch, 1 << 20).unwrap();
    let text = |bytes: Option<&[u8]>| match bytes {
        None => "null".to_owned(),
        Some(bytes) if bytes.len() > 100 => format!("{} bytes", bytes.len()),
        Some(bytes) => format!("{:?}", str::from_utf8(bytes).unwrap()),
    };
    RecordIter::new(&header, &bytes)
        .map(|record| {
            let record = record.unwrap();
            let headers: Vec<String> = record
                .headers
                .map(|(key, value)| format!("{}={}", str::from_utf8(key).unwrap(), text(value)))
                .collect();
            format!(
                "{} T{:+} {}={} [{}]",
                record.offset_delta,
                record.timestamp.0 - T,
                text(record.key),
                text(record.value),
                headers.join(" ")
            )
        })
        .collect()
}

fn rules() -> Rules<'static> {
    Rules {
        topic: "words",
        partition: 0,
        max_message_bytes: 1_048_588,
        max_decompressed_message_bytes: 2_147_483_639,
        segment_bytes: 1 << 30,
        is_compacted: false,
        timestamp_type: TimestampType::CreateTime,
        before_max_ms: i64::MAX,
        after_max_ms: 3_600_000,
        compression_type: None,
        now: TimestampMs(T + 1000),
        produce_version: 13,
    }
}

#[test]
fn batches_of_java_and_librdkafka_in_every_codec_are_read() {
    let small = [
        r#"0 T+0 "a"="1" [trace="x" none=null]"#,
        r#"1 T+5 null="2" []"#,
        r#"2 T-3 "b"=null []"#,
        r#"3 T+10 ""="" []"#,
    ];
    for (name, batch) in [golden!("java-none"), golden!("librdkafka-none")] {
        assert_eq!(told(&batch), small, "{name}");
    }
    for (name, batch) in [
        golden!("java-gzip"),
        golden!("java-snappy"),
        golden!("java-lz4"),
        golden!("java-zstd"),
        golden!("java-zstd-22"),
        golden!("librdkafka-gzip"),
        golden!("librdkafka-snappy"),
        golden!("librdkafka-lz4"),
        golden!("librdkafka-zstd"),
    ] {
        let mut expected: Vec<&str> = small.to_vec();
        expected.push(r#"4 T+300 "big"=100000 bytes []"#);
        assert_eq!(told(&batch), expected, "{name}");
    }
}

#[test]
fn they_pass_validation_unchanged() {
    for (name, mut batch) in [
        golden!("java-none"),
        golden!("java-gzip"),
        golden!("java-snappy"),
        golden!("java-lz4"),
        golden!("java-zstd"),
        golden!("java-zstd-22"),
        golden!("librdkafka-none"),
        golden!("librdkafka-gzip"),
        golden!("librdkafka-snappy"),
        golden!("librdkafka-lz4"),
        golden!("librdkafka-zstd"),
    ] {
        let header = BatchHeader::parse(&batch).unwrap();
        assert_eq!(header.total_len(), batch.len(), "{name}");
        assert_eq!(header.check_crc(&batch), Ok(()), "{name}");
        // librdkafka's were read back from a broker, which had set the leader epoch.
        set_leader_epoch(&mut batch, -1).unwrap();
        let validated = validate(&batch, &rules()).unwrap();
        assert_eq!(validated.batch, batch, "{name}");
        assert_eq!(validated.meta.max_timestamp.0, header.max_timestamp.0, "{name}");
    }
}

#[test]
fn the_header_of_a_java_batch_is_read_and_written() {
    let (_, batch) = golden!("java-none");
    let header = BatchHeader::parse(&batch).unwrap();
    let expected = BatchHeader {
        base_offset: Offset(0),
        batch_length: 95,
        leader_epoch: -1,
        magic: 2,
        crc: 0xe9f7_11ad,
        attributes: Attributes(0),
        last_offset_delta: 3,
        base_timestamp: TimestampMs(T),
        max_timestamp: TimestampMs(T + 10),
        producer_id: ProducerId(4000),
        producer_epoch: ProducerEpoch(7),
        base_sequence: 42,
        record_count: 4,
    };
    assert_eq!(header, expected);
    let mut builder = BatchBuilder::new().producer(ProducerId(4000), ProducerEpoch(7), 42);
    let headers: [(&[u8], Option<&[u8]>); 2] = [(b"trace", Some(b"x")), (b"none", None)];
    let (a, b, empty) = (Some(&b"a"[..]), Some(&b"b"[..]), Some(&b""[..]));
    let story = [(0, a, Some(&b"1"[..])), (5, None, Some(b"2")), (-3, b, None), (10, empty, empty)];
    for (delta, key, value) in story {
        let headers = if delta == 0 { &headers[..] } else { &[] };
        builder.push(&NewRecord { timestamp: TimestampMs(T + delta), key, value, headers }).unwrap();
    }
    assert_eq!(builder.build().unwrap(), batch, "our builder writes the very bytes of Java's");
}

#[test]
fn a_batch_with_append_time_gives_that_time_for_all_records() {
    let (_, batch) = golden!("java-log-append-time");
    let header = BatchHeader::parse(&batch).unwrap();
    assert_eq!(header.base_offset, Offset(9));
    assert_eq!(header.attributes.timestamp_type(), TimestampType::LogAppendTime);
    let bytes = records(&header, &batch, 1000).unwrap();
    let record = RecordIter::new(&header, &bytes).next().unwrap().unwrap();
    assert_eq!(record.timestamp, header.max_timestamp);
    assert_eq!(BatchMeta::from(&header).log_append_time, header.max_timestamp);
}

#[test]
fn a_transaction_marker_is_read_and_written() {
    let (_, batch) = golden!("java-commit-marker");
    let header = BatchHeader::parse(&batch).unwrap();
    assert!(header.attributes.is_control() && header.attributes.is_transactional());
    let marker = NewRecord {
        timestamp: TimestampMs(T),
        key: Some(&[0, 0, 0, 1]),
        value: Some(&[0, 0, 0, 0, 0, 5]),
        headers: &[],
    };
    let mut builder = BatchBuilder::new()
        .producer(ProducerId(4000), ProducerEpoch(7), -1)
        .transactional()
        .control()
        .at(Offset(17), 3);
    builder.push(&marker).unwrap();
    assert_eq!(builder.build().unwrap(), batch);
}
