//! The bytes of one simulated file: what is durable, and what was written since.

use super::dice::Dice;

const PAGE: usize = 4096;
const SECTOR: usize = 512;

/// One file.
#[derive(Clone, Default)]
pub(super) struct Pages {
    /// What a reader sees.
    live: Vec<u8>,
    /// What the last sync made durable.
    durable: Vec<u8>,
    /// What happened since, in order.
    later: Vec<Later>,
}

#[derive(Clone)]
enum Later {
    /// A page has these bytes now (fewer than a page at the end of the file). `looks_clean` after a failed sync.
    Page { page: usize, bytes: Vec<u8>, looks_clean: bool },
    /// The file has this length now.
    Len(usize),
}

impl Pages {
    pub(super) fn live(&self) -> &[u8] {
        &self.live
    }

    pub(super) fn len(&self) -> u64 {
        u64::try_from(self.live.len()).unwrap_or(u64::MAX)
    }

    pub(super) fn write(&mut self, bytes: &[u8], position: u64) {
        let Ok(start) = usize::try_from(position) else { return };
        if bytes.is_empty() {
            return;
        }
        let end = start + bytes.len();
        if end > self.live.len() {
            self.live.resize(end, 0);
            self.later.push(Later::Len(end));
        }
        if let Some(place) = self.live.get_mut(start..end) {
            place.copy_from_slice(bytes);
        }
        for page in start / PAGE..end.div_ceil(PAGE) {
            let bytes = page_of(&self.live, page).to_vec();
            self.later.push(Later::Page { page, bytes, looks_clean: false });
        }
    }

    pub(super) fn set_len(&mut self, len: u64) {
        let Ok(len) = usize::try_from(len) else { return };
        self.live.resize(len, 0);
        self.later.push(Later::Len(len));
    }

    pub(super) fn sync(&mut self) {
        let mut left = Vec::new();
        for later in std::mem::take(&mut self.later) {
            match later {
                Later::Len(len) => self.durable.resize(len, 0),
                Later::Page { looks_clean: true, .. } => left.push(later),
                Later::Page { page, bytes, .. } => {
                    left.retain(|old| !matches!(old, Later::Page { page: other, .. } if *other == page));
                    put_page(&mut self.durable, page, &bytes);
                }
            }
        }
        self.durable.resize(self.live.len(), 0);
        self.later = left;
    }

    pub(super) fn fail_sync(&mut self) {
        for later in &mut self.later {
            if let Later::Page { looks_clean, .. } = later {
                *looks_clean = true;
            }
        }
    }

    pub(super) fn corrupt(&mut self, change: impl FnOnce(&mut Vec<u8>)) {
        change(&mut self.live);
        self.durable.clone_from(&self.live);
        self.later.clear();
    }

    pub(super) fn after_power_loss(&self, dice: &mut Dice, percent: u64) -> Self {
        let length_changes = self.later.iter().filter(|later| matches!(later, Later::Len(_))).count();
        let kept_lengths = (0..length_changes).take_while(|_| dice.hits(percent)).count();
        let mut bytes = self.durable.clone();
        let mut len = bytes.len();
        let mut lengths = 0;
        for later in &self.later {
            match later {
                Later::Len(to) => {
                    lengths += 1;
                    if lengths <= kept_lengths {
                        len = *to;
                        bytes.truncate(len);
                    }
                }
                Later::Page { page, bytes: written, .. } if dice.hits(percent) => {
                    if dice.hits(12) {
                        put_some_sectors(&mut bytes, *page, written, dice);
                    } else {
                        put_page(&mut bytes, *page, written);
                    }
                }
                Later::Page { .. } => {}
            }
        }
        bytes.resize(len, 0);
        Self { live: bytes.clone(), durable: bytes, later: Vec::new() }
    }
}

fn page_of(bytes: &[u8], page: usize) -> &[u8] {
    let start = page * PAGE;
    bytes.get(start..bytes.len().min(start + PAGE)).unwrap_or_default()
}

fn put_page(bytes: &mut Vec<u8>, page: usize, written: &[u8]) {
    put_at(bytes, page * PAGE, written);
}

fn put_some_sectors(bytes: &mut Vec<u8>, page: usize, written: &[u8], dice: &mut Dice) {
    for (sector, content) in written.chunks(SECTOR).enumerate() {
        if dice.hits(50) {
            put_at(bytes, page * PAGE + sector * SECTOR, content);
        }
    }
}

fn put_at(bytes: &mut Vec<u8>, start: usize, written: &[u8]) {
    let end = start + written.len();
    if bytes.len() < end {
        bytes.resize(end, 0);
    }
    if let Some(place) = bytes.get_mut(start..end) {
        place.copy_from_slice(written);
    }
}
