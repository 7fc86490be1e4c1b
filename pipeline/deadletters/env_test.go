package deadletters

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"oriel/pipeline/changelog"
	"oriel/pipeline/deployment"
	"oriel/pipeline/embedded"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/notice"
	"oriel/pipeline/pipetest/brokertest"
	"oriel/pipeline/pipetest/logtest"
	"oriel/pipeline/pipetest/simtest"
	"oriel/pipeline/streams"
	"oriel/schemas/text"
	"oriel/state"
	"oriel/state/frame"
	"oriel/state/keys"
)

// env is a deployment whose rows of statuses the test writes itself, in place of a service.
type env struct {
	t          *testing.T
	addr       string
	dial       func(ctx context.Context, network, address string) (net.Conn, error)
	client     *kafka.Client
	deployment changelog.Deployment
	names      keys.NameKey
	start      []state.OrderedPart // start of a whole topic's stream in each partition
	sealer     *state.Sealer
	notes      []string // notes of the last run
}

const maxRecord = 1_000_000

func newEnv(t *testing.T) *env {
	t.Helper()
	return overLoopback(t).with(deployment.Config{}, 1).opened()
}

// newTopicEnv is a deployment of one stream, which starts at offset start[p] of each partition p of the input.
func newTopicEnv(t *testing.T, start ...int64) *env {
	t.Helper()
	e := overLoopback(t).with(deployment.Config{Order: "d.order"}, len(start))
	for p, offset := range start {
		e.start = append(e.start, state.OrderedPart{
			Partition: int32(p), Next: offset, End: offset, LeaderEpoch: -1, Ordered: -1,
		})
	}
	return e.opened()
}

// overLoopback starts a broker that listens on a socket of the loopback interface.
func overLoopback(t *testing.T) *env {
	t.Helper()
	broker := brokertest.Embedded(t, embedded.Options{})
	client := brokertest.Client(t, broker.Addr(), kafka.Config{DoubtFor: 2500 * time.Millisecond})
	return &env{t: t, addr: broker.Addr(), dial: new(net.Dialer).DialContext, client: client}
}

// simulated starts a broker for a test that waits. It must be called in a bubble of testing/synctest, whose clock
// advances when all goroutines wait.
func simulated(t *testing.T) *env {
	t.Helper()
	d := simtest.New(t)
	return &env{t: t, addr: d.Addr(), dial: d.Dial, client: d.Client()}
}

// opened opens the stream of partition 0, or of the whole topic.
func (e *env) opened() *env {
	e.t.Helper()
	e.sealer = e.open()
	return e
}

// with makes topics and manifests; the configuration says whether there is an order.
func (e *env) with(c deployment.Config, partitions int) *env {
	e.t.Helper()
	t, client := e.t, e.client
	c.Name, c.Group, c.Input, c.Decisions, c.Verdicts = "d", "d.letters", "events", "d.decisions", "d.verdicts"
	c.Changelog, c.DeadLetter, c.SingleReplica = "d.changelog", "d.dead-letter", true
	made := func(string) {}
	e.check(deployment.CreateInput(t.Context(), client, c, partitions, made))
	e.check(deployment.CreateTopics(t.Context(), client, c, made))
	topics, err := deployment.CheckTopics(t.Context(), client, c, deployment.ByLetters)
	e.check(err)
	model := streams.Model{Settings: fmt.Sprintf("MAX_RECORD_BYTES=%d\n", maxRecord), Semantics: 1}
	if c.WholeTopic() {
		model.Settings += "STREAM=topic\n"
	}
	e.deployment = changelog.Deployment{
		Client: client, Config: c, Topics: topics, Model: model, Master: keys.NewMasterKey(keys.NewSecret()),
	}
	e.check(e.deployment.WriteManifests(t.Context()))
	manifest, err := state.OpenManifest(e.log(c.Changelog)[0].Value, e.deployment.Master)
	e.check(err)
	e.names = manifest.NameKey
	return e
}

