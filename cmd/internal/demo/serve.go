package demo

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"oriel/cmd/internal/flights"
	"oriel/cmd/internal/settings"
	"oriel/pipeline"
	"oriel/pipeline/changelog"
	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
	"oriel/state"
	"oriel/state/local"
)

// sendFlights fills a topic with events, partition by partition.
func sendFlights(
	ctx context.Context, client *kafka.Client, topic string, streams [][]flights.Flight,
	event func(*flights.Flight, []byte) []byte, newBar func(total int64, what string) Bar,
) error {
	if err := topics.Create(ctx, client, topic, len(streams), 1, nil); err != nil {
		return err
	}
	producer, err := produce.New(ctx, client, "", time.Minute)
	if err != nil {
		return err
	}
	bar := newBar(-1, "events sent")
	defer func() { _ = bar.Finish() }()
	var value []byte
	for p, stream := range streams {
		var b records.Builder
		for i := range stream {
			value = event(&stream[i], value[:0])
			b.Append(nil, value, nil, time.Now().UnixMilli())
			if b.Bytes() > 900_000 || i == len(stream)-1 {
				if _, err := producer.Produce(ctx, topic, int32(p), &b); err != nil {
					return err
				}
				_ = bar.Add(b.Count())
				b.Reset()
			}
		}
	}
	return nil
}

// serve runs the service until it has committed the given number of decisions, and returns the time it needed.
func serve(
	ctx context.Context, client *kafka.Client, s settings.Settings, dir string, decisions int, o Options,
) (time.Duration, error) {
	model := s.Model()
	model.Learner = newSeeded(model.Learner, s.Name, o.Seed)
	c, master := s.Deployment(), state.NewMasterKey(state.NewSecret())
	if err := deployment.CreateTopics(ctx, client, c, func(string) {}); err != nil {
		return 0, err
	}
	topics, err := deployment.CheckTopics(ctx, client, c, deployment.ByService)
	if err != nil {
		return 0, err
	}
	d := changelog.Deployment{Client: client, Config: c, Topics: topics, Model: model, Master: master}
	if err := d.WriteManifests(ctx); err != nil {
		return 0, err
	}
	identity := state.Identity{Cluster: topics.Cluster, Name: s.Name, Topic: topics.Input.ID}
	store, err := local.Open(filepath.Join(dir, s.Name), identity)
	if err != nil {
		return 0, err
	}
	bar := o.Bar(int64(decisions), s.Name)
	work, done := context.WithCancel(ctx)
	defer done()
	committed := make(chan notice.Commit, 64)
	var first, last time.Time
	counted := make(chan struct{})
	go func() {
		defer close(counted)
		for n := 0; n < decisions; {
			select {
			case commit := <-committed:
				if last = time.Now(); first.IsZero() {
					first = last.Add(-commit.Duration)
				}
				n += commit.Decisions
				_ = bar.Set(n)
			case <-work.Done():
				return
			}
		}
		done()
	}()
	service, err := pipeline.NewService(ctx, d, store, notice.Listener{
		Committed: func(commit notice.Commit) {
			select {
			case committed <- commit:
			case <-work.Done():
			}
		},
	})
	if err == nil {
		err = service.Run(work)
	}
	done()
	<-counted
	_ = bar.Finish()
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	return last.Sub(first), errors.Join(err, store.Close())
}
