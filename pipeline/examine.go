package pipeline

import (
	"context"

	"oriel/pipeline/changelog"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/notice"
	"oriel/pipeline/takeover"
	"oriel/state"
)

// ports are the parts of the process that a take-over uses.
func (s *Service) ports() takeover.Ports {
	return takeover.Ports{
		Client: s.client, Config: s.config, Topics: s.topics, Model: s.model, Master: s.master, Store: s.store,
		Users: &s.users, Listener: s.listener,
	}
}

// examineLooks is the number of looks, a second apart, that must find a loss. An owner at work moves the ends of topics
// between two requests of one look. A leader that is back with an older log takes longer, up to the ten seconds of Run.
const examineLooks = 3

// Examiner makes the checks with which a Service takes its streams over, and changes nothing. It may work beside a
// Service of the deployment.
type Examiner struct{ service *Service }

// NewExaminer returns an Examiner of a deployment whose topics and manifests were checked. store is a copy of the local
// store, or empty.
func NewExaminer(d changelog.Deployment, store state.Store) Examiner {
	return Examiner{newService(d, store, notice.Listener{})}
}

// Stream returns the error with which Run would stop the stream of a partition.
func (x Examiner) Stream(ctx context.Context, partition int32, e takeover.Examination) error {
	s := x.service
	if partition >= s.topics.Covered(s.config) {
		return uncovered(partition)
	}
	for looks := 1; ; looks++ {
		err := takeover.Examine(ctx, s.ports(), partition, e)
		switch {
		case err == nil || notice.Kind(err) != notice.Stopped:
			return err
		case !notice.OfLoss(err) || looks == examineLooks:
			return explain(partition, err)
		}
		if err := s.beforeNextLook(ctx); err != nil {
			return err
		}
	}
}

// Users returns the error with which Run would stop because one user has events in two partitions.
func (x Examiner) Users(ctx context.Context) error { return x.service.usersElsewhere(ctx, nil) }

// Streams returns the number of streams of the input.
func (x Examiner) Streams() int32 { return int32(x.service.config.Streams(x.service.topics.Input)) }

// Group describes the members of the group that do not belong to the deployment. It joins nothing. settled is false
// while the group assigns partitions.
func (x Examiner) Group(ctx context.Context) (foreign []string, settled bool, err error) {
	s := x.service
	members, err := group.Describe(ctx, s.client, s.groupConfig(), int(x.Streams()))
	if err != nil {
		return nil, false, err
	}
	foreign, _ = s.memberProblems(members)
	return foreign, members.Stable || members.Gone || members.Empty, nil
}
