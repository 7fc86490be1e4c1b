package pipeline

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"oriel/operators"
	"oriel/pipeline/changelog"
	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/notice"
	"oriel/pipeline/streams"
	"oriel/pipeline/takeover"
	"oriel/pipeline/userindex"
	"oriel/state"
	"oriel/state/keys"
)

// Service runs the streams that the group assigns to this process.
type Service struct {
	config   deployment.Config
	model    streams.Model
	client   *kafka.Client
	topics   deployment.Topics
	master   *keys.MasterKey
	store    state.Store
	listener notice.Listener

	users      userindex.Index
	foreign    []string     // foreign members at the last check; only the checking goroutine uses them
	problems   []string     // the group's problems at the last check; only the checking goroutine uses them
	idle       staleShares  // only the checking goroutine uses it
	inputs     atomic.Int32 // number of input partitions at the last check of the topics
	streams    atomic.Int32 // number of streams of the input at the last check
	covered    atomic.Int32 // number of streams for which all output topics have a partition
	unfinished atomic.Bool  // a task that was asked to stop could not commit everything that it had computed
}

// NewService checks the deployment's topics and configuration records, but writes no record. d.Topics is the result of
// CheckTopics; the store must belong to the same deployment.
func NewService(
	ctx context.Context, d changelog.Deployment, store state.Store, l notice.Listener,
) (*Service, error) {
	c, m := d.Config, d.Model
	if err := c.Validate(); err != nil {
		return nil, err
	}
	named := c.Offsets != nil || !c.Begin.IsZero()
	if !named && c.Start != deployment.StartEarliest && c.Start != deployment.StartLatest {
		return nil, fmt.Errorf("pipeline: start %q: not earliest or latest, no offsets and no time", c.Start)
	}
	if err := errors.Join(m.Validate(), fits(c, m)); err != nil {
		return nil, err
	}
	if err := d.CheckManifests(ctx); err != nil {
		return nil, err
	}
	return newService(d, store, l), nil
}

func newService(d changelog.Deployment, store state.Store, l notice.Listener) *Service {
	d.Config.FixedPartitions = d.Model.Users != nil && !d.Config.WholeTopic()
	l.EnsureDefaults()
	return &Service{
		config: d.Config, model: d.Model, client: d.Client, topics: d.Topics, master: d.Master, store: store, listener: l,
	}
}

// deployment returns the deployment that the service was made for.
func (s *Service) deployment() changelog.Deployment {
	return changelog.Deployment{Client: s.client, Config: s.config, Topics: s.topics, Model: s.model, Master: s.master}
}

// fits returns an error if a configuration names topics for another operator, because readers of a topic were granted
// access only to its first operator's decisions.
func fits(c deployment.Config, m streams.Model) error {
	operator := m.Learner.Operator()
	if (c.Second != "") != (operators.SecondTopicOf(operator) != nil) {
		return fmt.Errorf("pipeline: second decision topic %q: an operator with a second output needs one, any other must have none", c.Second)
	}
	return nil
}

// Run works until ctx ends. Then it commits all computed transactions, leaves the group, reports whether both
// succeeded, and returns nil. It returns an error only if every assigned partition has stopped.
func (s *Service) Run(ctx context.Context) error {
	s.notePartitions(s.topics)
	group, err := group.Join(s.client, s.groupConfig())
	if err != nil {
		return fmt.Errorf("pipeline: join group: %w", err)
	}
	err = s.serve(ctx, group)
	unheard := group.Close() // if it fails, the other members wait for a session timeout
	if err == nil {
		s.listener.Ended(notice.Ending{Committed: !s.unfinished.Load(), Left: unheard == nil})
	}
	return err
}

// Pauses of the service double from firstPause to lastPause.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 10 * time.Second
)

// serve works on one share of the group's partitions after the other.
func (s *Service) serve(ctx context.Context, group *group.Member) error {
	retry := s.client.NewBackoff(firstPause, lastPause)
	for {
		generation, err := group.Next(ctx)
		if err == nil {
			if err = s.checkTopics(ctx); err == nil {
				retry.Reset()
				err = s.generation(ctx, generation)
			}
			generation.Close()
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
		case notice.Kind(err) == notice.Stopped:
			return err
		default:
			s.listener.Note(-1, "the deployment's topics or its group cannot be reached; trying again", "")
			if retry.Wait(ctx) != nil {
				return nil
			}
		}
	}
}

// checkTopics returns an error if topics changed while the service ran: other settings, other partition counts, or
// recreated topics, whose offsets number other records.
//
// A broker that has just started may not know all topics yet, and one that was away may know old ones. So a change
// counts only if repeated checks find it for some time.
func (s *Service) checkTopics(ctx context.Context) error {
	for doubt, doubted := s.client.Doubt(), false; ; doubted = true {
		err := s.compareTopics(ctx)
		if doubted && (err == nil || notice.Kind(err) != notice.Stopped) {
			s.listener.Doubted(nil)
		}
		if err == nil || notice.Kind(err) != notice.Stopped || doubt.Over() {
			return err
		}
		if !doubted {
			s.listener.Doubted(err)
		}
		if err := s.beforeNextLook(ctx); err != nil {
			return err
		}
	}
}

// beforeNextLook pauses, and clears the cluster layout, so that the next check may ask other brokers.
func (s *Service) beforeNextLook(ctx context.Context) error {
	s.client.Refresh()
	return kafka.Pause(ctx, lookInterval)
}

// lookInterval is the time between two checks for a loss. About ten checks must find a loss before it counts.
const lookInterval = time.Second

func (s *Service) compareTopics(ctx context.Context) error {
	topics, err := deployment.CheckTopics(ctx, s.client, s.config, deployment.ByService)
	if err != nil {
		return err
	}
	if err := topics.Continues(s.topics); err != nil {
		return err
	}
	s.notePartitions(topics)
	return nil
}

