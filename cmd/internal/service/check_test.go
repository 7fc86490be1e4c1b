package service_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/decisiontest"
	"oriel/cmd/internal/service"
	"oriel/cmd/internal/servicetest"
	"oriel/cmd/internal/settings"
	"oriel/pipeline/changelog"
	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
	"oriel/pipeline/replay"
	"oriel/state/keys"
)

// TestEventsAreTakenShownAndRecomputed follows a user's steps: run, tail, save a checkpoint, send more, check.
func TestEventsAreTakenShownAndRecomputed(t *testing.T) {
	t.Parallel()
	const partitions = 3
	f := newFixture(t, partitions, map[string]string{"ORIEL_FEATURES_RANGE": "hour:0:24:cyclic", "ORIEL_BATCH": "2"})
	counts := []int64{52, 27, 53}
	for p, n := range counts {
		f.Send(int32(p), servicetest.Events(100*p, int(n))...)
	}
	f.Must("topics")
	service := f.Start(nil, "run")
	f.AwaitTaken(time.Minute, counts...)
	for p := range int32(partitions) {
		f.checkTail(p, int(counts[p]/2))
	}

	const p, more = 1, 41
	file := filepath.Join(t.TempDir(), "checkpoint")
	f.Must("replay", "--save", file, "--partition", "1")
	f.Send(p, servicetest.Events(0, more)...)
	// an empty value and a malformed one become null events
	f.Send(p, servicetest.Value(""), servicetest.Value("not an event"))
	counts[p] += more + 2
	f.AwaitTaken(time.Minute, counts...)
	service.Terminate()

	compared := counts[p]/2 - (counts[p]-more-2)/2
	said := f.Must("replay", "--check", "--from", file, "--partition", "1")
	if !strings.Contains(said, fmt.Sprintf("partition 1: %d decisions compared, all equal", compared)) {
		t.Errorf("%d decisions behind the checkpoint, but it says %q", compared, said)
	}
	f.Fails("partition 2", "replay", "--check", "--from", file, "--partition", "2")
	f.Must("replay", "--save", file+"2", "--partition", "1")
	f.Fails("nothing is shown", "replay", "--check", "--from", file+"2", "--partition", "1")
	wrong := filepath.Join(t.TempDir(), "wrong.key")
	servicetest.WriteKey(t, wrong, 9)
	other := map[string]string{"ORIEL_MASTER_KEY_FILE": wrong}
	if c := f.Start(other, "replay", "--check", "--from", file, "--partition", "1"); c.Finish(time.Minute) {
		t.Errorf("a checkpoint was opened with another master key: %s", c.Output())
	}
	f.checkRefusesTampering(p, file)
	f.checkFindsForgery(p, file, int(compared))
}

// checkTail compares what `oriel tail` shows of a partition with its committed decisions.
func (f *fixture) checkTail(p int32, steps int) {
	f.T.Helper()
	raw := ""
	for _, r := range f.Read(f.Topic("decisions"), p, false) {
		raw += string(r.Value) + "\n"
	}
	if strings.Count(raw, "\n") != steps {
		f.T.Errorf("partition %d: %d decisions, want %d", p, strings.Count(raw, "\n"), steps)
	}
	args := []string{"tail", "--topic", f.Topic("decisions"), "--partition", fmt.Sprint(p)}
	if shown := f.Must(append(args, "--raw", "--follow=false")...); shown != raw {
		f.T.Errorf("partition %d: tail shows other bytes than were committed", p)
	}
	first := strings.Join(strings.SplitAfter(raw, "\n")[:3], "")
	if shown := f.Must(append(args, "--raw", "--from-beginning", "-n", "3")...); shown != first {
		f.T.Errorf("partition %d: the first three decisions are not %q", p, shown)
	}
	if lines := strings.Count(f.Must(append(args, "--follow=false")...), "\n"); lines != steps+1 {
		f.T.Errorf("partition %d: a table of %d lines for %d decisions and a head", p, lines, steps)
	}
}

// deployment opens the fixture's deployment in this process.
func (f *fixture) deployment() changelog.Deployment {
	f.T.Helper()
	var environ []string
	for k, v := range f.Env {
		environ = append(environ, k+"="+v)
	}
	s, err := settings.Load(environ, settings.Kafka, settings.Deployment, settings.Events, settings.Operator)
	if err != nil {
		f.T.Fatal(err)
	}
	topics, err := deployment.CheckTopics(f.Ctx(), f.Client, s.Deployment(), deployment.ByService)
	if err != nil {
		f.T.Fatal(err)
	}
	master, err := keys.LoadMasterKey(s.MasterKeyFile)
	if err != nil {
		f.T.Fatal(err)
	}
	return changelog.Deployment{
		Client: f.Client, Config: s.Deployment(), Topics: topics, Model: decisiontest.Model(f.T, s), Master: master,
	}
}

