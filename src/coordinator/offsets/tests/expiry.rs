//! Offsets that nobody needs any more go after their time, and empty groups with them.

use crate::coordinator::offsets::testing::{DAY, MINUTE, World, commit_request};
use crate::coordinator::{Coordinator, Record, TimerKey};
use crate::machine::Core;

/// Ten minutes: the default of `offsets.retention.check.interval.ms`.
const CHECK_INTERVAL: i64 = 10 * MINUTE;
/// Seven days: the default of `offsets.retention.minutes`.
const RETENTION: i64 = 7 * DAY;

#[test]
fn offsets_of_a_simple_group_expire_seven_days_after_their_commit() {
    let mut world = World::new(&[("in", 2)]);
    world.committed("g", &[("in", 0, 1)]);
    world.after(DAY);
    world.committed("g", &[("in", 1, 2)]);

    world.after(RETENTION - DAY - 1);
    assert_eq!(world.all("g"), "in 0 = 1 @ -1 \"\"\nin 1 = 2 @ -1 \"\"\n");
    // Seven days are a multiple of the check interval, so the first check after that is right then.
    world.after(1);
    assert_eq!(world.all("g"), "in 1 = 2 @ -1 \"\"\n");
    world.after(DAY);
    assert!(!world.has_group("g"));
    assert_eq!(world.coordinator().offset_count(), 0);
    world.harness.check();
}

#[test]
fn a_new_commit_starts_the_time_anew() {
    let mut world = World::new(&[("in", 1)]);
    world.committed("g", &[("in", 0, 1)]);
    world.after(6 * DAY);
    world.committed("g", &[("in", 0, 1)]);
    world.after(6 * DAY);
    assert!(world.has_group("g"));
}

#[test]
fn an_expiry_time_of_the_committers_own_counts_instead_of_the_retention() {
    let mut world = World::new(&[("in", 2)]);
    let mut short = commit_request("g", &[("in", 0, 1)]);
    short.retention_time_ms = CHECK_INTERVAL;
    world.commit(4, short);
    let mut long = commit_request("g", &[("in", 1, 1)]);
    long.retention_time_ms = 30 * DAY;
    world.commit(4, long);

    world.after(CHECK_INTERVAL - 1);
    assert_eq!(world.coordinator().offset_count(), 2);
    world.after(1);
    assert_eq!(world.all("g"), "in 1 = 1 @ -1 \"\"\n");
    world.after(30 * DAY - CHECK_INTERVAL - 1);
    assert_eq!(world.coordinator().offset_count(), 1);
    world.after(1);
    assert_eq!(world.coordinator().offset_count(), 0);
}

#[test]
fn the_check_runs_every_interval_and_retention_is_a_setting() {
    let mut world = World::new(&[("in", 1)]);
    world.config("offsets.retention.minutes", "1");
    world.committed("g", &[("in", 0, 1)]);
    assert_eq!(
        world.harness.soft.timers.deadline(&TimerKey::OffsetRetention),
        Some(world.harness.env.now.plus_ms(CHECK_INTERVAL))
    );
    world.after(CHECK_INTERVAL - 1);
    assert!(world.has_group("g"), "expired, but not looked for yet");
    world.after(1);
    assert!(!world.has_group("g"));
    assert_eq!(
        world.harness.soft.timers.deadline(&TimerKey::OffsetRetention),
        Some(world.harness.env.now.plus_ms(CHECK_INTERVAL))
    );

    world.committed("g", &[("in", 0, 1)]);
    world.after(CHECK_INTERVAL);
    assert!(!world.has_group("g"), "and again");
}

#[test]
fn a_large_sweep_goes_in_bounded_steps_with_room_for_requests_between() {
    let mut world = World::new(&[("in", 3_000), ("other", 1)]);
    let offsets: Vec<(&str, i32, i64)> = (0..3_000).map(|partition| ("in", partition, 1)).collect();
    world.committed("g1", &offsets);
    world.committed("g2", &offsets);
    for group in 0..300 {
        world.committed(&format!("h{group}"), &[("in", 0, 1)]);
    }
    world.after(RETENTION - 1);
    // One group has something new, in the midst of what expires.
    world.committed("g2", &[("in", 1_500, 7)]);

    let steps = world.after(50);
    assert!(steps.iter().all(|records| *records <= 1_000), "{steps:?}");
    assert_eq!(steps.iter().sum::<usize>(), 2 * 3_000 + 300 - 1);
    assert!((7..12).contains(&steps.len()), "{steps:?}");
    assert_eq!(world.all("g2"), "in 1500 = 7 @ -1 \"\"\n");
    assert_eq!(world.coordinator().groups.len(), 1);
    let next = world.harness.soft.timers.deadline(&TimerKey::OffsetRetention).unwrap();
    assert!(next > world.harness.env.now.plus_ms(CHECK_INTERVAL - 60), "the next sweep comes an interval later");
    world.harness.check();
}

#[test]
fn a_group_that_goes_away_between_two_steps_does_not_stop_the_sweep() {
    let mut world = World::new(&[("in", 3_000)]);
    let offsets: Vec<(&str, i32, i64)> = (0..3_000).map(|partition| ("in", partition, 1)).collect();
    world.committed("g1", &offsets);
    world.committed("g2", &[("in", 0, 1)]);
    world.config("offsets.retention.minutes", "1");
    world.after(CHECK_INTERVAL);
    assert!(world.coordinator().offset_count() > 1_000, "in the midst of g1");
    world.harness.write(&Record::GroupDeleted { group: "g1".into() });
    world.after(10);
    assert!(!world.has_group("g2"));
}

#[test]
fn a_sweep_is_one_step_a_turn_and_is_started_again_by_a_restart() {
    let mut world = World::new(&[("in", 3_000)]);
    let offsets: Vec<(&str, i32, i64)> = (0..3_000).map(|partition| ("in", partition, 1)).collect();
    world.committed("g", &offsets);
    world.config("offsets.retention.minutes", "1");
    world.harness.env.now = world.harness.env.now.plus_ms(CHECK_INTERVAL);
    let soft = &mut world.harness.soft;
    let input = Coordinator::pop_due(soft, world.harness.env.now).unwrap();
    world.harness.input(input);
    assert!(Coordinator::pop_due(&mut world.harness.soft, world.harness.env.now).is_none(), "not in the same turn");

    world.harness.restart();
    assert!(world.has_group("g"));
    world.after(CHECK_INTERVAL + 10);
    assert!(!world.has_group("g"));
}

#[test]
fn a_sweep_gets_past_any_number_of_offsets_that_stay() {
    let mut world = World::new(&[("in", 12_000), ("other", 1)]);
    world.put("g", "in", 0);
    world.put("z", "other", 0);
    world.after(DAY);
    for partition in 1..12_000 {
        world.put("g", "in", partition);
    }
    let steps = world.after(RETENTION - DAY + CHECK_INTERVAL);
    assert_eq!(steps.iter().sum::<usize>(), 2);
    assert_eq!(world.coordinator().offset_count(), 11_999);
    assert!(!world.has_group("z"));
}
