package pipetest

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/loss"
	"oriel/pipeline"
	"oriel/pipeline/changelog"
	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
	"oriel/pipeline/pipetest/simtest"
	"oriel/pipeline/streams"
	"oriel/pipeline/takeover"
	"oriel/schemas/event"
	"oriel/state"
	"oriel/state/keys"
	"oriel/state/local"
)

// Setup is the configuration that the processes of a service share, for tests of only the pipeline. The parts that cmd
// adds (settings, log, pages, exit codes) are tested in cmd.
type Setup struct {
	Config   deployment.Config
	Model    streams.Model
	Listener notice.Listener     // receives the events of every process
	Client   func(*kafka.Config) // changes the client configuration of every process; may be nil

	master *keys.MasterKey
}

// states is the guarantee that decisions of a blind machine state.
var states = protection.Guarantee{
	Terms:     protection.Terms{Scope: protection.Window{Steps: 16}, Unit: protection.Event{Exchange: dp.Replace}},
	Mechanism: "blind", Batch: 1, Epsilon: 1, Delta: 1e-6, Mu: 1,
}

// NewSetup returns a small deployment with a blind machine.
func NewSetup() Setup {
	body, _ := loss.Body("logistic", 1)
	return Setup{
		Config: deployment.Config{
			Name: "late", Group: "late", Input: "trips", Decisions: "late.decisions", Verdicts: "late.verdicts",
			Changelog: "late.changelog", DeadLetter: "late.dead-letter", Start: deployment.StartEarliest,
			CommitInterval: 100 * time.Millisecond, TransactionBytes: 1 << 20, SessionTimeout: 6 * time.Second,
			SingleReplica: true,
		},
		Model: streams.Model{
			Settings: "OPERATOR=blind\n",
			Events: event.Config{
				Body: body, Dimension: 4, MaxBytes: 1000,
				Features: event.FeatureConfig{Norm: "none"},
			},
			Semantics: streams.Semantics,
		},
		master: keys.NewMasterKey([32]byte{7}),
	}.With(Blind{States: states})
}

// States returns the guarantee that decisions of a deployment's blind machines state. The guarantee is made up.
func (Setup) States() protection.Guarantee { return states }

// With returns the deployment with other blind machines.
func (s Setup) With(b Blind) Setup {
	s.Model.Learner = b.Learner()
	if output := operators.SecondTopicOf(s.Model.Learner.Operator()); output != nil {
		s.Config.Second = s.Config.Name + "." + output.Suffix
	}
	return s
}

// SecondTopic returns the deployment with machines that make one more decision, for a second topic, in each every-th
// step.
func (s Setup) SecondTopic(every uint64) Setup { return s.With(Blind{States: states, Second: every}) }

// Owing returns the deployment with machines that owe decisions before the first record. With every > 0 they also make
// decisions for a second topic, as with SecondTopic.
func (s Setup) Owing(owed int, every uint64) Setup {
	return s.With(Blind{States: states, Second: every, Owed: owed})
}

// WholeTopic returns the deployment with one stream of the whole input.
func (s Setup) WholeTopic() Setup {
	s.Config.Order = s.Config.Name + ".order"
	s.Model.Settings += "STREAM=topic\n"
	return s
}

// Deployment returns the description with which the deployment's sealed records can be read.
func (s Setup) Deployment(ctx context.Context, client *kafka.Client) (changelog.Deployment, error) {
	return s.described(ctx, client, deployment.ByService)
}

func (s Setup) described(
	ctx context.Context, client *kafka.Client, use deployment.Use,
) (changelog.Deployment, error) {
	topics, err := deployment.CheckTopics(ctx, client, s.Config, use)
	return changelog.Deployment{Client: client, Config: s.Config, Topics: topics, Model: s.Model, Master: s.master}, err
}

// Prepare makes the input topic, and then everything that `oriel topics` makes.
func (s Setup) Prepare(ctx context.Context, client *kafka.Client, partitions int) error {
	if err := topics.Create(ctx, client, s.Config.Input, partitions, 1, nil); err != nil {
		return err
	}
	return s.Topics(ctx, client, func(string) {})
}

// Topics does the same as `oriel topics`; it calls done with each action.
func (s Setup) Topics(ctx context.Context, client *kafka.Client, done func(what string)) error {
	if err := deployment.CreateTopics(ctx, client, s.Config, done); err != nil {
		return err
	}
	d, err := s.described(ctx, client, deployment.ByAll)
	if err == nil {
		err = d.WriteManifests(ctx)
	}
	if err != nil {
		return err
	}
	descriptor := operators.DescriptorOf(s.Model.Learner.Operator())
	written, err := deployment.WriteDescriptor(ctx, client, s.Config, d.Topics, descriptor)
	if written {
		done("published the descriptor")
	}
	return err
}

// Examine returns what an examination says of each stream, and of users in two partitions. disk has the local store of
// the process that is examined.
func (s Setup) Examine(ctx context.Context, client *kafka.Client, disk vfs.FS) error {
	d, err := s.Deployment(ctx, client)
	if err == nil {
		err = d.CheckManifests(ctx)
	}
	if err != nil {
		return err
	}
	examiner := pipeline.NewExaminer(d, local.Copy{Options: local.Options{FS: disk}, Dir: "state"})
	errs := []error{examiner.Users(ctx)}
	for p := range examiner.Streams() {
		errs = append(errs, examiner.Stream(ctx, p, takeover.Examination{Events: true}))
	}
	return errors.Join(errs...)
}

// Run is a process of the service, for Deployment.Start. It does the same as `oriel run` between its settings and
// pages.
func (s Setup) Run(ctx context.Context, m *simtest.Member) error {
	config := kafka.Config{Brokers: []string{m.Broker()}}
	m.Network(&config)
	if s.Client != nil {
		s.Client(&config)
	}
	client, err := kafka.New(config)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	d, err := s.Deployment(ctx, client)
	if err != nil {
		return err
	}
	store, err := local.Options{FS: m.Disk()}.Open("state",
		state.Identity{Cluster: d.Topics.Cluster, Name: s.Config.Name, Topic: d.Topics.Input.ID})
	if err != nil {
		return err
	}
	listener := s.Listener
	listener.EnsureDefaults()
	reached := listener.Reached
	listener.Reached = func(p int32, point notice.Point) {
		reached(p, point)
		m.Reached(p, point)
	}
	service, err := pipeline.NewService(ctx, d, store, listener)
	if err != nil {
		return errors.Join(err, store.Close())
	}
	return errors.Join(service.Run(ctx), store.Close())
}

// EachStory plays each story of a folder, a .txt file, as a subtest with its name. It fails if the folder has none.
func EachStory(t *testing.T, dir string, play func(t *testing.T, path string)) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no stories in %s: %v", dir, err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) { play(t, path) })
	}
}