// open writes an incarnation to the changelog and returns its sealer.
func (e *env) open() *state.Sealer {
	e.t.Helper()
	d := e.deployment
	stream := d.Config.StreamName(0)
	of := state.Incarnation{
		Stream: stream, Cluster: d.Topics.Cluster, Topic: d.Topics.Input.ID, Config: d.Model.Settings,
	}
	if d.Config.WholeTopic() {
		of.Order = &state.Ordered{LeaderEpoch: -1, Parts: e.start}
	}
	inc := state.NewIncarnation(of)
	key := e.names.Key(frame.KindIncarnation, stream)
	e.append(d.Config.Changelog, records.Record{Key: key, Value: inc.Seal(d.Master)})
	sealer, err := inc.Sealer()
	e.check(err)
	return sealer
}

func (e *env) check(err error) {
	e.t.Helper()
	if err != nil {
		e.t.Fatal(err)
	}
}

func (e *env) append(topic string, list ...records.Record) {
	e.t.Helper()
	e.appendTo(topic, 0, list...)
}

func (e *env) appendTo(topic string, partition int32, list ...records.Record) {
	e.t.Helper()
	e.check(logtest.Send(e.t.Context(), e.client, topic, partition, list...))
}

// events sends n records, whose values are their offsets.
func (e *env) events(n int) {
	e.t.Helper()
	records := make([]records.Record, n)
	for i := range records {
		records[i].Value = fmt.Append(nil, i)
	}
	e.append(e.deployment.Config.Input, records...)
}

// row writes a row of statuses of one partition.
func (e *env) row(from int64, statuses ...byte) {
	e.t.Helper()
	e.rowOf(from, nil, statuses...)
}

func (e *env) rowOf(from int64, stretches []state.Stretch, statuses ...byte) {
	e.t.Helper()
	row := state.StatusRow{
		From: state.Place{Next: from}, To: state.Place{Next: from + int64(len(statuses))},
		Stretches: stretches, Statuses: statuses,
	}
	e.append(e.deployment.Config.Verdicts, records.Record{Value: e.sealer.SealStatuses(nil, row)})
}

func (e *env) log(topic string) []records.Record {
	e.t.Helper()
	all, err := logtest.Read(e.t.Context(), e.client, topic, 0, -1, fetch.Options{})
	e.check(err)
	return all
}

// run writes letters up to the end of the verdict topic.
func (e *env) run() error {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(e.t.Context(), time.Minute)
	defer cancel()
	e.notes = nil
	listen := Listener{Noted: func(_ int32, text string) { e.notes = append(e.notes, text) }}
	err := New(e.deployment, Options{Once: true, Listen: listen}).Run(ctx)
	e.check(ctx.Err())
	return err
}

// written formats the letters: for each its partition (of a whole topic), offset, reason and value.
func (e *env) written() string {
	e.t.Helper()
	var all []string
	for _, r := range e.log(e.deployment.Config.DeadLetter) {
		h := map[string]string{}
		for _, header := range r.Headers.List() {
			h[header.Key] = string(header.Value)
		}
		place := h[headerOffset]
		if e.deployment.Config.WholeTopic() {
			place = h[headerPartition] + "/" + place
		}
		if h[headerUntil] != "" {
			place += ".." + h[headerUntil]
		}
		if h[headerLost] == "true" {
			place += " lost"
		}
		all = append(all, fmt.Sprintf("%s %s %s", place, h[headerReason], r.Value))
	}
	return strings.Join(all, ", ")
}

func (e *env) wantWritten(want string) {
	e.t.Helper()
	if got := e.written(); got != want {
		e.t.Errorf("letters %q, want %q", got, want)
	}
}

// refuses checks that writing letters fails with a message that contains all texts in want, and that no letter is
// written.
func (e *env) refuses(want ...string) {
	e.t.Helper()
	before := e.written()
	err := e.run()
	if err == nil || notice.Kind(err) != notice.Stopped {
		e.t.Fatalf("not stopped: %v", err)
	}
	for _, text := range want {
		if !strings.Contains(err.Error(), text) {
			e.t.Errorf("the message does not say %q: %v", text, err)
		}
	}
	e.wantWritten(before)
}

const (
	none  = 0
	valid = 1
)

var bad = text.JSONSyntax.Status()