// watchTopics ends the generation when a topic is recreated while tasks read it.
func (s *Service) watchTopics(ctx context.Context, end func(error)) {
	for kafka.Pause(ctx, topicsInterval) == nil {
		if err := s.checkTopics(ctx); err != nil && notice.Kind(err) == notice.Stopped {
			end(err)
			return
		}
	}
}

// topicsInterval is the interval at which topic ids are looked up during work.
const topicsInterval = 5 * time.Second

// generation runs one task for each assigned partition until the share or ctx ends, and waits for all of them.
func (s *Service) generation(ctx context.Context, g *group.Generation) error {
	s.listener.Assigned(g.Partitions)
	defer s.listener.Unassigned()
	if err := s.usersBeforeTakeOver(ctx, g); err != nil {
		if ctx.Err() == nil && errors.Is(err, context.Canceled) {
			return nil // the generation ended in the meantime
		}
		return err
	}
	alive, cancel := context.WithCancelCause(ctx)
	end := func() { cancel(nil) }
	defer end()
	var (
		tasks   sync.WaitGroup
		mu      sync.Mutex
		stopped []error
	)
	for _, p := range g.Partitions {
		t := &task{
			service: s, partition: p, share: g,
			memory: s.config.Memory.Transactions(len(g.Partitions), s.config.TransactionBytes),
			ahead:  len(g.Partitions) == 1, // with several tasks the processors are busy without it
		}
		tasks.Go(func() {
			defer s.listener.Closed(p)
			defer s.users.Leave(p) // a stopped or retried partition must still remember its users
			t.awaitTopics(alive)
			err := t.keepRunning(alive)
			if err == nil {
				return
			}
			s.listener.State(p, notice.Halted)
			s.listener.Stopped(p, err)
			if notice.OfAll(err) {
				cancel(err)
			}
			mu.Lock()
			stopped = append(stopped, err)
			all := len(stopped) == len(g.Partitions)
			mu.Unlock()
			if all {
				end()
			}
			<-alive.Done()
		})
	}
	if len(g.Partitions) == 0 {
		tasks.Go(func() { s.standBy(alive) })
	}
	tasks.Go(func() { s.watchTopics(alive, cancel) })
	tasks.Go(func() { s.watchMembers(alive, g.Rejoin) })
	tasks.Go(func() { s.watchUsers(alive, g.Partitions, cancel) })
	select {
	case <-g.Done():
	case <-alive.Done():
	}
	s.listener.Unassigned()
	end()
	tasks.Wait()
	if err := context.Cause(alive); notice.Kind(err) == notice.Stopped {
		return err
	}
	if len(g.Partitions) > 0 && len(stopped) == len(g.Partitions) {
		return errors.Join(stopped...)
	}
	return nil
}

// keepRunning takes the partition over again after every failure that a retry can resolve. It returns nil when the
// partition is handed over, and an error if the partition must stop.
func (t *task) keepRunning(ctx context.Context) error {
	retry := t.service.client.NewBackoff(firstPause, lastPause)
	doubt, doubted := t.service.client.Doubt(), false
	t.service.listener.State(t.partition, notice.Restoring)
	for {
		err := t.run(ctx)
		if ctx.Err() != nil {
			return nil
		}
		switch notice.Kind(err) {
		case notice.Stopped:
			if !notice.OfLoss(err) || doubt.Over() {
				return explain(t.partition, err)
			}
			if !doubted {
				doubted = true
				t.service.listener.Note(t.partition, "the brokers say that a topic or a partition is gone; the service asks again before it stops", "")
			}
			t.service.listener.State(t.partition, notice.Restoring)
			if t.service.beforeNextLook(ctx) != nil {
				return nil
			}
		case notice.Lost: // a newer generation replaces ours; if none comes, the other owner has gone
			t.service.listener.State(t.partition, notice.Restoring)
			if kafka.Pause(ctx, t.service.config.SessionTimeout) != nil {
				return nil
			}
		case notice.Retry, notice.Finished:
			t.service.listener.Restarted(t.partition, err)
			t.service.listener.State(t.partition, notice.Restoring)
			if retry.Wait(ctx) != nil {
				return nil
			}
		}
	}
}

// explain adds a remedy to an error that stops a partition, unless the error has one.
func explain(partition int32, err error) error {
	var known *notice.StopError
	if errors.As(err, &known) {
		return err
	}
	e := &notice.StopError{
		Partition: partition, Reason: "a request is refused and would be refused again", Cause: err,
		Remedy: "Remove the cause on the brokers or in the settings, and start again; nothing of it was committed",
	}
	switch {
	case errors.Is(err, kafka.ErrOffsetOutOfRange):
		e.Reason = "the input does not have the next event: it was deleted or truncated before it was taken"
		e.Remedy = "Open a new deployment under another ORIEL_NAME, and keep events longer than the longest outage"
	case errors.Is(err, kafka.ErrTopicRecreated):
		e.Reason = "the input topic was deleted or made again"
		e.Remedy = "Its offsets mean other records now: open a new deployment under another ORIEL_NAME"
	case errors.Is(err, kafka.ErrTruncated):
		e.Reason, e.Remedy = takeover.Truncated, takeover.TruncatedRemedy
	case errors.Is(err, kafka.ErrHole):
		e.Reason, e.Remedy = takeover.Holed, takeover.HoledRemedy
	case errors.Is(err, state.ErrFailed):
		e.Reason = "the local store cannot be used any more"
		e.Remedy = "Mend the disk under ORIEL_STATE_DIR and start again; the changelog has everything"
	}
	return e
}