// checkRefusesTampering checks that a checkpoint with one changed byte or without its end is refused before any
// decision is compared. It changes every third byte, so that it changes every field.
func (f *fixture) checkRefusesTampering(p int32, file string) {
	f.T.Helper()
	good, err := os.ReadFile(file)
	if err != nil {
		f.T.Fatal(err)
	}
	d := f.deployment()
	check := func(b []byte) (int, error) { return replay.Check(f.Ctx(), d, p, b, func(int) {}) }
	if compared, err := check(good); err != nil || compared == 0 {
		f.T.Fatalf("the untouched checkpoint: %d decisions, %v", compared, err)
	}
	for i := 0; i < len(good); i += 3 {
		bad := bytes.Clone(good)
		bad[i] ^= 1 << (i % 8)
		if compared, err := check(bad); err == nil || compared > 0 {
			f.T.Errorf("byte %d of %d changed: %d decisions compared, %v", i, len(good), compared, err)
		}
		if i%16 == 0 {
			if compared, err := check(good[:i]); err == nil || compared > 0 {
				f.T.Errorf("cut to %d bytes: %d decisions compared, %v", i, compared, err)
			}
		}
	}
}

// checkFindsForgery checks that the comparison finds a forged decision, after all the equal decisions before it: one
// that differs from the recomputed decision, and one that is not the next decision.
func (f *fixture) checkFindsForgery(p int32, file string, compared int) {
	f.T.Helper()
	f.Send(p, servicetest.Events(0, 4)...)
	published := f.Read(f.Topic("decisions"), p, false)
	last := string(published[len(published)-1].Value)
	step := len(published)
	if !strings.Contains(last, fmt.Sprintf(`"index":%d,"step":%d,`, step, step)) {
		f.T.Fatalf("the last of %d decisions is %s", step, last)
	}
	forge := func(index int) []byte {
		return []byte(strings.Replace(last, fmt.Sprintf(`"index":%d,"step":%d,`, step, step), fmt.Sprintf(`"index":%d,"step":%d,`, index, index), 1))
	}
	good, err := os.ReadFile(file)
	if err != nil {
		f.T.Fatal(err)
	}
	for i, c := range []struct {
		name  string
		value []byte
		want  string
	}{
		{"a decision of other bytes", forge(step + 1), "differs"},
		{"a decision twice", forge(step), "was due"},
		{"a gap", forge(step + 2), "was due"},
		{"a decision without its events", forge(step + 100), "was due"},
	} {
		d := f.deployment()
		d.Topics.Decisions = topics.Topic{Name: fmt.Sprintf("%s.forged%d", f.Name, i)}
		f.CreateTopic(d.Topics.Decisions.Name, f.Partitions, nil)
		producer, err := produce.New(f.Ctx(), f.Client, "", time.Minute)
		if err != nil {
			f.T.Fatal(err)
		}
		var b records.Builder
		for _, r := range published {
			b.Append(r.Key, r.Value, nil, time.Now().UnixMilli())
		}
		b.Append(published[0].Key, c.value, nil, time.Now().UnixMilli())
		if _, err := producer.Produce(f.Ctx(), d.Topics.Decisions.Name, p, &b); err != nil {
			f.T.Fatal(err)
		}
		n, err := replay.Check(f.Ctx(), d, p, good, func(int) {})
		if n != compared || err == nil || !strings.Contains(err.Error(), c.want) {
			f.T.Errorf("%s: %d decisions equal, %v; want %d and %q", c.name, n, err, compared, c.want)
		}
	}
}

// TestReplayWaitsForCommitsOnTheirWay checks that a replay waits for commits that the broker has acknowledged but that
// cannot be read yet. Without the wait, a checkpoint just after a partition's opening was refused as if the partition
// had not been opened, and a check just after a service's end missed the last decisions.
func TestReplayWaitsForCommitsOnTheirWay(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, nil)
	f.prepare()
	produced, commit := make(chan bool), make(chan bool)
	transactions := 0
	s := f.serve(func(h *service.Host) {
		h.Listener.Reached = func(_ int32, p notice.Point) {
			if p != notice.PointProduced || transactions == 2 {
				return
			}
			transactions++
			produced <- true
			<-commit
		}
	}, nil)
	beside := func(read func() error) {
		t.Helper()
		<-produced
		failed := make(chan error, 1)
		go func() { failed <- read() }()
		time.Sleep(200 * time.Millisecond) // time for the replay to read the topics before the commit
		commit <- true
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
	var checkpoint []byte
	beside(func() (err error) {
		checkpoint, err = replay.Checkpoint(f.Ctx(), f.deployment(), 0)
		return err
	})
	f.Send(0, servicetest.Events(0, 20)...)
	beside(func() error {
		_, err := replay.Check(f.Ctx(), f.deployment(), 0, checkpoint, func(int) {})
		return err
	})
	s.stop()
}
