package group

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/segmentio/kafka-go/protocol"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/wire"
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

// joinAnswer is the answer to a join. It comes when all members have joined.
type joinAnswer struct {
	code       int16
	generation int32
	leader     string
	member     string
	members    []subscriber // all members for the leader; empty for others
}

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

// groupRequest sends one request to the group's coordinator and waits for the answer.
func (g *Member) groupRequest(ctx context.Context, key protocol.ApiKey, version int16, body []byte,
	parse func(*wire.Reader),
) error {
	req := &kafka.GroupCall{Call: g.client.NewCall(key, version, false, body), ID: g.config.ID}
	req.Complete(parse)
	_, err := g.client.RoundTrip(ctx, kafka.AttemptTimeout+g.config.RebalanceTimeout, req)
	return err
}

func (g *Member) joinRequest(ctx context.Context) (joinAnswer, error) {
	body := wire.AppendString(nil, g.config.ID)
	body = binary.BigEndian.AppendUint32(body, uint32(g.config.SessionTimeout.Milliseconds()))
	body = binary.BigEndian.AppendUint32(body, uint32(g.config.RebalanceTimeout.Milliseconds()))
	body = appendMember(body, g.member, g.instance)
	body = wire.AppendString(body, consumerProtocol)
	body = binary.BigEndian.AppendUint32(body, 1)
	body = wire.AppendString(body, rangeProtocol)
	body = wire.AppendSized(body, appendSubscription(nil, g.config.Mark, g.share, g.config.topics()...))
	var answer joinAnswer
	if err := g.groupRequest(ctx, protocol.JoinGroup, joinVersion, body,
		func(r *wire.Reader) { answer = parseJoin(r, g.config.Topic) }); err != nil {
		return joinAnswer{}, err
	}
	return answer, nil
}

// syncRequest returns the member's partitions. It waits for the leader's assignments; the leader's own request contains
// them.
func (g *Member) syncRequest(ctx context.Context, generation int32, assigned []assignment) ([]int32, error) {
	body := wire.AppendString(nil, g.config.ID)
	body = binary.BigEndian.AppendUint32(body, uint32(generation))
	body = appendMember(body, g.member, g.instance)
	body = binary.BigEndian.AppendUint32(body, uint32(len(assigned)))
	for _, a := range assigned {
		body = wire.AppendString(body, a.member)
		body = wire.AppendSized(body, appendAssignment(nil, g.config.Topic, a.partitions))
	}
	var (
		code       int16
		partitions []int32
	)
	if err := g.groupRequest(ctx, protocol.SyncGroup, syncVersion, body, func(r *wire.Reader) {
		code, partitions = parseSync(r, g.config.Topic)
	}); err != nil {
		return nil, err
	}
	return partitions, kafka.CodeError(code)
}

// heartbeat is the body of the member's heartbeats in a generation.
func (g *Member) heartbeat(generation int32) []byte {
	body := wire.AppendString(nil, g.config.ID)
	body = binary.BigEndian.AppendUint32(body, uint32(generation))
	return appendMember(body, g.member, g.instance)
}

func (g *Member) leaveRequest(ctx context.Context, member, instance string) error {
	body := wire.AppendString(nil, g.config.ID)
	body = binary.BigEndian.AppendUint32(body, 1)
	body = appendMember(body, member, instance)
	var code int16
	if err := g.groupRequest(ctx, protocol.LeaveGroup, leaveVersion, body,
		func(r *wire.Reader) { code = parseLeave(r) }); err != nil {
		return err
	}
	return kafka.CodeError(code)
}

// appendMember appends the ids of the sender. Without a static id the second string is null.
func appendMember(dst []byte, member, instance string) []byte {
	dst = wire.AppendString(dst, member)
	if instance == "" {
		return append(dst, 0xff, 0xff)
	}
	return wire.AppendString(dst, instance)
}

// codeRequest sends a request whose answer has only an error code.
func (g *Member) codeRequest(ctx context.Context, key protocol.ApiKey, version int16, body []byte) error {
	var code int16
	if err := g.groupRequest(ctx, key, version, body, func(r *wire.Reader) {
		r.Int32() // throttle time
		code = r.Int16()
	}); err != nil {
		return err
	}
	return kafka.CodeError(code)
}

