package pipetest

import (
	"context"
	"errors"
	"time"

	"oriel/mechanisms/dp"
	"oriel/operators"
	"oriel/pipeline"
	"oriel/pipeline/kafka"
	"oriel/schemas"
	"oriel/state"
)

// Setup is what the processes of a service share, for tests of the pipeline alone. What cmd adds (settings, log, pages, exit
// codes) is tested there.
type Setup struct {
	Config   pipeline.Config
	Model    pipeline.Model
	Listener pipeline.Listener // hears what happens in every process
	Retried  func(operation string, err error)

	master *state.MasterKey
}

// NewSetup is a small deployment with a blind machine.
func NewSetup() Setup {
	guarantee := dp.Guarantee{
		Mechanism: "blind", Window: 16, Batch: 1, Epsilon: 1, Delta: 1e-6, Adjacency: dp.Replace, Unit: "event", Mu: 1,
	}
	return Setup{
		Config: pipeline.Config{
			Name: "late", Group: "late", Input: "trips", Decisions: "late.decisions", Verdicts: "late.verdicts",
			Changelog: "late.changelog", DeadLetter: "late.dead-letter", Start: pipeline.StartEarliest,
			CommitInterval: 100 * time.Millisecond, TransactionBytes: 1 << 20, SessionTimeout: 6 * time.Second, SingleReplica: true,
		},
		Model: pipeline.Model{
			Settings:  "OPERATOR=blind\n",
			Events:    schemas.EventConfig{Loss: "logistic", Dimension: 4, MaxBytes: 1000, Features: schemas.FeatureConfig{Norm: "none"}},
			Semantics: pipeline.Semantics,
			Plan:      func() ([]byte, error) { return nil, nil },
			Open: func([]byte, [32]byte) (operators.Machine, error) {
				return &Blind{States: guarantee}, nil
			},
		},
		master: state.NewMasterKey([32]byte{7}),
	}
}

// Prepare makes the topics and writes the manifests, as `oriel topics` does.
func (s Setup) Prepare(ctx context.Context, client *kafka.Client, partitions int) error {
	if err := client.CreateTopic(ctx, s.Config.Input, partitions, 1, nil); err != nil {
		return err
	}
	if err := pipeline.CreateTopics(ctx, client, s.Config, func(string) {}); err != nil {
		return err
	}
	topics, err := pipeline.CheckTopics(ctx, client, s.Config, pipeline.ByService)
	if err != nil {
		return err
	}
	return pipeline.WriteManifests(ctx, client, s.Config, topics, s.Model, s.master)
}

// Run is a process of the service, for Deployment.Start: what `oriel run` does between its settings and its pages.
func (s Setup) Run(ctx context.Context, m *Member) error {
	config := kafka.Config{Brokers: []string{m.d.Addr()}, OnRetry: s.Retried}
	m.Network(&config)
	client, err := kafka.New(config)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	topics, err := pipeline.CheckTopics(ctx, client, s.Config, pipeline.ByService)
	if err != nil {
		return err
	}
	store, err := state.Options{FS: m.Disk()}.Open("state", state.Identity{Cluster: topics.Cluster, Name: s.Config.Name, Topic: topics.Input.ID})
	if err != nil {
		return err
	}
	hear := s.Listener
	reached := hear.Reached
	hear.Reached = func(p int32, point pipeline.Point) {
		if reached != nil {
			reached(p, point)
		}
		m.Reached(p, point)
	}
	service, err := pipeline.NewService(ctx, client, s.Config, s.Model, topics, s.master, store, hear)
	if err != nil {
		return errors.Join(err, store.Close())
	}
	return errors.Join(service.Run(ctx), store.Close())
}
