package pipeline

import (
	"context"
	"fmt"
	"slices"
	"time"

	"oriel/pipeline/kafka"
)

// groupConfig is this process's membership. The mark tells members of this deployment from others: the name and the
// input's id, which are in the transactional ids as well.
func (s *Service) groupConfig() kafka.GroupConfig {
	return kafka.GroupConfig{
		ID: s.config.Group, Topic: s.config.Input,
		SessionTimeout: s.config.SessionTimeout, RebalanceTimeout: s.config.rebalanceTimeout(),
		Mark:     fmt.Sprintf("%s/%x", s.config.Name, s.topics.Input.ID),
		Instance: s.config.Instance,
		OnFenced: func() {
			s.listener.note(-1, "another process has joined the group in this one's place: it has the same host name and ORIEL_STATE_DIR; this one goes on without a place that lasts")
		},
	}
}

// A member looks who else is in its group soon after each change, and then each companyInterval.
const (
	companyFirst    = time.Second
	companyInterval = 5 * time.Second
)

// watchCompany looks for members of the group that are not of this deployment, and for partitions that none of its
// processes has, and tells what it finds when that changes. Nothing stops for it: the partitions that are left go on. A
// group of ours alone that has left one over for long shares anew: the generation ends.
func (s *Service) watchCompany(ctx context.Context, end func()) {
	gone := false
	for wait := companyFirst; Pause(ctx, wait) == nil; wait = companyInterval {
		company, err := s.client.Company(ctx, s.groupConfig(), int(s.inputs.Load()))
		switch {
		case err != nil, !company.Stable && !company.Gone:
			continue
		case company.Gone && !gone: // once may be a coordinator that has just moved
			gone = true
			continue
		}
		gone = company.Gone
		if problems := strangers(company, s.config.Group); !slices.Equal(problems, s.company) {
			s.company = problems
			s.listener.company(problems)
		}
		if s.idle.over(company) {
			end()
			return
		}
	}
}

// strangers says what is wrong with a group.
func strangers(c kafka.Company, group string) []string {
	var problems []string
	if c.Gone {
		problems = append(problems, fmt.Sprintf("group %q is no longer the one that this process joined: a consumer of another kind has joined it; give that one another group", group))
	}
	for _, stranger := range c.Strangers {
		problems = append(problems, fmt.Sprintf("group %q has a member that is not of this deployment, %v: give that one another group, or this deployment another ORIEL_GROUP", group, stranger))
	}
	if len(c.Free) > 0 {
		problems = append(problems, fmt.Sprintf("partitions %v of the input are with no process of this deployment", c.Free))
	}
	return problems
}