// parseJoin reads a JoinGroup answer of joinVersion.
func parseJoin(r *wire.Reader, topic string) joinAnswer {
	r.Int32() // throttle time
	a := joinAnswer{code: r.Int16(), generation: r.Int32()}
	r.Text() // protocol: the member offered only one
	a.leader, a.member = r.Text(), r.Text()
	for n := r.Array(8); n > 0; n-- {
		member := r.Text()
		r.Text() // static id
		a.members = append(a.members, subscriber{member, parseSubscription(&wire.Reader{B: r.Sized()}, topic)})
	}
	return a
}

// parseLeave reads a LeaveGroup answer of leaveVersion: the code of the answer or, if that is 0, the code of the
// member.
func parseLeave(r *wire.Reader) int16 {
	r.Int32() // throttle time
	code := r.Int16()
	for n := r.Array(6); n > 0; n-- {
		r.Text() // member id
		r.Text() // static id
		if own := r.Int16(); code == 0 {
			code = own
		}
	}
	return code
}

// parseSubscription reads a member's metadata, with its claim of one topic. Malformed bytes give a subscription without
// topics or claim.
func parseSubscription(r *wire.Reader, topic string) subscription {
	s := subscription{claim: claim{generation: -1}}
	version := r.Int16() // later versions only append fields
	for n := r.Array(2); n > 0; n-- {
		s.topics = append(s.topics, r.Text())
	}
	s.mark = string(r.Sized())
	if version < subscriptionVersion {
		return s
	}
	claimed := claim{partitions: parsePartitions(r, topic), generation: r.Int32()}
	if r.Err == nil {
		s.claim = claimed
	}
	return s
}

// parseSync reads a SyncGroup answer of syncVersion, down to the partitions of one topic.
func parseSync(r *wire.Reader, topic string) (code int16, partitions []int32) {
	r.Int32() // throttle time
	code = r.Int16()
	b := r.Sized()
	if code != 0 || len(b) == 0 {
		return code, nil
	}
	in := &wire.Reader{B: b}
	partitions = parseAssignment(in, topic)
	if in.Err != nil {
		r.Err = in.Err
	}
	return code, partitions
}

// parseAssignment reads a member's share of one topic, ascending.
func parseAssignment(r *wire.Reader, topic string) (partitions []int32) {
	r.Int16() // version: later versions only append fields
	return parsePartitions(r, topic)
}

// parsePartitions reads lists of partitions by topic, and returns those of one topic, ascending.
func parsePartitions(r *wire.Reader, topic string) (partitions []int32) {
	for n := r.Array(6); n > 0; n-- {
		wanted := r.Text() == topic
		for m := r.Array(4); m > 0; m-- {
			if p := r.Int32(); wanted {
				partitions = append(partitions, p)
			}
		}
	}
	slices.Sort(partitions)
	return partitions
}

// subscriptionVersion is the first version of a member's metadata in the consumer protocol with the partitions that the
// member has, and the generation in which it got them (KIP-792).
const subscriptionVersion = 2

// appendSubscription appends a member's metadata of the consumer protocol: topics, the mark as user data, and the
// claimed partitions of the first topic.
func appendSubscription(dst []byte, mark string, claims claim, topics ...string) []byte {
	dst = binary.BigEndian.AppendUint16(dst, subscriptionVersion)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(topics)))
	for _, topic := range topics {
		dst = wire.AppendString(dst, topic)
	}
	dst = wire.AppendSized(dst, []byte(mark))
	dst = appendPartitions(dst, topics[0], claims.partitions)
	return binary.BigEndian.AppendUint32(dst, uint32(claims.generation))
}

// appendAssignment appends a member's share of the consumer protocol, version 0.
func appendAssignment(dst []byte, topic string, partitions []int32) []byte {
	dst = append(dst, 0, 0) // version
	dst = appendPartitions(dst, topic, partitions)
	return append(dst, 0xff, 0xff, 0xff, 0xff) // user data: null
}

// appendPartitions appends a list of one topic's partitions.
func appendPartitions(dst []byte, topic string, partitions []int32) []byte {
	dst = append(dst, 0, 0, 0, 1) // one topic
	dst = wire.AppendString(dst, topic)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(partitions)))
	for _, p := range partitions {
		dst = binary.BigEndian.AppendUint32(dst, uint32(p))
	}
	return dst
}
