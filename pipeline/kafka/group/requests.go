package group

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"oriel/pipeline/kafka"
)

// The versions of the group requests: the last ones before flexible versions, which also support static members
// (KIP-345). A member without a static id gets its member id BEFORE its join waits for other members (KIP-394). So
// after a broken connection it can repeat the join, or leave, under this id. A member with a static id is known by it.
const (
	joinVersion      = 5
	syncVersion      = 3
	heartbeatVersion = 3
	leaveVersion     = 3
)

const (
	consumerProtocol = "consumer" // protocol type of every consumer group
	rangeProtocol    = "range"
)

// subscriber is a member with its subscription.
type subscriber struct {
	member string
	subscription
}

// subscription holds the topics that a member subscribes to, its mark, and the partitions of the group's topic that it
// claims.
type subscription struct {
	topics []string
	mark   string
	claim  claim
}

// ask sends one request to the group's coordinator and waits for the answer.
func ask[R kmsg.Response](ctx context.Context, g *Member, req kmsg.Request, version int16) (R, error) {
	timeout := kafka.AttemptTimeout + g.config.RebalanceTimeout
	return kafka.Ask[R](ctx, g.client, timeout, kafka.GroupID(g.config.ID), req, version)
}

// static is a static id as requests have it: nil without one.
func static(instance string) *string {
	if instance == "" {
		return nil
	}
	return &instance
}

// joinRequest joins. The answer comes when all members have joined; it lists all members for the leader.
func (g *Member) joinRequest(ctx context.Context) (*kmsg.JoinGroupResponse, error) {
	offered := kmsg.JoinGroupRequestProtocol{
		Name: rangeProtocol, Metadata: subscriptionBytes(g.config.Mark, g.share, g.config.topics()...),
	}
	return ask[*kmsg.JoinGroupResponse](ctx, g, &kmsg.JoinGroupRequest{
		Group: g.config.ID, MemberID: g.member, InstanceID: static(g.instance), ProtocolType: consumerProtocol,
		SessionTimeoutMillis:   int32(g.config.SessionTimeout.Milliseconds()),
		RebalanceTimeoutMillis: int32(g.config.RebalanceTimeout.Milliseconds()),
		Protocols:              []kmsg.JoinGroupRequestProtocol{offered},
	}, joinVersion)
}

// subscribers returns the members of a join's answer.
func subscribers(joined *kmsg.JoinGroupResponse, topic string) (all []subscriber) {
	for _, m := range joined.Members {
		all = append(all, subscriber{m.MemberID, parseSubscription(m.ProtocolMetadata, topic)})
	}
	return all
}

// syncRequest returns the member's partitions. It waits for the leader's assignments; the leader's own request contains
// them.
func (g *Member) syncRequest(ctx context.Context, generation int32, assigned []assignment) ([]int32, error) {
	req := &kmsg.SyncGroupRequest{
		Group: g.config.ID, Generation: generation, MemberID: g.member, InstanceID: static(g.instance),
	}
	for _, a := range assigned {
		req.GroupAssignment = append(req.GroupAssignment, kmsg.SyncGroupRequestGroupAssignment{
			MemberID: a.member, MemberAssignment: assignmentBytes(g.config.Topic, a.partitions),
		})
	}
	answer, err := ask[*kmsg.SyncGroupResponse](ctx, g, req, syncVersion)
	if err != nil {
		return nil, err
	}
	if answer.ErrorCode != 0 || len(answer.MemberAssignment) == 0 {
		return nil, kafka.CodeError(answer.ErrorCode)
	}
	return parseAssignment(answer.MemberAssignment, g.config.Topic)
}

// heartbeat is the member's heartbeat in a generation.
func (g *Member) heartbeat(generation int32) kmsg.HeartbeatRequest {
	return kmsg.HeartbeatRequest{
		Group: g.config.ID, Generation: generation, MemberID: g.member, InstanceID: static(g.instance),
	}
}

// leaveRequest returns the error of the request or, if there is none, the error of the member.
func (g *Member) leaveRequest(ctx context.Context, member, instance string) error {
	leaving := kmsg.LeaveGroupRequestMember{MemberID: member, InstanceID: static(instance)}
	req := &kmsg.LeaveGroupRequest{Group: g.config.ID, Members: []kmsg.LeaveGroupRequestMember{leaving}}
	answer, err := ask[*kmsg.LeaveGroupResponse](ctx, g, req, leaveVersion)
	if err != nil {
		return err
	}
	code := answer.ErrorCode
	for _, m := range answer.Members {
		if code == 0 {
			code = m.ErrorCode
		}
	}
	return kafka.CodeError(code)
}

// maxMemberBytes bounds the bytes that a member sends about itself, because kmsg allocates a multiple of them.
const maxMemberBytes = 1 << 20

var errMemberBytes = errors.New("kafka: too many bytes of a group member")

// parseSubscription reads a member's metadata, with its claim of one topic. Malformed bytes, which a foreign member may
// send, give a subscription without a claim.
func parseSubscription(b []byte, topic string) subscription {
	m := kmsg.NewConsumerMemberMetadata()
	err := errMemberBytes
	if len(b) <= maxMemberBytes {
		err = m.ReadFrom(b)
	}
	s := subscription{topics: m.Topics, mark: string(m.UserData), claim: claim{generation: -1}}
	if err != nil || m.Version < subscriptionVersion {
		return s
	}
	s.claim.generation = m.Generation
	for _, owned := range m.OwnedPartitions {
		if owned.Topic == topic {
			s.claim.partitions = append(s.claim.partitions, owned.Partitions...)
		}
	}
	slices.Sort(s.claim.partitions)
	return s
}

// parseAssignment reads a member's share of one topic, ascending.
func parseAssignment(b []byte, topic string) (partitions []int32, err error) {
	var a kmsg.ConsumerMemberAssignment
	if len(b) > maxMemberBytes {
		return nil, errMemberBytes
	}
	if err := a.ReadFrom(b); err != nil {
		return nil, fmt.Errorf("kafka: assignment: %w", err)
	}
	for _, share := range a.Topics {
		if share.Topic == topic {
			partitions = append(partitions, share.Partitions...)
		}
	}
	slices.Sort(partitions)
	return partitions, nil
}

// subscriptionVersion is the first version of a member's metadata in the consumer protocol with the partitions that the
// member has, and the generation in which it got them (KIP-792).
const subscriptionVersion = 2

// subscriptionBytes returns a member's metadata of the consumer protocol: topics, the mark as user data, and the
// claimed partitions of the first topic.
func subscriptionBytes(mark string, claims claim, topics ...string) []byte {
	owned := kmsg.ConsumerMemberMetadataOwnedPartition{Topic: topics[0], Partitions: claims.partitions}
	m := kmsg.ConsumerMemberMetadata{
		Version: subscriptionVersion, Topics: topics, UserData: []byte(mark), Generation: claims.generation,
		OwnedPartitions: []kmsg.ConsumerMemberMetadataOwnedPartition{owned},
	}
	return m.AppendTo(nil)
}

// assignmentBytes returns a member's share of the consumer protocol, version 0.
func assignmentBytes(topic string, partitions []int32) []byte {
	share := kmsg.ConsumerMemberAssignmentTopic{Topic: topic, Partitions: partitions}
	a := kmsg.ConsumerMemberAssignment{Topics: []kmsg.ConsumerMemberAssignmentTopic{share}}
	return a.AppendTo(nil)
}
