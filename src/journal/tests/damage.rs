//! Damage to what was durable and is still needed is never taken for a torn end.

use super::*;

struct Placed {
    path: String,
    position: usize,
    header: Header,
}

/// The frames on the disk, in order.
fn frames(disk: &SimDisk) -> Vec<Placed> {
    let mut placed = Vec::new();
    for (path, bytes) in disk.contents() {
        let Some(sequence) = path.strip_suffix(".journal").and_then(|path| path.rsplit('/').next()) else { continue };
        let sequence = sequence.parse().unwrap();
        let mut position = 0;
        while position < bytes.len() {
            let mut step = 4096;
            if let frame::Found::Header(header) = Header::find(&bytes[position..], sequence) {
                placed.push(Placed { path: path.clone(), position, header });
                step = header.frame_bytes();
            }
            position += step;
        }
    }
    placed
}

/// A disk with a history on it, and its checkpoint.
fn history(rng: &mut Rng) -> (SimDisk, u64, u64, Vec<Entry>) {
    let disk = new_disk();
    let file_bytes = 4096 * (4 + rng.below(24));
    let (mut journal, _, _) = open(&options(&disk, file_bytes), 0).unwrap();
    journal.frame_bytes = 4096 * (1 + usize::try_from(rng.below(6)).unwrap());
    let mut written = Vec::new();
    let mut checkpoint = 0;
    for _ in 0..6 + rng.below(20) {
        let first = written.len() as u64 + 1;
        let round: Vec<_> = (first..=first + rng.below(4)).map(|lsn| random_entry(rng, Lsn(lsn))).collect();
        journal.write(&round).unwrap();
        written.extend(round);
        if rng.below(4) > 0 {
            journal.sync().unwrap();
        }
        if rng.below(8) == 0 {
            checkpoint += rng.below(journal.synced_lsn().0 - checkpoint + 1);
            journal.recycle(Lsn(checkpoint)).unwrap();
        }
    }
    (disk, file_bytes, checkpoint, written)
}

/// Spoils a frame in one of several ways.
fn spoil(disk: &SimDisk, victim: &Placed, rng: &mut Rng) {
    let start = victim.position;
    let payload_bytes = usize::try_from(victim.header.payload_bytes).unwrap();
    disk.corrupt(Path::new(&victim.path), |bytes| match rng.below(4) {
        0 => bytes[start + usize::try_from(rng.below(56)).unwrap()] ^= 1 << rng.below(8),
        1 => {
            // Any byte up to the payload's checksum; the tags of later blocks push its end back.
            let end = 56 + payload_bytes + 4 + 4 * (victim.header.frame_bytes() / 4096 - 1);
            bytes[start + usize::try_from(rng.below(end as u64)).unwrap()] ^= 1 << rng.below(8);
        }
        2 => {
            let page = start + 4096 * usize::try_from(rng.below(victim.header.frame_bytes() as u64 / 4096)).unwrap();
            // The last page may hold padding only behind its tag.
            bytes[page..page + 4096].fill(0);
        }
        _ => bytes[start..start + 4096].fill(0xff),
    })
    .unwrap();
}

#[test]
fn damage_is_refused_and_nothing_is_touched() {
    let (mut refused, mut not_needed) = (0, 0);
    for seed in seeds(700) {
        let guard = Seed(seed);
        let mut rng = Rng::from_seed(seed);
        let (disk, file_bytes, checkpoint, written) = history(&mut rng);
        let disk = if rng.below(2) == 0 { disk.process_kill() } else { disk.power_loss(rng.next_u64(), 50) };
        let frames = frames(&disk);
        let is_durable = |index: usize, victim: &Placed| {
            let others = frames.iter().enumerate().filter(|(other, _)| *other != index);
            others.map(|(_, other)| other.header.synced_through).max() >= Some(victim.header.last)
        };
        let durable: Vec<_> = frames.iter().enumerate().filter(|(index, frame)| is_durable(*index, frame)).collect();
        if durable.is_empty() {
            continue;
        }
        let (_, victim) = durable[usize::try_from(rng.below(durable.len() as u64)).unwrap()];
        spoil(&disk, victim, &mut rng);
        let before = disk.contents();
        let opened = open(&options(&disk, file_bytes), checkpoint);
        if victim.header.last > Lsn(checkpoint) {
            let error = opened.err().expect("damage is not a torn end");
            assert!(matches!(error, JournalError::Damaged { .. }), "{error}");
            assert_eq!(disk.contents(), before, "nothing may be changed");
            refused += 1;
        } else {
            let (_, recovered, entries) = opened.expect("what a checkpoint covers is not needed");
            let (from, to) = (usize::try_from(checkpoint).unwrap(), usize::try_from(recovered.last.0).unwrap());
            assert_eq!(entries, written[from..to]);
            not_needed += 1;
        }
        drop(guard);
    }
    println!("damage refused {refused} times, passed over {not_needed} times where it was not needed");
    assert!(std::env::var("SEED").is_ok() || (refused > 300 && not_needed > 60), "{refused} {not_needed}");
}

#[test]
fn a_missing_file_is_damage() {
    let mut refused = 0;
    for seed in seeds(300) {
        let guard = Seed(seed);
        let mut rng = Rng::from_seed(seed);
        let (disk, file_bytes, checkpoint, _) = history(&mut rng);
        let disk = disk.process_kill();
        let frames = frames(&disk);
        // A file before the last one that holds needed frames.
        let last_path = frames.last().map(|frame| frame.path.clone());
        let victims = frames.iter().filter(|frame| frame.header.last > Lsn(checkpoint));
        let victims: Vec<_> = victims.filter(|frame| Some(&frame.path) != last_path.as_ref()).collect();
        if victims.is_empty() {
            continue;
        }
        let victim = victims[usize::try_from(rng.below(victims.len() as u64)).unwrap()];
        disk.remove_file(Path::new(&victim.path)).unwrap();
        let before = disk.contents();
        let error = open(&options(&disk, file_bytes), checkpoint).err().expect("a missing file is damage");
        assert!(matches!(error, JournalError::Damaged { .. }), "{error}");
        assert_eq!(disk.contents(), before);
        refused += 1;
        drop(guard);
    }
    assert!(std::env::var("SEED").is_ok() || refused > 80, "{refused}");
}
