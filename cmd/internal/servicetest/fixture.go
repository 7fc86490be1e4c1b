package servicetest

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oriel/pipeline/embedded"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/pipetest/brokertest"
	"oriel/pipeline/pipetest/logtest"
)

// Setup is the settings of a deployment, and a client of its broker.
type Setup struct {
	T      *testing.T
	Client *kafka.Client
	Name   string
	Env    map[string]string
}

// Fixture is a deployment on the test's broker. Its commands run as child processes, or inside the test (see Main).
type Fixture struct {
	Setup
	Partitions int
}

// New creates a deployment and its input topic on a broker for the test. more has settings that replace or extend those
// of Environment.
func New(t *testing.T, partitions int, more map[string]string) *Fixture {
	t.Helper()
	return NewAt(t, Broker(t), partitions, more)
}

// NewAt is like New, on a given broker.
func NewAt(t *testing.T, addr string, partitions int, more map[string]string) *Fixture {
	t.Helper()
	client := brokertest.Client(t, addr, kafka.Config{})
	var id [4]byte
	_, _ = rand.Read(id[:])
	name := "t" + hex.EncodeToString(id[:])
	key := filepath.Join(t.TempDir(), "master.key")
	WriteKey(t, key, 7)
	env := Environment(name, addr, key, filepath.Join(t.TempDir(), "state"))
	f := &Fixture{Setup: Setup{T: t, Client: client, Name: name, Env: env}, Partitions: partitions}
	maps.Copy(f.Env, more)
	f.CreateTopic(f.Env["ORIEL_INPUT_TOPIC"], partitions, nil)
	return f
}

// EmbeddedBroker starts an embedded broker for the test and returns its address.
func EmbeddedBroker(t *testing.T) string {
	t.Helper()
	return ClockedBroker(t, nil)
}

// ClockedBroker is an EmbeddedBroker with a clock from which records get LogAppendTime.
func ClockedBroker(t *testing.T, now func() time.Time) string {
	t.Helper()
	// An aborted opening must remain readable until the next process looks for it, even on a slow machine.
	options := embedded.Options{CompactEvery: 30 * time.Second, MinSession: time.Second, Now: now}
	return brokertest.Embedded(t, options).Addr()
}

// Environment returns the settings of a small deployment.
func Environment(name, brokers, key, stateDir string) map[string]string {
	env := deploymentOf(name, brokers, key, stateDir)
	maps.Copy(env, small)
	return env
}

// deploymentOf returns the settings of a deployment that belong to no operator.
func deploymentOf(name, brokers, key, stateDir string) map[string]string {
	return map[string]string{
		"ORIEL_BROKERS": brokers, "ORIEL_NAME": name, "ORIEL_INPUT_TOPIC": name + ".events", "ORIEL_START": "earliest",
		"ORIEL_STREAM": "partition", "ORIEL_ALLOW_SINGLE_REPLICA": "true", "ORIEL_STATE_DIR": stateDir,
		"ORIEL_MASTER_KEY_FILE": key, "ORIEL_HTTP_ADDR": "127.0.0.1:0", "ORIEL_COMMIT_INTERVAL": "20ms",
	}
}

// small has the settings of a small operator.
var small = map[string]string{
	"ORIEL_OPERATOR": "coco", "ORIEL_UPDATE": "projection", "ORIEL_LOSS": "logistic", "ORIEL_SET": "l2-ball",
	"ORIEL_RADIUS": "5", "ORIEL_DIMENSION": "8", "ORIEL_STRONG_CONVEXITY": "0.001", "ORIEL_CLIP": "1",
	"ORIEL_MECHANISM": "tree-gaussian", "ORIEL_WINDOW": "64", "ORIEL_EPSILON": "1", "ORIEL_DELTA": "1e-6",
}

// WriteKey writes a master key whose bytes all equal fill.
func WriteKey(t *testing.T, path string, fill byte) {
	t.Helper()
	if err := os.WriteFile(path, []byte(hex.EncodeToString(bytes.Repeat([]byte{fill}, 32))+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// CreateTopic creates a topic with one replica.
func (f *Setup) CreateTopic(name string, partitions int, settings map[string]string) {
	f.T.Helper()
	if err := topics.Create(f.Ctx(), f.Client, name, partitions, 1, settings); err != nil {
		f.T.Fatal(err)
	}
}

// Ctx returns a context that is cancelled when the test ends.
func (f *Setup) Ctx() context.Context { return f.T.Context() }

// Topic returns the default name of the deployment's topic of a kind.
func (f *Setup) Topic(kind string) string { return f.Name + "." + kind }

// Send appends records to a partition of the input.
func (f *Setup) Send(partition int32, records ...records.Record) {
	f.T.Helper()
	if err := logtest.Send(f.Ctx(), f.Client, f.Env["ORIEL_INPUT_TOPIC"], partition, records...); err != nil {
		f.T.Fatal(err)
	}
}

// HasTakenTen starts the service of a new deployment, and waits until it has consumed ten events of the first
// partition.
func (f *Fixture) HasTakenTen() *Process {
	f.T.Helper()
	f.Must("topics")
	f.Send(0, Events(0, 10)...)
	running := f.Start(nil, "run")
	f.AwaitTaken(time.Minute, 10)
	return running
}

// Read returns all records of a partition of a topic, including the most recently committed ones.
func (f *Setup) Read(topic string, partition int32, uncommitted bool) []records.Record {
	f.T.Helper()
	return f.ReadFrom(topic, partition, -1, uncommitted)
}

// ReadFrom is like Read, from an offset on.
func (f *Setup) ReadFrom(topic string, partition int32, from int64, uncommitted bool) []records.Record {
	f.T.Helper()
	if !uncommitted {
		f.awaitMarkers(topic, partition)
	}
	all, err := logtest.Read(f.Ctx(), f.Client, topic, partition, from, fetch.Options{Uncommitted: uncommitted})
	if err != nil {
		f.T.Fatal(err)
	}
	return all
}

// Await polls until ok returns true, and fails the test if that takes too long.
func (f *Setup) Await(within time.Duration, what string, ok func() bool) {
	f.T.Helper()
	for end := time.Now().Add(within); !ok(); {
		if time.Now().After(end) {
			f.T.Fatalf("not within %v: %s", within, what)
		}
		select {
		case <-f.Ctx().Done():
			f.T.Fatal(f.Ctx().Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// AwaitTaken waits until the group has committed these offsets, one for each partition.
func (f *Setup) AwaitTaken(within time.Duration, want ...int64) {
	f.T.Helper()
	for p, offset := range want {
		f.Await(within, fmt.Sprintf("partition %d taken to offset %d", p, offset), func() bool {
			got, err := group.CommittedOffset(f.Ctx(), f.Client, f.Name, f.Env["ORIEL_INPUT_TOPIC"], int32(p))
			return err == nil && got >= offset
		})
	}
}

// WriteFile writes a file in a temporary folder of the test, and returns its path.
func WriteFile(t *testing.T, name string, content []byte) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Seed is a valid value of --seed.
var Seed = strings.Repeat("0a", 32)
