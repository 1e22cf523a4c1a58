//! `StreamsGroupDescribeResponse` as Kafka 4.4.0 has it: version 1 ends each group with the assignor's name (KIP-1357),
//! which the struct of the message crate lacks, so that a real admin client could not read what it writes.

use kafka_wire::streams_group_describe_response::{Member, Topology, TopologyDescription};
use kafka_wire_core::{
    ApiVersion, DecodeError, Decoder, EncodeError, EncodeTarget, Encoder, KafkaDecode, KafkaEncode, StrBytes,
    TaggedFields,
};

/// Answer of the `StreamsGroupDescribe` API.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamsGroupDescribeResponse {
    /// How long the request was throttled, in milliseconds.
    pub throttle_time_ms: i32,
    /// The groups, in the order they were asked for.
    pub groups: Vec<DescribedStreamsGroup>,
}

/// One group of a [`StreamsGroupDescribeResponse`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribedStreamsGroup {
    /// 0 if there was no error.
    pub error_code: i16,
    /// What went wrong.
    pub error_message: Option<StrBytes>,
    /// The group.
    pub group_id: StrBytes,
    /// Its state, "" after an error.
    pub group_state: StrBytes,
    /// The group epoch.
    pub group_epoch: i32,
    /// The assignment epoch.
    pub assignment_epoch: i32,
    /// The topology; null after an error.
    pub topology: Option<Topology>,
    /// The members.
    pub members: Vec<Member>,
    /// A bit for each operation the asker may do; the lowest number if it did not ask.
    pub authorized_operations: i32,
    /// Version 1 and later: the description of the topology (KIP-1331).
    pub topology_description: Option<TopologyDescription>,
    /// Version 1 and later: 0 not asked for, 1 not stored, 2 failed, 3 there.
    pub topology_description_status: i8,
    /// Version 1 and later: the assignor that the next assignment will use; null after an error.
    pub assignor_name: Option<StrBytes>,
}

impl Default for DescribedStreamsGroup {
    fn default() -> Self {
        Self {
            error_code: 0,
            error_message: None,
            group_id: StrBytes::default(),
            group_state: StrBytes::default(),
            group_epoch: 0,
            assignment_epoch: 0,
            topology: None,
            members: Vec::new(),
            authorized_operations: i32::MIN,
            topology_description: None,
            topology_description_status: 0,
            assignor_name: None,
        }
    }
}

impl KafkaEncode for StreamsGroupDescribeResponse {
    fn encode<T: EncodeTarget>(&self, encoder: &mut Encoder<T>, version: ApiVersion) -> Result<(), EncodeError> {
        encoder.write_i32(self.throttle_time_ms)?;
        encoder.write_compact_array_len(self.groups.len())?;
        for group in &self.groups {
            group.encode(encoder, version)?;
        }
        encoder.write_tagged_fields(&TaggedFields::default())
    }
}

impl KafkaDecode for StreamsGroupDescribeResponse {
    fn decode(decoder: &mut Decoder, version: ApiVersion) -> Result<Self, DecodeError> {
        let throttle_time_ms = decoder.read_i32()?;
        let count = decoder.read_compact_array_len()?;
        let groups = decoder.read_vec(count, |decoder| DescribedStreamsGroup::decode(decoder, version))?;
        decoder.read_tagged_fields()?;
        Ok(Self { throttle_time_ms, groups })
    }
}

impl KafkaEncode for DescribedStreamsGroup {
    fn encode<T: EncodeTarget>(&self, encoder: &mut Encoder<T>, version: ApiVersion) -> Result<(), EncodeError> {
        encoder.write_i16(self.error_code)?;
        encoder.write_compact_nullable_string(self.error_message.as_ref())?;
        encoder.write_compact_string(&self.group_id)?;
        encoder.write_compact_string(&self.group_state)?;
        encoder.write_i32(self.group_epoch)?;
        encoder.write_i32(self.assignment_epoch)?;
        encoder.write_struct_presence(self.topology.is_some())?;
        if let Some(topology) = &self.topology {
            topology.encode(encoder, version)?;
        }
        encoder.write_compact_array_len(self.members.len())?;
        for member in &self.members {
            member.encode(encoder, version)?;
        }
        encoder.write_i32(self.authorized_operations)?;
        if version.value() >= 1 {
            encoder.write_struct_presence(self.topology_description.is_some())?;
            if let Some(description) = &self.topology_description {
                description.encode(encoder, version)?;
            }
            encoder.write_i8(self.topology_description_status)?;
            encoder.write_compact_nullable_string(self.assignor_name.as_ref())?;
        }
        encoder.write_tagged_fields(&TaggedFields::default())
    }
}

impl KafkaDecode for DescribedStreamsGroup {
    fn decode(decoder: &mut Decoder, version: ApiVersion) -> Result<Self, DecodeError> {
        let mut group = Self {
            error_code: decoder.read_i16()?,
            error_message: decoder.read_compact_nullable_string()?,
            group_id: decoder.read_compact_string()?,
            group_state: decoder.read_compact_string()?,
            group_epoch: decoder.read_i32()?,
            assignment_epoch: decoder.read_i32()?,
            ..Self::default()
        };
        if decoder.read_struct_presence()? {
            group.topology = Some(Topology::decode(decoder, version)?);
        }
        let count = decoder.read_compact_array_len()?;
        group.members = decoder.read_vec(count, |decoder| Member::decode(decoder, version))?;
        group.authorized_operations = decoder.read_i32()?;
        if version.value() >= 1 {
            if decoder.read_struct_presence()? {
                group.topology_description = Some(TopologyDescription::decode(decoder, version)?);
            }
            group.topology_description_status = decoder.read_i8()?;
            group.assignor_name = decoder.read_compact_nullable_string()?;
        }
        decoder.read_tagged_fields()?;
        Ok(group)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{ApiKey, Response, message};

    fn answer() -> StreamsGroupDescribeResponse {
        let group = message!(DescribedStreamsGroup {
            group_id: "g".into(),
            group_state: "Stable".into(),
            group_epoch: 3,
            topology: Some(Topology::default()),
            members: vec![message!(Member { member_id: "m".into() })],
            assignor_name: Some("sticky".into()),
        });
        StreamsGroupDescribeResponse { throttle_time_ms: 0, groups: vec![group] }
    }

    fn through_the_wire(version: i16) -> DescribedStreamsGroup {
        let mut frame = Response::from(answer()).encode(version, 7).unwrap();
        let frame = frame.split_off(4);
        match Response::decode(ApiKey::StreamsGroupDescribe, version, frame).unwrap() {
            (7, Response::StreamsGroupDescribe(mut answer)) => answer.groups.remove(0),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn version_1_tells_the_assignor_and_version_0_does_not() {
        assert_eq!(through_the_wire(1), answer().groups[0]);
        assert_eq!(through_the_wire(0), DescribedStreamsGroup { assignor_name: None, ..answer().groups[0].clone() });
    }

    #[test]
    fn the_name_stands_between_the_description_status_and_the_tagged_fields() {
        let frame = Response::from(answer()).encode(1, 7).unwrap();
        // description null (-1), status 0, compact "sticky", no tags; then no tags of the message
        assert!(frame.ends_with(b"\xff\x00\x07sticky\x00\x00"), "{frame:?}");
    }
}
