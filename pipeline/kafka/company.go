package kafka

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/segmentio/kafka-go/protocol"
)

// describeVersion is the last before flexible versions.
const describeVersion = 4

// Stranger is a member of a group that does not carry its mark.
type Stranger struct{ Client, Host string }

func (s Stranger) String() string { return fmt.Sprintf("client %.64q at %.64q", s.Client, s.Host) }

// Company is who is in a group, as its coordinator says.
type Company struct {
	Stable bool // shares are given; the rest is known only then
	// there is no such group of this kind: members of the newer consumer protocol may have taken it over
	Gone      bool
	Strangers []Stranger // by client and host
	Free      []int32    // partitions that no member with the mark has, ascending
}

// Company looks at the group that a member of config belongs to. partitions is how many its topic has.
func (c *Client) Company(ctx context.Context, config GroupConfig, partitions int) (Company, error) {
	var found Company
	err := c.retry(ctx, "describe group "+config.ID, func(ctx context.Context) error {
		body := []byte{0, 0, 0, 1} // one group
		body = appendString(body, config.ID)
		body = append(body, 0) // no authorised operations
		req := &groupCall{call: c.newCall(protocol.DescribeGroups, describeVersion, false, body), group: config.ID}
		var group described
		req.whole(func(r *wireReader) { group = parseDescribeGroup(r, config.Topic) })
		if _, err := c.roundTrip(ctx, attemptTimeout, req); err != nil {
			return err
		}
		if Code(group.code) == codeGroupNotFound {
			group.code, group.state = 0, "Dead"
		}
		found = group.company(config.Mark, partitions)
		return codeError(group.code)
	})
	return found, err
}

// described is one group of a DescribeGroups answer.
type described struct {
	code    int16
	state   string
	members []sharer
}

// sharer is a member and its share of one topic.
type sharer struct {
	Stranger
	mark       string
	partitions []int32
}

func (d described) company(mark string, partitions int) Company {
	c := Company{Stable: d.state == "Stable", Gone: d.state == "Dead"}
	if !c.Stable {
		return c
	}
	owned := map[int32]bool{}
	for _, m := range d.members {
		if m.mark != mark {
			c.Strangers = append(c.Strangers, m.Stranger)
			continue
		}
		for _, p := range m.partitions {
			owned[p] = true
		}
	}
	slices.SortFunc(c.Strangers, func(a, b Stranger) int {
		return cmp.Or(cmp.Compare(a.Client, b.Client), cmp.Compare(a.Host, b.Host))
	})
	for p := range int32(partitions) {
		if !owned[p] {
			c.Free = append(c.Free, p)
		}
	}
	return c
}

// parseDescribeGroup reads a DescribeGroups answer of describeVersion for one group, shares down to one topic. What a
// stranger says of itself may be anything: bytes that are no share are none.
func parseDescribeGroup(r *wireReader, topic string) described {
	var d described
	r.int32() // throttle
	for n := r.array(16); n > 0; n-- {
		d.code = r.int16()
		r.string() // group
		d.state = r.string()
		r.string() // protocol type
		r.string() // protocol
		d.members = nil
		for m := r.array(16); m > 0; m-- {
			var s sharer
			r.string() // member
			r.string() // instance
			s.Client, s.Host = r.string(), r.string()
			s.mark = parseSubscription(&wireReader{b: r.sized()}).mark
			s.partitions = parseAssignment(&wireReader{b: r.sized()}, topic)
			d.members = append(d.members, s)
		}
		r.int32() // authorised operations
	}
	return d
}
