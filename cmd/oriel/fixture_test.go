package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
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

// process is a child that runs the real command.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	done chan struct{}
	err  error
	out  output // both streams
}

func (p *process) output() string { return p.out.String() }

// output is what a process has written.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// start runs a command as a child; more are further variables.
func (f *fixture) start(more map[string]string, args ...string) *process {
	f.t.Helper()
	return f.launch(f.child(more, args...))
}

// child is the command, not started yet.
func (f *fixture) child(more map[string]string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = []string{
		"TEST_CHILD=1", "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "HOME=" + os.Getenv("HOME"),
	}
	env := maps.Clone(f.env)
	maps.Copy(env, more)
	for k, v := range env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	return cmd
}

func (f *fixture) launch(cmd *exec.Cmd) *process {
	f.t.Helper()
	p := &process{t: f.t, cmd: cmd, done: make(chan struct{})}
	if testing.CoverMode() != "" { // else the child ends with a warning
		p.cmd.Env = append(p.cmd.Env, "GOCOVERDIR="+f.t.TempDir())
	}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	if err := p.cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	f.t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.done
		if f.t.Failed() {
			f.t.Logf("output of %s:\n%s", strings.Join(cmd.Args[1:], " "), tailOf(p.output()))
		}
	})
	return p
}

func tailOf(s string) string {
	const most = 6000
	if len(s) > most {
		return "…" + s[len(s)-most:]
	}
	return s
}

// finish waits for the child to end and reports whether it succeeded.
func (p *process) finish(within time.Duration) bool {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(within):
		_ = p.cmd.Process.Kill()
		p.t.Fatalf("the command did not end within %v", within)
	}
	return p.err == nil
}

// must runs a command to its successful end.
func (f *fixture) must(args ...string) string {
	f.t.Helper()
	p := f.start(nil, args...)
	if !p.finish(time.Minute) {
		f.t.Fatalf("oriel %s failed: %s", strings.Join(args, " "), p.output())
	}
	return p.output()
}

// compares has replay --check play what was decided since a checkpoint: so many decisions, and all equal.
func (f *fixture) compares(checkpoint string, decisions int) {
	f.t.Helper()
	said := f.must("replay", "--check", "--from", checkpoint)
	if !strings.Contains(said, fmt.Sprintf(": %d decisions compared, all equal", decisions)) {
		f.t.Errorf("%d decisions since the checkpoint, but replay --check says %q", decisions, said)
	}
}

// says wants texts in what a process has written.
func (p *process) says(texts ...string) {
	p.t.Helper()
	for _, text := range texts {
		if !strings.Contains(p.output(), text) {
			p.t.Errorf("the log does not say %q", text)
		}
	}
}

// terminate asks a service to end, once it is up and hears signals, and checks that it does so well.
func (p *process) terminate() {
	p.t.Helper()
	for end := time.Now().Add(time.Minute); !strings.Contains(p.output(), "msg=pages"); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			p.t.Fatal("the service did not start within a minute")
		}
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	if !p.finish(30 * time.Second) {
		p.t.Fatalf("the service ended badly: %v", p.err)
	}
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

func event(i int) kafka.Record {
	return kafka.Record{Value: fmt.Appendf(nil, `{"features":{"carrier":"c%d","hour":%d},"label":%d}`, i%7, i%24, i/3%2)}
}

func events(from, n int) []kafka.Record {
	all := make([]kafka.Record, n)
	for i := range all {
		all[i] = event(from + i)
	}
	return all
}
