//! Who runs a task now, and who has its state.

use std::cmp::Reverse;

use crate::coordinator::streams::assignor::roster::{MemberNo, Roster, Row, TaskNo};

/// The past of each task.
pub(super) struct History {
    /// Who runs it.
    pub(super) active: Row<TaskNo, Option<MemberNo>>,
    /// Who has its state besides, best first: those it is a standby of, then those who only say that they have it
    /// (after a restart a member has a new id and no tasks, but its disk is what it was; KAFKA-20719). Among either, who
    /// has come farther is better.
    pub(super) standbys: Row<TaskNo, Vec<MemberNo>>,
}

struct Candidate {
    member: MemberNo,
    is_standby: bool,
    offset: i64,
}

impl History {
    /// Reads it from what the members are assigned and have said.
    pub(super) fn new(roster: &Roster<'_>) -> Self {
        let mut active = roster.per_task(|| None);
        let mut candidates: Row<TaskNo, Vec<Candidate>> = roster.per_task(Vec::new);
        for (number, member) in roster.members.iter() {
            for task in roster.numbers(&member.spec.active) {
                active[task] = Some(number);
            }
            for task in roster.numbers(&member.spec.standby) {
                candidates[task].push(Candidate { member: number, is_standby: true, offset: 0 });
            }
            for ((id, partition), offset) in &member.spec.task_offsets {
                let Some(task) = roster.number(id, *partition) else { continue };
                match candidates[task].last_mut().filter(|last| last.member == number) {
                    Some(own) => own.offset = *offset,
                    None => candidates[task].push(Candidate { member: number, is_standby: false, offset: *offset }),
                }
            }
        }
        for candidates in candidates.items_mut() {
            candidates.sort_by_key(|candidate| (!candidate.is_standby, Reverse(candidate.offset)));
        }
        let standbys = candidates.map(|candidates| candidates.iter().map(|candidate| candidate.member).collect());
        Self { active, standbys }
    }
}
