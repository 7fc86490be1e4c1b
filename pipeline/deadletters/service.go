package deadletters

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"oriel/pipeline/changelog"
	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/memory"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
	"oriel/schemas/event"
	"oriel/state"
)

// Options are the settings of a Service beside those of the deployment.
type Options struct {
	Once   bool // end after writing the dead letters of all statuses that existed at the take-over
	Listen Listener

	// Verdicts bounds the batches of the verdict topic that are held while records of the input are read. It must not
	// be the client's budget, or the two readers could deadlock. Nil: no bound.
	Verdicts *memory.Budget

	// Decoder returns the decoder of a configuration's events, so that letters can explain a fault in words. If it is
	// nil, or returns nil for a configuration, letters have only the reason code. frozen reads the stream's writers'
	// schemas.
	Decoder func(config string, frozen func() (state.Schemas, error)) event.Decoder
}

// Listener holds functions that tasks call; each must be safe for concurrent use. A nil function is not called. Their
// arguments are as private as the input.
type Listener struct {
	Assigned func(partitions []int32)
	Written  func(Written)
	Noted    func(partition int32, text string) // receives a message that a person should see once
	Retried  func(partition int32, err error)   // receives the error after which the partition is taken over again
	// the partition is parked and will be retried; err names the reason and the remedy
	Stopped func(partition int32, err error)
	Reached func(partition int32, p notice.Point)
}

// Written describes one committed transaction.
type Written struct {
	Partition int32
	Letters   int
	Lost      int // number of letters whose records are gone
	// offset of the input up to which all letters are written; for a whole topic, the sum of its partitions' offsets
	To int64
}

// Service writes the letters of the partitions that the group assigns to this process. Config.Group must not be the
// group of `oriel run`.
type Service struct {
	deployment changelog.Deployment
	options    Options
}

// New returns a Service for a deployment whose topics were checked for deployment.ByLetters. It needs no Model.
func New(d changelog.Deployment, o Options) *Service {
	notice.FillNil(&o.Listen)
	return &Service{deployment: d, options: o}
}

// errEnd means that all letters are written, with Options.Once.
var errEnd = errors.New("letters: everything is written")

// Run works until ctx ends, or with Options.Once until all letters are written. Then it leaves the group. It returns an
// error when it cannot continue: when every assigned partition has stopped, or with Options.Once when any partition
// has. When ctx ends, it returns the reasons of the parked partitions.
func (s *Service) Run(ctx context.Context) error {
	d := s.deployment
	c := d.Config
	group, err := group.Join(d.Client, member(c))
	if err != nil {
		return fmt.Errorf("letters: join group: %w", err)
	}
	defer func() { _ = group.Close() }() // if it fails, the other members wait for a session timeout
	for {
		generation, err := group.Next(ctx)
		if err == nil {
			if _, err = s.describe(ctx); err == nil { // a group without its topic assigns no partitions
				err = s.share(ctx, generation)
			}
			generation.Close()
		}
		switch {
		case notice.Kind(err) == notice.Stopped:
			return err
		case ctx.Err() != nil, errors.Is(err, errEnd):
			return nil
		case err == nil:
		case kafka.Pause(ctx, retryPause) != nil:
			return nil
		}
	}
}

// member returns the configuration of the group that assigns partitions of the verdict topic. For a whole topic the
// group must also keep its offsets of the input, which are half of the position.
func member(c deployment.Config) group.Config {
	m := group.Config{ID: c.Group, Topic: c.Verdicts, SessionTimeout: c.SessionTimeout}
	if c.WholeTopic() {
		m.Kept = c.Input
	}
	return m
}

// describe looks up the topics of verdicts and letters, and for one stream the input. It repeats the lookup for a while
// if an output topic is missing, because a broker that has just started may not know it yet.
func (s *Service) describe(ctx context.Context) (map[string]topics.Topic, error) {
	d, c := s.deployment, s.deployment.Config
	names := []string{c.Verdicts, c.DeadLetter}
	if c.WholeTopic() {
		names = append(names, c.Input)
	}
	for doubt := d.Client.Doubt(); ; {
		cluster, err := topics.Describe(ctx, d.Client, names...)
		if err != nil {
			return nil, err
		}
		var missing error
		for _, name := range names[:2] {
			if _, exists := cluster.Topics[name]; !exists {
				missing = errors.Join(missing, c.Missing(name))
			}
		}
		if missing == nil || doubt.Over() {
			return cluster.Topics, missing
		}
		d.Client.Refresh()
		if err := kafka.Pause(ctx, retryPause); err != nil {
			return nil, err
		}
	}
}

// partitionTurn reports that a partition is parked, works again (both errors nil), or has ended.
type partitionTurn struct {
	partition     int32
	parked, ended error
}

// share works on the partitions of one share until the share has ended, and waits for all of them.
func (s *Service) share(ctx context.Context, g *group.Generation) error {
	s.options.Listen.Assigned(g.Partitions)
	work, cancel := context.WithCancel(ctx)
	turns := make(chan partitionTurn)
	over := make(chan struct{})
	report := func(t partitionTurn) {
		select {
		case turns <- t:
		case <-over:
		}
	}
	var tasks sync.WaitGroup
	most := s.deployment.Config.Memory.Transactions(len(g.Partitions), transactionBytes) / 2
	for _, p := range g.Partitions {
		t := &task{service: s, partition: p, share: g, memory: most}
		tasks.Go(func() {
			err := t.keepRunning(work, func(parked error) { report(partitionTurn{partition: p, parked: parked}) })
			report(partitionTurn{partition: p, ended: err})
		})
	}
	defer tasks.Wait()
	defer cancel()
	defer close(over)
	stopped := map[int32]error{}
	waiting := len(g.Partitions)
	for waiting > 0 || len(g.Partitions) == 0 && !s.options.Once {
		select {
		case t := <-turns:
			switch {
			case errors.Is(t.ended, context.Canceled): // g.Done or ctx.Done explains it
			case t.parked != nil:
				stopped[t.partition] = t.parked
			case t.ended == nil:
				delete(stopped, t.partition)
			case errors.Is(t.ended, errEnd):
				waiting--
			default:
				stopped[t.partition] = t.ended
				waiting--
			}
			if len(stopped) == len(g.Partitions) {
				return joined(stopped)
			}
		case <-g.Done():
			return nil
		case <-ctx.Done():
			return cmp.Or(joined(stopped), ctx.Err())
		}
	}
	return cmp.Or(joined(stopped), errEnd)
}

// joined joins the errors of partitions in the order of the partitions.
func joined(stopped map[int32]error) error {
	var all []error
	for _, p := range slices.Sorted(maps.Keys(stopped)) {
		all = append(all, stopped[p])
	}
	return errors.Join(all...)
}

// retryPause is the time between two attempts to take a partition over, or to join the group.
const retryPause = time.Second
