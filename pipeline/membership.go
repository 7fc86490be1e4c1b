package pipeline

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/group"
)

// groupConfig returns the configuration of this process's group membership.
func (s *Service) groupConfig() group.Config {
	c := s.config.GroupConfig(s.topics.Input.ID)
	c.OnFenced = func() {
		s.listener.Note(-1, "another process has joined the group in this one's place: it has the same host name and ORIEL_STATE_DIR; this one goes on without a place that lasts", "")
	}
	return c
}

// A member checks the group's members after membersFirst, and then every membersInterval.
const (
	membersFirst    = time.Second
	membersInterval = 5 * time.Second
)

// watchMembers looks for members of the group that do not belong to this deployment, and for partitions without an
// owner of this deployment. It reports changes to the listener, but stops no partition. If the group has only members
// of this deployment and still leaves a partition unassigned for long, watchMembers makes this process join again, so
// that partitions are assigned again.
func (s *Service) watchMembers(ctx context.Context, rejoin func()) {
	gone := false
	for wait := membersFirst; kafka.Pause(ctx, wait) == nil; wait = membersInterval {
		members, err := group.Describe(ctx, s.client, s.groupConfig(), int(s.streams.Load()))
		switch {
		case err != nil, !members.Stable && !members.Gone:
			continue
		case members.Gone && !gone: // must be found twice, because the coordinator may just have moved
			gone = true
			continue
		}
		gone = members.Gone
		foreign, problems := s.memberProblems(members)
		if !slices.Equal(foreign, s.foreign) || !slices.Equal(problems, s.problems) {
			s.foreign, s.problems = foreign, problems
			s.listener.Members(foreign, problems)
		}
		if s.idle.expired(members) {
			rejoin()
		}
	}
}

// memberProblems describes the foreign members of a group, and the partitions that no member of the deployment has. A
// foreign member takes nothing away by itself, because a leader of this deployment assigns no partition to it.
func (s *Service) memberProblems(c group.Members) (foreign, problems []string) {
	group := s.config.Group
	if c.Gone {
		problems = append(problems, fmt.Sprintf("group %q is no longer the one that this process joined: a consumer of another kind has joined it; give that one another group", group))
	}
	for _, m := range c.Foreign {
		foreign = append(foreign, ForeignMember(s.config, m))
	}
	switch {
	case len(c.Free) > 0 && s.config.WholeTopic():
		problems = append(problems, "no process of this deployment has the stream")
	case len(c.Free) > 0:
		problems = append(problems, fmt.Sprintf("no process of this deployment has the partitions %v of the input", c.Free))
	}
	return foreign, problems
}

// ForeignMember describes a member of the deployment's group that does not belong to the deployment, with a remedy.
func ForeignMember(c deployment.Config, m group.ForeignMember) string {
	is := "that is not of this deployment"
	if name, _, marked := strings.Cut(m.Mark, "/"); marked && m.Client == kafka.DefaultClientID {
		is = fmt.Sprintf("of the deployment %.64q", name)
	}
	return fmt.Sprintf("group %q has a member %s, %v: give that one another group, or this deployment another ORIEL_GROUP", c.Group, is, m)
}
