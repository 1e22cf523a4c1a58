//! The bytes of a frame, and bytes that are none.

use super::*;
use crate::journal::frame::{Entries, Found, Unreadable};

fn header(first: u64) -> Header {
    Header {
        generation: 7,
        round: 9,
        first: Lsn(first),
        last: Lsn(first),
        synced_through: Lsn(first - 1),
        payload_bytes: 0,
    }
}

fn frame_of(entries: &[Entry]) -> Vec<u8> {
    let mut builder = Builder::new(header(entries[0].lsn.0), 0);
    for entry in entries {
        builder.add(entry);
    }
    builder.finish()
}

fn read(frame: &[u8]) -> Option<Vec<Entry>> {
    let Found::Header(header) = Header::find(frame, 7) else { return None };
    let payload = frame::payload(&header, frame.to_vec())?;
    Entries::new(&header, &payload).collect::<Result<_, _>>().ok()
}

fn hex(bytes: &[u8]) -> String {
    let line = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ") + "\n";
    bytes.chunks(16).map(line).collect()
}

/// One entry of every kind of item, pinned for ever: a file written today is read by every later version.
#[test]
fn golden_bytes_of_a_frame() {
    let partition = TopicPartition { topic_id: TopicId::from_bytes([0xaa; 16]), partition: 2 };
    let entries = [
        Entry {
            lsn: Lsn(0x0102),
            items: vec![
                Item::Put { key: Bytes::from_static(b"key"), value: Bytes::from_static(b"value") },
                Item::Delete { key: Bytes::from_static(b"gone") },
            ],
        },
        Entry {
            lsn: Lsn(0x0103),
            items: vec![
                Item::DeletePrefix { prefix: Bytes::from_static(b"group") },
                Item::Append { partition, base_offset: 5, batch: Bytes::from_static(b"batch") },
            ],
        },
    ];
    let frame = frame_of(&entries);
    assert_eq!(frame.len(), 4096);
    let end = frame.iter().rposition(|byte| *byte != 0).unwrap() + 1;
    expect_test::expect![[r"
        53 4b 4a 31 00 01 00 00 00 00 00 00 00 00 00 07
        00 00 00 00 00 00 00 09 00 00 00 00 00 00 01 02
        00 00 00 00 00 00 01 03 00 00 00 00 00 00 01 01
        00 00 00 52 7e 9d af 12 00 00 00 02 01 00 00 00
        03 6b 65 79 00 00 00 05 76 61 6c 75 65 02 00 00
        00 04 67 6f 6e 65 00 00 00 02 03 00 00 00 05 67
        72 6f 75 70 04 aa aa aa aa aa aa aa aa aa aa aa
        aa aa aa aa aa 00 00 00 02 00 00 00 00 00 00 00
        05 00 00 00 05 62 61 74 63 68 8c dc a4 5c
    "]]
    .assert_eq(&hex(&frame[..end]));
    assert_eq!(read(&frame), Some(entries.to_vec()));
}

#[test]
fn frames_of_any_size_come_back() {
    for value_bytes in (0..40).chain(3_960..4_060).chain(8_050..8_150).chain([100_000, 20 << 20]) {
        let entries = [entry(5, value_bytes), entry(6, 0)];
        let payload_bytes = entries.iter().map(frame::entry_bytes).sum();
        let frame = frame_of(&entries);
        assert_eq!(frame.len(), frame::frame_bytes(payload_bytes), "{value_bytes}");
        assert_eq!(read(&frame).as_deref(), Some(&entries[..]), "{value_bytes}");
    }
}

#[test]
fn any_flipped_bit_is_noticed() {
    let frame = frame_of(&[entry(5, 4_100)]);
    let used = 56 + frame::entry_bytes(&entry(5, 4_100)) + 4 + 4;
    for bit in 0..used * 8 {
        let mut bad = frame.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(read(&bad), None, "bit {bit}");
    }
}

#[test]
fn a_frame_of_the_files_former_life_is_not_valid() {
    let frame = frame_of(&[entry(5, 10)]);
    assert_eq!(Header::find(&frame, 8), Found::Nothing);
    assert!(matches!(Header::find(&frame, 7), Found::Header(_)));
    for short in 0..56 {
        assert_eq!(Header::find(&frame[..short], 7), Found::Nothing);
    }
}

/// A client can store a copy of our own journal: its bytes must not look like headers where they come to lie.
#[test]
fn a_frame_inside_a_payload_is_never_at_a_boundary() {
    let inner = frame_of(&[entry(900, 10)]);
    for shift in 0..4096 {
        let mut value = vec![0; shift];
        value.extend(&inner);
        let put = Item::Put { key: Bytes::new(), value: value.into() };
        let frame = frame_of(&[Entry { lsn: Lsn(5), items: vec![put] }]);
        for boundary in (4096..frame.len()).step_by(4096) {
            assert_eq!(Header::find(&frame[boundary..], 7), Found::Nothing, "shift {shift}");
        }
    }
}

/// Rewrites a frame's payload and puts the checksums right, as only a faulty or newer writer could.
fn forge(payload: &[u8], entry_count: u64) -> Vec<Result<Entry, Unreadable>> {
    let header = Header { last: Lsn(4 + entry_count), ..header(5) };
    Entries::new(&header, payload).collect()
}

#[test]
fn lying_counts_and_lengths_are_errors_and_cost_nothing() {
    assert_eq!(forge(&[0, 0, 0, 0], 1), [Ok(Entry { lsn: Lsn(5), items: vec![] })]);
    assert_eq!(forge(&[0, 0, 0, 0], 2), [Ok(Entry { lsn: Lsn(5), items: vec![] }), Err(Unreadable)]);
    assert_eq!(forge(&[0, 0, 0, 0, 0], 1).last(), Some(&Err(Unreadable)), "bytes left over");
    assert_eq!(forge(&[0xff, 0xff, 0xff, 0xff], 1), [Err(Unreadable)]);
    assert_eq!(forge(&[0, 0, 0, 1, 2, 0xff, 0xff, 0xff, 0xff], 1), [Err(Unreadable)]);
    assert_eq!(forge(&[0, 0, 0, 1, 5, 0, 0, 0, 0], 1), [Err(Unreadable)], "append_ref is not known yet");
    assert_eq!(forge(&[0, 0, 0, 2, 2, 0, 0, 0, 0], 1), [Err(Unreadable)]);
}

#[test]
fn a_frame_of_a_newer_format_is_not_taken_for_a_torn_one() {
    let disk = new_disk();
    let (mut journal, _, _) = open(&options(&disk, 1 << 20), 0).unwrap();
    journal.write_round(&[entry(1, 10)]).unwrap();
    drop(journal);
    let path = Path::new(DIR).join("00000000000000000001.journal");
    disk.corrupt(&path, |bytes| {
        bytes[5] = 2;
        let crc = crc32c::crc32c_append(crc32c::crc32c(&1u64.to_be_bytes()), &bytes[..52]);
        bytes[52..56].copy_from_slice(&crc.to_be_bytes());
    })
    .unwrap();
    let error = open(&options(&disk, 1 << 20), 0).err().unwrap();
    assert!(matches!(error, JournalError::Newer { version: 2, known: 1, .. }), "{error}");
}
