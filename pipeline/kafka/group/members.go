package group

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"

	"oriel/pipeline/kafka"
)

// describeVersion is the last version before flexible ones.
const describeVersion = 4

// ForeignMember is a member of a group with another mark or none.
type ForeignMember struct {
	Client, Host string
	Mark         string   // version mark of the member; it may be any text
	Topics       []string // topics that the member subscribes to
	Partitions   []int32  // the member's share of the group's topic, ascending
}

func (s ForeignMember) String() string { return fmt.Sprintf("client %.64q at %.64q", s.Client, s.Host) }

// Members describes the members of a group, as its coordinator reports them.
type Members struct {
	Stable bool // partitions are assigned; only then are Foreign and Free set
	Gone   bool // the group does not exist, or uses the newer consumer protocol
	Empty  bool // the group has no members

	Foreign []ForeignMember // sorted by client and host
	Free    []int32         // partitions that no member with our mark owns, ascending
}

// Describe describes the group that a member with config belongs to. partitions is the number of the topic's
// partitions.
func Describe(ctx context.Context, c *kafka.Client, config Config, partitions int) (Members, error) {
	var found Members
	coordinator := kafka.CoordinatorOfGroup(config.ID)
	err := c.RetryAt(ctx, coordinator, "describe group "+config.ID, func(ctx context.Context) error {
		group, err := describeGroup(ctx, c, config.ID, config.Topic)
		if err != nil {
			return err
		}
		found = group.membersOf(config.Mark, partitions)
		return kafka.CodeError(group.code)
	})
	return found, err
}

// describeGroup asks the coordinator about one group. A group that does not exist has the state Dead.
func describeGroup(ctx context.Context, c *kafka.Client, id, topic string) (groupDescription, error) {
	req := &kmsg.DescribeGroupsRequest{Groups: []string{id}}
	res, err := kafka.Ask[*kmsg.DescribeGroupsResponse](
		ctx, c, kafka.AttemptTimeout, kafka.GroupID(id), req, describeVersion)
	if err != nil {
		return groupDescription{}, err
	}
	group := descriptionOf(res, topic)
	if kafka.Code(group.code) == codeGroupNotFound {
		group.code, group.state = 0, "Dead"
	}
	return group, nil
}

const (
	otherGroupsTime = 10 * time.Second // limit for one search
	otherGroupsMost = 1000             // largest number of groups that a search describes
)

// Others returns the other groups with a member that has config's mark, because then two groups work on the same
// deployment. It finds only groups that this client has the right to list and describe. It tries only once, and returns
// none after an error.
func Others(ctx context.Context, c *kafka.Client, config Config) []string {
	ctx, cancel := context.WithTimeout(ctx, otherGroupsTime)
	defer cancel()
	listed, err := c.API().ListGroups(ctx, &kafkago.ListGroupsRequest{})
	if err != nil {
		return nil
	}
	var others []string
	for _, g := range listed.Groups[:min(len(listed.Groups), otherGroupsMost)] {
		if g.GroupID == config.ID || g.ProtocolType != consumerProtocol {
			continue
		}
		group, err := describeGroup(ctx, c, g.GroupID, config.Topic)
		if err == nil && slices.ContainsFunc(group.members, func(m ForeignMember) bool { return m.Mark == config.Mark }) {
			others = append(others, g.GroupID)
		}
	}
	slices.Sort(others)
	return slices.Compact(others)
}

// groupDescription is one group of a DescribeGroups answer.
type groupDescription struct {
	code    int16
	state   string
	members []ForeignMember
}

func (d groupDescription) membersOf(mark string, partitions int) Members {
	c := Members{Stable: d.state == "Stable", Gone: d.state == "Dead", Empty: d.state == "Empty"}
	if !c.Stable {
		return c
	}
	owned := map[int32]bool{}
	for _, m := range d.members {
		if m.Mark != mark {
			c.Foreign = append(c.Foreign, m)
			continue
		}
		for _, p := range m.Partitions {
			owned[p] = true
		}
	}
	slices.SortFunc(c.Foreign, func(a, b ForeignMember) int {
		return cmp.Or(cmp.Compare(a.Client, b.Client), cmp.Compare(a.Host, b.Host))
	})
	for p := range int32(partitions) {
		if !owned[p] {
			c.Free = append(c.Free, p)
		}
	}
	return c
}

// descriptionOf returns the group of an answer, with the shares of one topic. A foreign member may have sent any bytes;
// malformed bytes count as an empty share.
func descriptionOf(res *kmsg.DescribeGroupsResponse, topic string) (d groupDescription) {
	for _, g := range res.Groups {
		d = groupDescription{code: g.ErrorCode, state: g.State}
		for _, m := range g.Members {
			wants := parseSubscription(m.ProtocolMetadata, topic)
			share, _ := parseAssignment(m.MemberAssignment, topic)
			d.members = append(d.members, ForeignMember{
				Client: m.ClientID, Host: m.ClientHost, Mark: wants.mark, Topics: wants.topics, Partitions: share,
			})
		}
	}
	return d
}
