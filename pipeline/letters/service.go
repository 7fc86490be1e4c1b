package letters

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"oriel/pipeline"
	"oriel/pipeline/kafka"
	"oriel/schemas"
)

// Options say how a Service works beside what the deployment says.
type Options struct {
	Once   bool // end when everything is written that the verdicts held at the start of each partition
	Listen Listener

	// Verdicts is what batches of the verdict topic count in, which are held while records of the input are read: not the
	// client's. Nil: no bound.
	Verdicts *kafka.Budget

	// Decoder returns what decodes the events of a configuration, so that letters can say in words what is wrong; nil,
	// also of a single configuration: they give the reason alone.
	Decoder func(config string) *schemas.Decoder
}

// Listener is told what happens; its functions must be safe for concurrent use. A nil function is not called. Nothing
// that it hears is public.
type Listener struct {
	Assigned func(partitions []int32)
	Written  func(Written)
	Noted    func(partition int32, text string) // something that a person should see once
	Retried  func(partition int32, err error)   // the partition is taken over again after err
	Stopped  func(partition int32, err error)   // the partition is parked; err says why and what to do
	Reached  func(partition int32, p pipeline.Point)
}

// Written describes one committed transaction.
type Written struct {
	Partition int32
	Letters   int
	Lost      int   // of them, letters of records that are gone
	To        int64 // offset of the input up to which all letters are written
}

// Service writes the letters of a deployment's share of partitions in this process. Config.Group is its own group.
type Service struct {
	deployment pipeline.Deployment
	options    Options
}

// New takes a deployment whose topics were checked for pipeline.ByLetters; it needs no Model.
func New(d pipeline.Deployment, o Options) *Service { return &Service{deployment: d, options: o} }

// errEnd means that everything is written, with Options.Once.
var errEnd = errors.New("letters: everything is written")

// Run works until ctx ends, or with Options.Once until everything is written; then it leaves the group and returns nil.
// It returns an error when it cannot go on: every partition that it was given has stopped, or with Options.Once any.
func (s *Service) Run(ctx context.Context) error {
	d := s.deployment
	c := d.Config
	group, err := d.Client.Join(kafka.GroupConfig{ID: c.Group, Topic: c.Verdicts, SessionTimeout: c.SessionTimeout})
	if err != nil {
		return fmt.Errorf("letters: join group: %w", err)
	}
	defer func() { _ = group.Close() }() // an unanswered goodbye costs the others a session timeout, nothing else
	for {
		generation, err := group.Next(ctx)
		if err == nil {
			err = s.share(ctx, generation)
			generation.Close()
		}
		switch {
		case ctx.Err() != nil, errors.Is(err, errEnd):
			return nil
		case err == nil:
		case pipeline.Kind(err) == pipeline.Stopped:
			return err
		case pipeline.Pause(ctx, retryPause) != nil:
			return nil
		}
	}
}

// share works on the partitions of one generation until it is over, and waits for all of them.
func (s *Service) share(ctx context.Context, g *kafka.Generation) error {
	if s.options.Listen.Assigned != nil {
		s.options.Listen.Assigned(g.Partitions)
	}
	ctx, cancel := context.WithCancel(ctx)
	results := make(chan error, len(g.Partitions))
	var tasks sync.WaitGroup
	most := s.deployment.Config.Memory.Transactions(len(g.Partitions), transactionBytes) / 2
	for _, p := range g.Partitions {
		t := &task{service: s, partition: p, membership: g.Membership(), memory: most}
		tasks.Go(func() { results <- t.keepRunning(ctx) })
	}
	defer tasks.Wait()
	defer cancel()
	var stopped []error
	waiting := len(g.Partitions)
	for waiting > 0 || len(g.Partitions) == 0 && !s.options.Once {
		select {
		case err := <-results:
			waiting--
			if !errors.Is(err, errEnd) {
				stopped = append(stopped, err)
			}
		case <-g.Done():
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if len(stopped) > 0 {
		return errors.Join(stopped...)
	}
	return errEnd
}

// retryPause comes between two attempts to take a partition over, or to join.
const retryPause = time.Second
