//! The process's own figures, under the names every Prometheus client uses. Read from `/proc` when scraped.

use std::fs;

use prometheus::{Gauge, IntGauge, Registry};

use super::{float_gauge, gauge};

/// The kernel counts processor time in hundredths of a second on every platform served here.
const TICKS_PER_SECOND: f64 = 100.0;
const PAGE_BYTES: i64 = 4096;

/// Figures of this process.
pub(super) struct ProcessMetrics {
    cpu_seconds: Gauge,
    resident_bytes: IntGauge,
    virtual_bytes: IntGauge,
    open_fds: IntGauge,
    threads: IntGauge,
    start_time_seconds: Gauge,
}

impl ProcessMetrics {
    pub(super) fn register(registry: &Registry) -> Result<Self, prometheus::Error> {
        let metrics = Self {
            cpu_seconds: float_gauge(
                registry,
                "process_cpu_seconds_total",
                "Total user and system CPU time spent in seconds",
            )?,
            resident_bytes: gauge(registry, "process_resident_memory_bytes", "Resident memory size in bytes")?,
            virtual_bytes: gauge(registry, "process_virtual_memory_bytes", "Virtual memory size in bytes")?,
            open_fds: gauge(registry, "process_open_fds", "Number of open file descriptors")?,
            threads: gauge(registry, "process_threads", "Number of OS threads in the process")?,
            start_time_seconds: float_gauge(
                registry,
                "process_start_time_seconds",
                "Start time of the process since the unix epoch in seconds",
            )?,
        };
        metrics.refresh();
        Ok(metrics)
    }

    /// Reads the figures anew. What the system does not tell keeps its last value.
    pub(super) fn refresh(&self) {
        if let Ok(entries) = fs::read_dir("/proc/self/fd") {
            // The listing itself holds one open.
            self.open_fds.set(i64::try_from(entries.count()).unwrap_or(i64::MAX).saturating_sub(1));
        }
        let Ok(stat) = fs::read_to_string("/proc/self/stat") else { return };
        // The second field is the program's name in parentheses and may itself hold spaces.
        let Some((_, fields)) = stat.rsplit_once(')') else { return };
        let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
        let number = |index: usize| fields.get(index).and_then(|field| field.parse::<i64>().ok());
        let seconds = |ticks: i64| f64::from(i32::try_from(ticks).unwrap_or(i32::MAX)) / TICKS_PER_SECOND;
        if let (Some(user), Some(system)) = (number(11), number(12)) {
            self.cpu_seconds.set(seconds(user.saturating_add(system)));
        }
        if let Some(threads) = number(17) {
            self.threads.set(threads);
        }
        if let (Some(start), Some(boot)) = (number(19), boot_time_seconds()) {
            self.start_time_seconds.set(boot + seconds(start));
        }
        if let Some(bytes) = number(20) {
            self.virtual_bytes.set(bytes);
        }
        if let Some(pages) = number(21) {
            self.resident_bytes.set(pages.saturating_mul(PAGE_BYTES));
        }
    }
}

fn boot_time_seconds() -> Option<f64> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    stat.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_of_this_process_are_read() {
        let registry = Registry::new();
        let metrics = ProcessMetrics::register(&registry).unwrap();
        assert!(metrics.resident_bytes.get() > 100_000);
        assert!(metrics.threads.get() >= 1);
        assert!(metrics.open_fds.get() >= 1);
        assert!(metrics.start_time_seconds.get() > 1_600_000_000.0);
    }
}
