//! Values that are not what was written. The bytes of each record's value are pinned where records and keys meet, in
//! `runtime/persist`.

use super::*;
use crate::types::{TopicId, TopicPartition};

const TOPIC: TopicId = TopicId::from_bytes([0xaa; 16]);

fn sample() -> (Bytes, Bytes) {
    let key = Key::HeadEnd(TopicPartition { topic_id: TOPIC, partition: 3 });
    let value = encode(&key.encode(), key.record_type(), 1, Lsn(5), &6i64);
    (key.encode(), value)
}

#[test]
fn any_flipped_bit_and_any_missing_byte_is_noticed() {
    let (key, value) = sample();
    for bit in 0..value.len() * 8 {
        let mut bad = value.to_vec();
        bad[bit / 8] ^= 1 << (bit % 8);
        let error = decode(&key, &bad).unwrap_err();
        assert!(matches!(error, EnvelopeError::Damaged { .. }), "{error}");
    }
    for len in 0..value.len() {
        assert!(matches!(decode(&key, &value[..len]), Err(EnvelopeError::Damaged { .. })));
    }
}

#[test]
fn a_value_under_another_key_is_noticed() {
    let (_, value) = sample();
    let other = Key::HeadEnd(TopicPartition { topic_id: TOPIC, partition: 4 });
    let error = decode(&other.encode(), &value).unwrap_err();
    let text = "the stored value of HeadEnd(qqqqqqqqqqqqqqqqqqqqqg-4) is damaged: its checksum is wrong. Bring the data \
                directory back from a backup";
    assert_eq!(error.to_string(), text);
}

#[test]
fn a_value_of_another_type_is_refused() {
    let key = Key::ProducerIds.encode();
    let value = encode(&key, 17, 1, Lsn(1), &());
    assert!(matches!(decode(&key, &value), Err(EnvelopeError::WrongType { expected: 133, got: 17, .. })));
}

/// Changes some bytes and puts the checksum right, as only another version of this program would.
fn forge(key: &[u8], value: &[u8], at: usize, byte: u8) -> Vec<u8> {
    let mut forged = value[..value.len() - CRC_BYTES].to_vec();
    forged[at] = byte;
    let crc = checksum(key, &forged);
    forged.extend(crc.to_be_bytes());
    forged
}

#[test]
fn what_a_later_version_wrote_is_refused_with_what_to_do() {
    let (key, value) = sample();
    for (at, what) in [(4, "codec"), (5, "flags")] {
        let forged = forge(&key, &value, at, 9);
        let EnvelopeError::Newer { what: found, got: 9, .. } = decode(&key, &forged).unwrap_err() else { panic!() };
        assert_eq!(found, what);
    }
    let forged = forge(&key, &value, 3, 2);
    let error = decode(&key, &forged).unwrap().payload::<i64>(1).unwrap_err();
    let text = "the stored value of HeadEnd(qqqqqqqqqqqqqqqqqqqqqg-3) has version 2, which this program does not know; \
                start the version that wrote it, or a later one";
    assert_eq!(error.to_string(), text);
}

#[test]
fn a_payload_that_is_not_the_struct_is_an_error() {
    let (key, value) = sample();
    let envelope = decode(&key, &value).unwrap();
    let longer = envelope.payload::<(i64, u8)>(1).unwrap_err();
    let shorter = envelope.payload::<i32>(1).unwrap_err();
    for error in [longer, shorter] {
        assert!(matches!(error, EnvelopeError::Damaged { .. }), "{error}");
    }
    // A length that lies does not make anything large.
    let huge = encode(&key, 135, 1, Lsn(1), &u64::MAX);
    let error = decode(&key, &huge).unwrap().payload::<Vec<u64>>(1).unwrap_err();
    assert!(matches!(error, EnvelopeError::Damaged { .. }), "{error}");
}
