//! Thousands of random histories: rounds, checkpoints, kills, power losses, failing syncs, and stops in the middle of
//! anything, a recovery included.

use super::*;
use crate::disk::sim::Fault;

#[derive(Default, Debug)]
struct Counts {
    rounds: u64,
    kills: u64,
    power_losses: u64,
    stops_midway: u64,
    failed_syncs: u64,
    stops_in_recovery: u64,
    cuts: u64,
    cut_frames: usize,
    behind_checkpoint: u64,
    entries_read: u64,
}

struct World {
    rng: Rng,
    disk: SimDisk,
    file_bytes: u64,
    frame_bytes: usize,
    journal: Option<Journal>,
    /// Every entry of the one true history, durable or not; the first has lsn 1.
    written: Vec<Entry>,
    /// Everything up to here was promised to be durable.
    promised: u64,
    checkpoint: u64,
    /// Whether a call has failed since the last open.
    failed: bool,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::from_seed(seed);
        let file_bytes = 4096 * (1 + rng.below(24));
        let frame_bytes = 4096 * (1 + usize::try_from(rng.below(6)).unwrap());
        let disk = new_disk();
        let written = Vec::new();
        let mut world = Self {
            rng,
            disk,
            file_bytes,
            frame_bytes,
            journal: None,
            written,
            promised: 0,
            checkpoint: 0,
            failed: false,
        };
        world.reopen(&mut Counts::default(), true);
        world
    }

    fn journal(&mut self) -> &mut Journal {
        self.journal.as_mut().expect("the journal is open between steps")
    }

    fn write(&mut self) -> bool {
        let first = self.written.len() as u64 + 1;
        let count = 1 + self.rng.below(5);
        let round: Vec<_> = (first..first + count).map(|lsn| random_entry(&mut self.rng, Lsn(lsn))).collect();
        self.written.extend(round.iter().cloned());
        let is_written = self.journal().write(&round).is_ok();
        self.failed |= !is_written;
        is_written
    }

    fn sync(&mut self) {
        if self.journal().sync().is_ok() {
            self.promised = self.written.len() as u64;
            assert_eq!(self.journal().synced_lsn(), Lsn(self.promised));
        } else {
            self.failed = true;
        }
    }

    /// The store takes everything up to some entry, durably, which with relaxed durability may be ahead of the journal;
    /// and now and then the process stops before it recycles.
    fn take_checkpoint(&mut self) {
        if self.failed {
            return;
        }
        if self.rng.below(3) == 0 {
            self.checkpoint = self.written.len() as u64;
            return;
        }
        self.checkpoint += self.rng.below(self.promised.saturating_sub(self.checkpoint) + 1);
        let through = Lsn(self.checkpoint);
        if self.journal().recycle(through).is_ok() {
            self.promised = self.written.len() as u64;
        } else {
            self.failed = true;
        }
    }

    fn lose_process(&mut self) {
        self.journal = None;
        self.disk = self.disk.process_kill();
    }

    fn lose_power(&mut self) {
        self.journal = None;
        let percent = [0, 10, 50, 90, 100][usize::try_from(self.rng.below(5)).unwrap()];
        self.disk = self.disk.power_loss(self.rng.next_u64(), percent);
    }

    /// Opens again and checks what comes back. `is_whole`: nothing written may be missing.
    fn reopen(&mut self, counts: &mut Counts, mut is_whole: bool) {
        while self.rng.below(3) == 0 {
            self.disk.die_after(self.rng.below(10));
            let opened = open(&options(&self.disk, self.file_bytes), self.checkpoint);
            let is_alive = opened.is_ok();
            if let Err(error) = opened {
                assert!(matches!(error, JournalError::Io { .. }), "{error}");
                counts.stops_in_recovery += 1;
            }
            if is_alive || self.rng.below(2) == 0 {
                self.lose_process();
            } else {
                is_whole = false;
                self.lose_power();
            }
        }
        let (mut journal, recovered, entries) =
            open(&options(&self.disk, self.file_bytes), self.checkpoint).unwrap_or_else(|error| panic!("{error}"));
        journal.frame_bytes = self.frame_bytes;
        let last = recovered.last.0;
        assert!(last >= self.promised.max(self.checkpoint), "{} were promised, {last} are there", self.promised);
        let checkpoint = usize::try_from(self.checkpoint).unwrap();
        assert_eq!(entries, self.written[checkpoint..usize::try_from(last).unwrap()]);
        if is_whole {
            assert_eq!(last, self.written.len() as u64, "a kill must lose nothing");
        }
        counts.entries_read += recovered.entries;
        counts.cuts += u64::from(recovered.cut.is_some());
        counts.cut_frames += recovered.cut.map_or(0, |cut| cut.frames);
        self.written.truncate(usize::try_from(last).unwrap());
        self.promised = last;
        self.failed = false;
        self.journal = Some(journal);
    }

    fn step(&mut self, counts: &mut Counts) {
        match self.rng.below(24) {
            0..=6 => {
                counts.rounds += 1;
                if self.write() {
                    self.sync();
                }
            }
            7..=12 => {
                self.write();
            }
            13 => self.sync(),
            14..=16 => self.take_checkpoint(),
            17 => {
                counts.kills += 1;
                let is_whole = !self.failed;
                self.lose_process();
                self.reopen(counts, is_whole);
            }
            18..=20 => {
                counts.power_losses += 1;
                counts.behind_checkpoint += u64::from(self.checkpoint > self.promised);
                self.lose_power();
                self.reopen(counts, false);
            }
            21 => {
                counts.stops_midway += 1;
                self.disk.die_after(self.rng.below(8));
            }
            _ => {
                counts.failed_syncs += 1;
                let fault = [Fault::Sync, Fault::SyncDir, Fault::ShortWrite, Fault::Names];
                self.disk.fail(fault[usize::try_from(self.rng.below(4)).unwrap()], 1 + self.rng.below(3));
            }
        }
        if self.failed {
            assert!(matches!(self.journal().write(&[]), Err(JournalError::Poisoned)));
            assert!(matches!(self.journal().sync(), Err(JournalError::Poisoned)));
            if self.rng.below(2) == 0 {
                self.lose_process();
            } else {
                self.lose_power();
            }
            self.reopen(counts, false);
        }
    }
}

#[test]
fn what_was_promised_is_there_once_and_in_order_and_nothing_is_called_damage() {
    let mut counts = Counts::default();
    for seed in seeds(1_500) {
        let guard = Seed(seed);
        let mut world = World::new(seed);
        for _ in 0..25 {
            world.step(&mut counts);
        }
        world.lose_power();
        world.reopen(&mut counts, false);
        drop(guard);
    }
    println!("{counts:?}");
    if std::env::var("SEED").is_err() {
        // The checks are worth something only if all of this really happened.
        let often = [counts.kills, counts.power_losses, counts.stops_midway, counts.failed_syncs];
        assert!(often.iter().all(|count| *count > 1_000), "{counts:?}");
        assert!(counts.rounds > 5_000 && counts.stops_in_recovery > 1_000, "{counts:?}");
        assert!(counts.cuts > 300 && counts.behind_checkpoint > 30, "{counts:?}");
    }
}
