package doctor_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sr"
	"github.com/twmb/franz-go/pkg/sr/srfake"

	"oriel/cmd/internal/doctor"
	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/service"
	"oriel/cmd/internal/servicetest"
	"oriel/pipeline/kafka/topics"
	"oriel/state"
	"oriel/state/local"
)

func TestMain(m *testing.M) { servicetest.Main(m, nil) }

// patience is enough for a broker on the same computer.
const patience = 5 * time.Second

// patient is the deployment that doctor examines.
type patient struct{ *servicetest.Fixture }

// environ returns the settings of the deployment.
func (f patient) environ() (lines []string) {
	for name, value := range f.Env {
		lines = append(lines, name+"="+value)
	}
	return lines
}

// examine returns what doctor prints and its error.
func (f patient) examine(o doctor.Options) (string, error) {
	f.T.Helper()
	h, out := servicetest.Host(), new(strings.Builder)
	h.Environ, h.Stderr = f.environ(), out
	if o.Patience == 0 {
		o.Patience = patience
	}
	ctx, cancel := context.WithTimeout(f.Ctx(), time.Minute)
	defer cancel()
	err := doctor.Examine(ctx, h, o, out)
	return out.String(), err
}

// bad returns the lines for checks that are not ok.
func bad(said string) (lines []string) {
	for line := range strings.Lines(said) {
		if strings.HasPrefix(line, "wrong ") || strings.HasPrefix(line, "warning ") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// serve takes this many events of each partition, and ends.
func (f patient) serve(events int) {
	f.T.Helper()
	all := []int64{}
	for p := range int32(f.Partitions) {
		f.Send(p, servicetest.Events(0, events)...)
		all = append(all, int64(events))
	}
	p := f.Start(nil, "run")
	f.AwaitTaken(time.Minute, all...)
	p.Terminate()
}

// join lets a plain consumer join the deployment's group, and waits until it has partitions.
func (f patient) join(client string) {
	f.T.Helper()
	c, err := kgo.NewClient(kgo.SeedBrokers(f.Env["ORIEL_BROKERS"]), kgo.ClientID(client), kgo.ConsumerGroup(f.Name),
		kgo.ConsumeTopics(f.Topic("events")), kgo.DisableAutoCommit())
	if err != nil {
		f.T.Fatal(err)
	}
	f.T.Cleanup(c.Close)
	f.Send(0, servicetest.Event(1))
	for c.PollFetches(f.Ctx()).NumRecords() == 0 {
		if f.Ctx().Err() != nil {
			f.T.Fatal("the consumer gets no partition")
		}
	}
}

// fromRegistry creates a registry and a schema in it.
func fromRegistry(f patient) {
	registry := srfake.New()
	f.T.Cleanup(registry.Close)
	maps.Copy(f.Env, map[string]string{
		"ORIEL_FORMAT": "avro", "ORIEL_FRAMING": "confluent", "ORIEL_SCHEMA_REGISTRY": registry.URL(),
		"ORIEL_MAP": `{"label":"late","features":["total"]}`,
	})
	f.register(`{"name":"late","type":"boolean"},{"name":"total","type":"int"}`)
}

// register adds a version to the input's subject in the registry.
func (f patient) register(fields string) {
	client, err := sr.NewClient(sr.URLs(f.Env["ORIEL_SCHEMA_REGISTRY"]))
	if err == nil {
		_, err = client.CreateSchema(f.Ctx(), f.Env["ORIEL_INPUT_TOPIC"]+"-value",
			sr.Schema{Schema: `{"type":"record","name":"Order","fields":[` + fields + `]}`})
	}
	if err != nil {
		f.T.Fatal(err)
	}
}

// pull freezes the registry's versions, without one.
func (f patient) pull(leftOut uint) {
	h := servicetest.Host()
	h.Environ, h.Stderr = f.environ(), io.Discard
	if err := service.PullSchemas(f.Ctx(), h, []uint{leftOut}); err != nil {
		f.T.Fatal(err)
	}
}

// opened is a local store that a test has opened.
type opened struct {
	t     *testing.T
	store *local.Store
}

func (o opened) close() {
	if err := o.store.Close(); err != nil {
		o.t.Error(err)
	}
}

// store begins the local store of a deployment with the given name on the same input.
func (f patient) store(name string) opened {
	f.T.Helper()
	cluster, err := topics.Describe(f.Ctx(), f.Client, f.Env["ORIEL_INPUT_TOPIC"])
	if err != nil {
		f.T.Fatal(err)
	}
	id := state.Identity{Cluster: cluster.ID, Name: name, Topic: cluster.Topics[f.Env["ORIEL_INPUT_TOPIC"]].ID}
	store, err := local.Open(f.Env["ORIEL_STATE_DIR"], id)
	if err != nil {
		f.T.Fatal(err)
	}
	return opened{f.T, store}
}

// TestEachPlantIsFound checks that each misconfiguration gives exactly the expected lines.
func TestEachPlantIsFound(t *testing.T) {
	t.Parallel()
	broker := servicetest.Broker(t)
	for _, p := range slices.Concat(plants, realPlants) {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			f := patient{servicetest.NewAt(t, broker, 2, p.more)}
			if p.before != nil {
				p.before(f)
			}
			if !p.unready {
				f.Must("topics")
			}
			if p.plant != nil {
				p.plant(f)
			}
			said, err := f.examine(p.options)
			lines := bad(said)
			matches := len(lines) == len(p.want)
			for i, want := range p.want {
				matches = matches && strings.Contains(lines[i], want)
			}
			if !matches {
				t.Errorf("want %q, found:\n%s", p.want, said)
			}
			code := exit.Report(new(strings.Builder), "oriel", err)
			want := map[int]int{0: exit.Failure, exit.Misuse: exit.Misuse, warned: 0}[p.code]
			if code != want {
				t.Errorf("exit code %d, want %d: %v", code, want, err)
			}
			if strings.Contains(said, servicetest.Canary) {
				t.Errorf("it quotes a record:\n%s", said)
			}
		})
	}
}

