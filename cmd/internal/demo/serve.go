package demo

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"oriel/cmd/internal/flights"
	"oriel/cmd/internal/settings"
	"oriel/mechanisms/noise"
	"oriel/operators"
	"oriel/pipeline"
	"oriel/pipeline/changelog"
	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
	"oriel/pipeline/streams"
	"oriel/state"
	"oriel/state/keys"
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

// serve runs the service until it has committed the given number of decisions.
func serve(
	ctx context.Context, client *kafka.Client, s settings.Settings, dir string, decisions int, o Options,
) error {
	model := s.Model()
	model.Learner = newSeeded(model.Learner, s.Name, o.Seed)
	c, master := s.Deployment(), keys.NewMasterKey(keys.NewSecret())
	if err := deployment.CreateTopics(ctx, client, c, func(string) {}); err != nil {
		return err
	}
	topics, err := deployment.CheckTopics(ctx, client, c, deployment.ByService)
	if err != nil {
		return err
	}
	d := changelog.Deployment{Client: client, Config: c, Topics: topics, Model: model, Master: master}
	if err := d.WriteManifests(ctx); err != nil {
		return err
	}
	identity := state.Identity{Cluster: topics.Cluster, Name: s.Name, Topic: topics.Input.ID}
	store, err := local.Open(filepath.Join(dir, s.Name), identity)
	if err != nil {
		return err
	}
	bar := o.Bar(int64(decisions), s.Name)
	work, done := context.WithCancel(ctx)
	defer done()
	committed := make(chan notice.Commit, 64)
	counted := make(chan struct{})
	go func() {
		defer close(counted)
		for n := 0; n < decisions; {
			select {
			case commit := <-committed:
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
	return errors.Join(err, store.Close())
}

// seeded makes noise equal in each run. It replaces the secret keys of a demo's streams by keys that follow from a
// number. It also replaces the identities of records, because the topic of the embedded broker has another id in each
// run. Such noise hides nothing. Only the demo uses it, over flights that are public.
type seeded struct {
	streams.Opener
	key [32]byte
}

func newSeeded(l streams.Opener, name string, seed uint64) seeded {
	return seeded{l, sha256.Sum256(fmt.Appendf(nil, "oriel demo, %s, seed %d", name, seed))}
}

func (s seeded) Open(params []byte) (func([32]byte) (operators.Machine, error), error) {
	open, err := s.Opener.Open(params)
	if err != nil {
		return nil, err
	}
	return func([32]byte) (operators.Machine, error) {
		m, err := open(s.key)
		return repeatable{m}, err
	}, nil
}

// repeatable is a machine that does not see the ids that change from run to run.
type repeatable struct{ operators.Machine }

func (m repeatable) Add(r operators.Record) {
	r.Identity = noise.Identity{Partition: r.Identity.Partition, Offset: r.Identity.Offset}
	m.Machine.Add(r)
}
