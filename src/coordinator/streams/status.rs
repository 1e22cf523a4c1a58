//! The statuses a heartbeat's answer may carry beside error code 0 (KIP-1071, `StreamsGroupHeartbeatResponse.Status`).

/// Why a member does not have all it could have. The number is the one on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(i8)]
pub(crate) enum Status {
    /// The member's topology is older than the group's.
    StaleTopology = 0,
    /// Topics that the topology reads from outside do not exist.
    MissingSourceTopics = 1,
    /// Topics that belong together differ in their partition counts.
    IncorrectlyPartitionedTopics = 2,
    /// Repartition or changelog topics do not exist yet.
    MissingInternalTopics = 3,
    /// A member has asked for the end of the whole application.
    ShutdownApplication = 4,
    /// An assignment is due and waits for its delay or interval.
    AssignmentDelayed = 5,
    /// The member lacks tags that the placement of standbys asks for. From version 1 of the answer.
    MissingClientTags = 6,
}

impl Status {
    /// The number on the wire.
    pub(crate) const fn code(self) -> i8 {
        self as i8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_have_the_numbers_of_kafka_4_4() {
        let in_order = [
            Status::StaleTopology,
            Status::MissingSourceTopics,
            Status::IncorrectlyPartitionedTopics,
            Status::MissingInternalTopics,
            Status::ShutdownApplication,
            Status::AssignmentDelayed,
            Status::MissingClientTags,
        ];
        assert_eq!(in_order.map(Status::code), [0, 1, 2, 3, 4, 5, 6]);
    }
}