// TestARightDeploymentIsOk examines a correct deployment before its first event, after it, and while a service runs.
// Doctor must find no problem and change nothing.
func TestARightDeploymentIsOk(t *testing.T) {
	t.Parallel()
	f := patient{servicetest.New(t, 2, nil)}
	f.Must("topics")
	for _, when := range []string{"new", "with records"} {
		before := f.everything()
		said, err := f.examine(doctor.Options{Record: true})
		if lines := bad(said); err != nil || lines != nil {
			t.Errorf("%s: %v, %q", when, err, lines)
		}
		if after := f.everything(); after != before {
			t.Errorf("%s: the cluster was\n%s\nand is\n%s", when, before, after)
		}
		f.Send(1, servicetest.Events(0, 3)...)
	}
	if _, err := os.Stat(f.Env["ORIEL_STATE_DIR"]); !os.IsNotExist(err) {
		t.Errorf("a store was made: %v", err)
	}
	said, err := f.examine(doctor.Options{Record: true})
	if err != nil || !strings.Contains(said, "private data was read") {
		t.Errorf("%v: %s", err, said)
	}
	if said, err = f.examine(doctor.Options{}); err != nil || !strings.Contains(said, "--no-record") {
		t.Errorf("%v: %s", err, said)
	}
}

// everything describes all that doctor could change in the cluster.
func (f patient) everything() string {
	f.T.Helper()
	admin, err := kgo.NewClient(kgo.SeedBrokers(f.Env["ORIEL_BROKERS"]))
	if err != nil {
		f.T.Fatal(err)
	}
	defer admin.Close()
	all, err := kmsg.NewPtrMetadataRequest().RequestWith(f.Ctx(), admin)
	if err != nil {
		f.T.Fatal(err)
	}
	var text []string
	for _, topic := range all.Topics {
		name := *topic.Topic
		if !strings.HasPrefix(name, f.Name) && !strings.HasPrefix(name, "__") {
			continue // a topic of another test
		}
		text = append(text, fmt.Sprintf("topic %s of %d", name, len(topic.Partitions)))
		if topic.IsInternal {
			continue
		}
		for p := range topic.Partitions {
			bounds, err := topics.BoundsOf(f.Ctx(), f.Client, name, int32(p))
			if err != nil {
				f.T.Fatal(err)
			}
			text = append(text, fmt.Sprint(name, p, bounds))
		}
	}
	groups, err := kmsg.NewPtrListGroupsRequest().RequestWith(f.Ctx(), admin)
	if err != nil {
		f.T.Fatal(err)
	}
	for _, g := range groups.Groups {
		if strings.HasPrefix(g.Group, f.Name) {
			text = append(text, "group "+g.Group)
		}
	}
	transactions, err := kmsg.NewPtrListTransactionsRequest().RequestWith(f.Ctx(), admin)
	if err != nil {
		f.T.Fatal(err)
	}
	for _, x := range transactions.TransactionStates {
		if strings.HasPrefix(x.TransactionalID, f.Name) {
			text = append(text, fmt.Sprint("transaction ", x.TransactionalID, x.ProducerID, x.TransactionState))
		}
	}
	slices.Sort(text)
	return strings.Join(text, "\n")
}
