package main

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

	"oriel/pipeline/kafka"
	"oriel/pipeline/pipetest"
)

// fixture is a deployment of its own on the test's broker, worked on by child processes that are the real command.
type fixture struct {
	t          *testing.T
	client     *kafka.Client
	name       string
	partitions int
	env        map[string]string
}

func newFixture(t *testing.T, partitions int, more map[string]string) *fixture {
	t.Helper()
	return fixtureAt(t, testBroker(t), partitions, more)
}

func fixtureAt(t *testing.T, addr string, partitions int, more map[string]string) *fixture {
	t.Helper()
	client, err := kafka.New(kafka.Config{Brokers: strings.Split(addr, ",")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	var id [4]byte
	_, _ = rand.Read(id[:])
	name := "t" + hex.EncodeToString(id[:])
	key := filepath.Join(t.TempDir(), "master.key")
	writeKey(t, key, 7)
	f := &fixture{
		t: t, client: client, name: name, partitions: partitions,
		env: deploymentEnv(name, addr, key, filepath.Join(t.TempDir(), "state")),
	}
	maps.Copy(f.env, more)
	f.createTopic(f.env["ORIEL_INPUT_TOPIC"], partitions, nil)
	return f
}

// deploymentEnv are the settings of a small deployment.
func deploymentEnv(name, brokers, key, stateDir string) map[string]string {
	return map[string]string{
		"ORIEL_BROKERS": brokers, "ORIEL_NAME": name, "ORIEL_INPUT_TOPIC": name + ".events", "ORIEL_START": "earliest",
		"ORIEL_ALLOW_SINGLE_REPLICA": "true", "ORIEL_OPERATOR": "coco", "ORIEL_UPDATE": "projection",
		"ORIEL_LOSS": "logistic", "ORIEL_SET": "l2-ball", "ORIEL_RADIUS": "5", "ORIEL_DIMENSION": "8",
		"ORIEL_STRONG_CONVEXITY": "0.001", "ORIEL_MECHANISM": "tree-gaussian", "ORIEL_WINDOW": "64", "ORIEL_EPSILON": "1",
		"ORIEL_DELTA": "1e-6", "ORIEL_CLIP": "1", "ORIEL_STATE_DIR": stateDir, "ORIEL_MASTER_KEY_FILE": key,
		"ORIEL_HTTP_ADDR":       "127.0.0.1:0",
		"ORIEL_COMMIT_INTERVAL": "20ms",
	}
}

func writeKey(t *testing.T, path string, fill byte) {
	t.Helper()
	if err := os.WriteFile(path, []byte(hex.EncodeToString(bytes.Repeat([]byte{fill}, 32))+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) createTopic(name string, partitions int, settings map[string]string) {
	f.t.Helper()
	if err := f.client.CreateTopic(f.ctx(), name, partitions, 1, settings); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) ctx() context.Context { return f.t.Context() }

func (f *fixture) topic(kind string) string { return f.name + "." + kind }

// send appends records to a partition of the input.
func (f *fixture) send(partition int32, records ...kafka.Record) {
	f.t.Helper()
	if err := pipetest.Send(f.ctx(), f.client, f.env["ORIEL_INPUT_TOPIC"], partition, records...); err != nil {
		f.t.Fatal(err)
	}
}

// sendAll appends the same events to each partition of the input.
func (f *fixture) sendAll(from, n int) {
	f.t.Helper()
	for p := range int32(f.partitions) {
		f.send(p, events(from, n)...)
	}
}

// hasTakenTen starts the service of a new deployment, which has taken ten events of its first partition.
func (f *fixture) hasTakenTen() *process {
	f.t.Helper()
	f.must("topics")
	f.send(0, events(0, 10)...)
	running := f.start(nil, "run")
	f.awaitTaken(time.Minute, 10)
	return running
}

// read gives all records of a partition of a topic, what was committed just before as well.
func (f *fixture) read(topic string, partition int32, uncommitted bool) []kafka.Record {
	f.t.Helper()
	if !uncommitted {
		if _, err := f.client.ReadableEnd(f.ctx(), topic, partition); err != nil {
			f.t.Fatal(err)
		}
	}
	all, err := pipetest.Read(f.ctx(), f.client, topic, partition, -1, kafka.ReaderOptions{Uncommitted: uncommitted})
	if err != nil {
		f.t.Fatal(err)
	}
	return all
}

// await polls until ok.
func (f *fixture) await(within time.Duration, what string, ok func() bool) {
	f.t.Helper()
	for end := time.Now().Add(within); !ok(); {
		if time.Now().After(end) {
			f.t.Fatalf("not within %v: %s", within, what)
		}
		select {
		case <-f.ctx().Done():
			f.t.Fatal(f.ctx().Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// awaitTaken waits until the group has committed an offset for each partition.
func (f *fixture) awaitTaken(within time.Duration, want ...int64) {
	f.t.Helper()
	for p, offset := range want {
		f.await(within, fmt.Sprintf("partition %d taken to offset %d", p, offset), func() bool {
			got, err := f.client.CommittedOffset(f.ctx(), f.name, f.env["ORIEL_INPUT_TOPIC"], int32(p))
			return err == nil && got >= offset
		})
	}
}

func write(t *testing.T, name string, content []byte) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

var seedText = strings.Repeat("0a", 32)
