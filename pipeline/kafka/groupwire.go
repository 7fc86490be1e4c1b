package kafka

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/segmentio/kafka-go/protocol"
)

// The group requests, at the last versions before flexible ones and static members. JoinGroup 4 is the first to hand out the
// member id BEFORE the join waits for others (KIP-394): a join that is given up is taken up again, or left, under its id.
const (
	joinVersion      = 4
	syncVersion      = 2
	heartbeatVersion = 2
	leaveVersion     = 2
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

// subscriber is a member and the topics that it wants.
type subscriber struct {
	member string
	topics []string
}

// groupRequest sends one request to the group's coordinator and waits for the answer.
func (g *Group) groupRequest(ctx context.Context, key protocol.ApiKey, version int16, body []byte, parse func(*wireReader)) error {
	req := &groupCall{call: g.client.newCall(key, version, false, body), group: g.config.ID}
	req.whole(parse)
	_, err := g.client.roundTrip(ctx, attemptTimeout+g.config.RebalanceTimeout, req)
	return err
}

func (g *Group) joinRequest(ctx context.Context, member string) (joinAnswer, error) {
	body := appendString(nil, g.config.ID)
	body = binary.BigEndian.AppendUint32(body, uint32(g.config.SessionTimeout.Milliseconds()))
	body = binary.BigEndian.AppendUint32(body, uint32(g.config.RebalanceTimeout.Milliseconds()))
	body = appendString(body, member)
	body = appendString(body, consumerProtocol)
	body = binary.BigEndian.AppendUint32(body, 1)
	body = appendString(body, rangeProtocol)
	body = appendSized(body, appendSubscription(nil, g.config.Topic))
	var answer joinAnswer
	if err := g.groupRequest(ctx, protocol.JoinGroup, joinVersion, body, func(r *wireReader) { answer = parseJoin(r) }); err != nil {
		return joinAnswer{}, err
	}
	return answer, nil
}

// syncRequest waits for the leader's assignments; the leader brings them. A member without any has no partitions.
func (g *Group) syncRequest(ctx context.Context, member string, generation int32, assigned []assignment) ([]int32, error) {
	body := appendString(nil, g.config.ID)
	body = binary.BigEndian.AppendUint32(body, uint32(generation))
	body = appendString(body, member)
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

func (g *Group) heartbeatRequest(ctx context.Context, member string, generation int32) error {
	body := appendString(nil, g.config.ID)
	body = binary.BigEndian.AppendUint32(body, uint32(generation))
	body = appendString(body, member)
	return g.codeRequest(ctx, protocol.Heartbeat, heartbeatVersion, body)
}

func (g *Group) leaveRequest(ctx context.Context, member string) error {
	body := appendString(nil, g.config.ID)
	body = appendString(body, member)
	return g.codeRequest(ctx, protocol.LeaveGroup, leaveVersion, body)
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
	for n := r.array(6); n > 0; n-- {
		member := r.string()
		a.members = append(a.members, subscriber{member, parseSubscription(&wireReader{b: r.sized()})})
	}
	return a
}

// parseSubscription reads the topics of a member's metadata. Bytes that are none ask for no topic.
func parseSubscription(r *wireReader) []string {
	r.int16() // version: later ones only append
	var topics []string
	for n := r.array(2); n > 0; n-- {
		topics = append(topics, r.string())
	}
	return topics
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
	in.int16() // version: later ones only append
	for n := in.array(6); n > 0; n-- {
		wanted := in.string() == topic
		for m := in.array(4); m > 0; m-- {
			if p := in.int32(); wanted {
				partitions = append(partitions, p)
			}
		}
	}
	if in.err != nil {
		r.err = in.err
	}
	slices.Sort(partitions)
	return code, partitions
}

// appendSubscription appends a member's metadata of the consumer protocol, version 0.
func appendSubscription(dst []byte, topic string) []byte {
	dst = append(dst, 0, 0, 0, 0, 0, 1) // version, one topic
	dst = appendString(dst, topic)
	return append(dst, 0xff, 0xff, 0xff, 0xff) // no user data
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
