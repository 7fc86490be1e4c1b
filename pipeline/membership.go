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
		s.listener.Note(-1, "another process has joined the group in this one's place: it has the same host name and ORIEL_STATE_DIR; this one goes on without a place that lasts")
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
		members, versions := s.versions(members)
		if !slices.Equal(versions, s.others) {
			s.others = versions
			s.listener.Versions(versions)
		}
		foreign, problems := s.memberProblems(members)
		if !slices.Equal(foreign, s.foreign) || !slices.Equal(problems, s.problems) {
			s.foreign, s.problems = foreign, problems
			s.listener.Members(foreign, problems)
		}
		if len(versions) == 0 && s.idle.expired(members) {
			rejoin()
		}
	}
}

// versions removes from a group's foreign members those with other versions of Oriel: their mark is empty, or names
// this deployment. They work on this deployment and are fenced like all owners, so a rolling upgrade is correct. A
// leader of this version assigns no partition to them; a leader of another version assigns partitions to all members.
func (s *Service) versions(c group.Members) (rest group.Members, texts []string) {
	rest = c
	rest.Foreign, rest.Free = nil, slices.Clone(c.Free)
	for _, m := range c.Foreign {
		name, _, _ := strings.Cut(m.Mark, "/")
		if m.Client != kafka.DefaultClientID || !slices.Contains(m.Topics, s.config.Input) ||
			m.Mark != "" && name != s.config.Name {
			rest.Foreign = append(rest.Foreign, m)
			continue
		}
		texts = append(texts, fmt.Sprintf("group %q has a member of another version of Oriel, %v: end the older one when all of "+
			"the newer ones are up", s.config.Group, m))
		rest.Free = slices.DeleteFunc(rest.Free, func(p int32) bool { return slices.Contains(m.Partitions, p) })
	}
	return rest, texts
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
