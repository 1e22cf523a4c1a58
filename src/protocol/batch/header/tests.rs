//! A batch's header: reading, checking and patching.

use super::*;
use crate::protocol::batch::{BatchBuilder, NewRecord};

fn batch() -> BytesMut {
    let mut builder = BatchBuilder::new();
    builder.push(&NewRecord { timestamp: TimestampMs(1000), value: Some(b"v"), ..NewRecord::default() }).unwrap();
    builder.build().unwrap()
}

#[test]
fn a_place_can_be_given_without_a_new_crc() {
    let mut batch = batch();
    set_base_offset(&mut batch, Offset(1 << 40)).unwrap();
    set_leader_epoch(&mut batch, 0).unwrap();
    let header = BatchHeader::parse(&batch).unwrap();
    assert_eq!((header.base_offset, header.leader_epoch), (Offset(1 << 40), 0));
    assert_eq!(header.last_offset(), Offset(1 << 40));
    assert_eq!(header.check_crc(&batch), Ok(()));
}

#[test]
fn an_append_time_changes_flag_time_and_crc_and_keeps_the_other_bits() {
    let mut batch = BatchBuilder::new().transactional().build().unwrap();
    let meaningless = Attributes(0x0190);
    let header = BatchHeader { attributes: meaningless, ..BatchHeader::parse(&batch).unwrap() };
    let mut with_meaningless_bits = assemble(&header, &[]).unwrap();
    set_max_timestamp(&mut with_meaningless_bits, TimestampType::CreateTime, TimestampMs(-1)).unwrap();
    assert_eq!(with_meaningless_bits, batch);
    let crc = BatchHeader::parse(&batch).unwrap().crc;
    set_max_timestamp(&mut batch, TimestampType::LogAppendTime, TimestampMs(77)).unwrap();
    let header = BatchHeader::parse(&batch).unwrap();
    assert_eq!(header.attributes, Attributes(0x18));
    assert_eq!(header.max_timestamp, TimestampMs(77));
    assert_ne!(header.crc, crc);
    assert_eq!(header.check_crc(&batch), Ok(()));
    set_max_timestamp(&mut batch, TimestampType::CreateTime, TimestampMs(-1)).unwrap();
    assert_eq!(BatchHeader::parse(&batch).unwrap().crc, crc);
}

#[test]
fn what_is_no_header_is_refused() {
    let batch = batch();
    assert_eq!(BatchHeader::parse(&batch[..60]), Err(BatchError::Truncated));
    for magic in [0, 1, 3, 0xff] {
        let mut other = batch.clone();
        other[16] = magic;
        assert!(matches!(BatchHeader::parse(&other), Err(BatchError::UnsupportedMagic(_))));
    }
    for length in [i32::MIN, -1, 0, 48] {
        let mut other = batch.clone();
        other[8..12].copy_from_slice(&length.to_be_bytes());
        assert_eq!(BatchHeader::parse(&other), Err(BatchError::BadLength(length)));
    }
    let mut long = batch.clone();
    long[8..12].copy_from_slice(&i32::MAX.to_be_bytes());
    let header = BatchHeader::parse(&long).unwrap();
    assert_eq!(header.check_crc(&long), Err(BatchError::Truncated));
    assert_eq!(header.payload(&long), Err(BatchError::Truncated));
}

#[test]
fn a_flipped_bit_behind_the_crc_is_found() {
    let batch = batch();
    let header = BatchHeader::parse(&batch).unwrap();
    for at in 21..batch.len() {
        let mut damaged = batch.clone();
        damaged[at] ^= 0x10;
        assert!(matches!(header.check_crc(&damaged), Err(BatchError::BadCrc { .. })), "byte {at}");
    }
}

#[test]
fn patches_of_too_few_bytes_change_nothing() {
    assert_eq!(set_base_offset(&mut [1; 7], Offset(9)), Err(BatchError::Truncated));
    let mut short = [1; 15];
    assert_eq!(set_leader_epoch(&mut short, 9), Err(BatchError::Truncated));
    assert_eq!(short, [1; 15]);
    assert!(set_max_timestamp(&mut short, TimestampType::LogAppendTime, TimestampMs(0)).is_err());
}

#[test]
fn sequences_begin_again_at_zero() {
    assert_eq!(add_to_sequence(0, 0), 0);
    assert_eq!(add_to_sequence(5, 3), 8);
    assert_eq!(add_to_sequence(i32::MAX, 1), 0);
    assert_eq!(add_to_sequence(i32::MAX - 1, 2), 0);
    assert_eq!(add_to_sequence(i32::MAX, i32::MAX), i32::MAX - 1);
}
