package kafka

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/segmentio/kafka-go/protocol"
)

// The group requests, at the last versions before flexible ones, and the first with static members (KIP-345). A join
// without an instance gets its member id BEFORE it waits for others (KIP-394): one that is given up is taken up again,
// or left, under its id; a join with an instance is taken up, or left, by that.
const (
	joinVersion      = 5
	syncVersion      = 3
	heartbeatVersion = 3
	leaveVersion     = 3
)

const (
	consumerProtocol = "consumer" // the protocol type of every consumer group
	rangeProtocol    = "range"
)

// joinAnswer is what a member is told when all have joined.
type joinAnswer struct {
	code       int16
	generation int32
	leader     string
	member     string
	members    []subscriber // told to the leader only
}

// subscriber is a member, and what it says of itself.
type subscriber struct {
	member string
	subscription
}

// subscription is the topics that a member wants, and its mark.
type subscription struct {
	topics []string
	mark   string
}

// groupRequest sends one request to the group's coordinator and waits for the answer.
func (g *Group) groupRequest(ctx context.Context, key protocol.ApiKey, version int16, body []byte,
	parse func(*wireReader),
) error {
	req := &groupCall{call: g.client.newCall(key, version, false, body), group: g.config.ID}
	req.complete(parse)
	_, err := g.client.roundTrip(ctx, attemptTimeout+g.config.RebalanceTimeout, req)
	return err
}

func (g *Group) joinRequest(ctx context.Context) (joinAnswer, error) {
	body := appendString(nil, g.config.ID)
	body = binary.BigEndian.AppendUint32(body, uint32(g.config.SessionTimeout.Milliseconds()))
	body = binary.BigEndian.AppendUint32(body, uint32(g.config.RebalanceTimeout.Milliseconds()))
	body = appendMember(body, g.member, g.instance)
	body = appendString(body, consumerProtocol)
	body = binary.BigEndian.AppendUint32(body, 1)
	body = appendString(body, rangeProtocol)
	body = appendSized(body, appendSubscription(nil, g.config.Topic, g.config.Mark))
	var answer joinAnswer
	if err := g.groupRequest(ctx, protocol.JoinGroup, joinVersion, body,
		func(r *wireReader) { answer = parseJoin(r) }); err != nil {
		return joinAnswer{}, err
	}
	return answer, nil
}

// syncRequest waits for the leader's assignments; the leader brings them. A member without any has no partitions.
func (g *Group) syncRequest(ctx context.Context, generation int32, assigned []assignment) ([]int32, error) {
	body := appendString(nil, g.config.ID)
	body = binary.BigEndian.AppendUint32(body, uint32(generation))
	body = appendMember(body, g.member, g.instance)
	body = binary.BigEndian.AppendUint32(body, uint32(len(assigned)))
	for _, a := range assigned {
		body = appendString(body, a.member)
		body = appendSized(body, appendAssignment(nil, g.config.Topic, a.partitions))
	}
	var (
		code       int16
		partitions []int32
	)
	if err := g.groupRequest(ctx, protocol.SyncGroup, syncVersion, body, func(r *wireReader) {
		code, partitions = parseSync(r, g.config.Topic)
	}); err != nil {
		return nil, err
	}
	return partitions, codeError(code)
}

// heartbeat is the body of the member's heartbeats in a generation.
func (g *Group) heartbeat(generation int32) []byte {
	body := appendString(nil, g.config.ID)
	body = binary.BigEndian.AppendUint32(body, uint32(generation))
	return appendMember(body, g.member, g.instance)
}

func (g *Group) leaveRequest(ctx context.Context, member, instance string) error {
	body := appendString(nil, g.config.ID)
	body = binary.BigEndian.AppendUint32(body, 1)
	body = appendMember(body, member, instance)
	var code int16
	if err := g.groupRequest(ctx, protocol.LeaveGroup, leaveVersion, body,
		func(r *wireReader) { code = parseLeave(r) }); err != nil {
		return err
	}
	return codeError(code)
}

// appendMember appends who speaks. Without an instance the second string is null.
func appendMember(dst []byte, member, instance string) []byte {
	dst = appendString(dst, member)
	if instance == "" {
		return append(dst, 0xff, 0xff)
	}
	return appendString(dst, instance)
}

// codeRequest is for the requests that are answered by a code alone.
func (g *Group) codeRequest(ctx context.Context, key protocol.ApiKey, version int16, body []byte) error {
	var code int16
	if err := g.groupRequest(ctx, key, version, body, func(r *wireReader) {
		r.int32() // throttle
		code = r.int16()
	}); err != nil {
		return err
	}
	return codeError(code)
}

// parseJoin reads a JoinGroup answer of joinVersion.
func parseJoin(r *wireReader) joinAnswer {
	r.int32() // throttle
	a := joinAnswer{code: r.int16(), generation: r.int32()}
	r.string() // protocol: only one was offered
	a.leader, a.member = r.string(), r.string()
	for n := r.array(8); n > 0; n-- {
		member := r.string()
		r.string() // instance
		a.members = append(a.members, subscriber{member, parseSubscription(&wireReader{b: r.sized()})})
	}
	return a
}

// parseLeave reads a LeaveGroup answer of leaveVersion, for one member: its code, unless the whole has one.
func parseLeave(r *wireReader) int16 {
	r.int32() // throttle
	code := r.int16()
	for n := r.array(6); n > 0; n-- {
		r.string() // member
		r.string() // instance
		if own := r.int16(); code == 0 {
			code = own
		}
	}
	return code
}

// parseSubscription reads a member's metadata. Bytes that are none ask for no topic.
func parseSubscription(r *wireReader) subscription {
	var s subscription
	r.int16() // version: later ones only append
	for n := r.array(2); n > 0; n-- {
		s.topics = append(s.topics, r.string())
	}
	s.mark = string(r.sized())
	return s
}

// parseSync reads a SyncGroup answer of syncVersion, down to the partitions of one topic.
func parseSync(r *wireReader, topic string) (code int16, partitions []int32) {
	r.int32() // throttle
	code = r.int16()
	b := r.sized()
	if code != 0 || len(b) == 0 {
		return code, nil
	}
	in := &wireReader{b: b}
	partitions = parseAssignment(in, topic)
	if in.err != nil {
		r.err = in.err
	}
	return code, partitions
}

// parseAssignment reads a member's share of one topic, ascending.
func parseAssignment(r *wireReader, topic string) (partitions []int32) {
	r.int16() // version: later ones only append
	for n := r.array(6); n > 0; n-- {
		wanted := r.string() == topic
		for m := r.array(4); m > 0; m-- {
			if p := r.int32(); wanted {
				partitions = append(partitions, p)
			}
		}
	}
	slices.Sort(partitions)
	return partitions
}

// appendSubscription appends a member's metadata of the consumer protocol, version 0: one topic, and the mark as user
// data.
func appendSubscription(dst []byte, topic, mark string) []byte {
	dst = append(dst, 0, 0, 0, 0, 0, 1) // version, one topic
	dst = appendString(dst, topic)
	return appendSized(dst, []byte(mark))
}

// appendAssignment appends a member's share of the consumer protocol, version 0.
func appendAssignment(dst []byte, topic string, partitions []int32) []byte {
	dst = append(dst, 0, 0, 0, 0, 0, 1) // version, one topic
	dst = appendString(dst, topic)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(partitions)))
	for _, p := range partitions {
		dst = binary.BigEndian.AppendUint32(dst, uint32(p))
	}
	return append(dst, 0xff, 0xff, 0xff, 0xff) // no user data
}
