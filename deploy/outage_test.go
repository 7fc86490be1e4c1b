//go:build promtool

package deploy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"oriel/pipeline/embedded"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/pipetest/brokertest"
)

// outage is a real Prometheus that watches real processes on an embedded broker.
type outage struct {
	t          *testing.T
	dir        string
	oriel      string // path of the oriel binary
	broker     *embedded.Broker
	port       int // port of the broker
	prometheus string
	services   []service // services that Prometheus scrapes
}

// TestAlertsOfARealOutage causes real faults and queries a real Prometheus for the firing alerts. Each fault must raise
// its own alert, for its own deployment. The rules are rules.yml with all times divided by twenty.
func TestAlertsOfARealOutage(t *testing.T) {
	o := newOutage(t)
	o.topic("events", 2)
	settings := func(name string, more ...string) []string {
		return append([]string{
			"ORIEL_BROKERS=127.0.0.1:" + strconv.Itoa(o.port), "ORIEL_NAME=" + name, "ORIEL_INPUT_TOPIC=events",
			"ORIEL_START=earliest", "ORIEL_STREAM=partition",
			"ORIEL_ALLOW_SINGLE_REPLICA=true", "ORIEL_OPERATOR=coco", "ORIEL_UPDATE=projection", "ORIEL_LOSS=linear",
			"ORIEL_SET=box", "ORIEL_RADIUS=1",
			"ORIEL_DIMENSION=2", "ORIEL_STRONG_CONVEXITY=1", "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=64", "ORIEL_EPSILON=1",
			"ORIEL_DELTA=1e-6", "ORIEL_CLIP=1",
			"ORIEL_MASTER_KEY_FILE=" + filepath.Join(o.dir, "key"), "ORIEL_STATE_DIR=" + filepath.Join(o.dir,
				"state-"+name), "ORIEL_LOG_LEVEL=warn",
		}, more...)
	}
	o.run(nil, "key", "--out", filepath.Join(o.dir, "key"))
	late, other := settings("late"), settings("other", "ORIEL_EPSILON=2")
	o.run(late, "topics")
	o.run(other, "topics")
	o.feed()
	process := o.start(late)
	o.start(other)
	o.fires("two healthy deployments")

	o.broker.Close()
	o.fires("Kafka is away", "OrielBrokersAway late", "OrielBrokersAway other")
	o.open()
	o.fires("Kafka is back")

	o.stop(process, syscall.SIGKILL)
	o.fires("a process is killed", "OrielDown late")
	o.removeTarget(process)
	o.group("late", 1, 7) // imitates offsets that were reset while the group was empty
	process = o.start(late)
	o.fires("a partition has stopped", "OrielTaskStopped late")
	o.stop(process, syscall.SIGTERM)
	o.removeTarget(process)
	o.fullDisk(settings)
	o.restoringForLong(settings)

	o.topic("elsewhere", 1)
	o.start(settings("other", "ORIEL_INPUT_TOPIC=elsewhere", "ORIEL_EPSILON=3", "ORIEL_DECISION_TOPIC=d",
		"ORIEL_CHANGELOG_TOPIC=c",
		"ORIEL_VERDICTS_TOPIC=v", "ORIEL_DEAD_LETTER_TOPIC=l", "ORIEL_GROUP=g", "ORIEL_STATE_DIR="+filepath.Join(o.dir,
			"state-3")), "topics")
	o.fires("a member states other privacy", "OrielMembersDisagree other")
}

// fullDisk fills the disk of a deployment's state directory, and later frees it.
func (o *outage) fullDisk(settings func(string, ...string) []string) {
	o.t.Helper()
	dir := filepath.Join(o.dir, "disk")
	if err := os.Mkdir(dir, 0o700); err != nil {
		o.t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=64m,mode=700", "tmpfs",
		dir).CombinedOutput(); err != nil {
		o.t.Logf("left out: a full disk needs the right to mount a tmpfs: %s", out)
		return
	}
	o.t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	process := o.start(settings("full", "ORIEL_STATE_DIR="+filepath.Join(dir, "state")), "topics")
	o.fires("a third deployment with a disk of its own")
	ballast, err := os.Create(filepath.Join(dir, "ballast"))
	for block := make([]byte, 1<<16); err == nil && len(block) > 0; {
		if _, full := ballast.Write(block); full != nil {
			block = block[:len(block)/2] // smaller blocks fill the last bytes, too
		}
	}
	if err != nil {
		o.t.Fatal(err)
	}
	o.fires("a disk is full", "OrielDiskFull full")
	if err := errors.Join(ballast.Close(), os.Remove(ballast.Name())); err != nil {
		o.t.Fatal(err)
	}
	o.fires("the disk has room")
	o.stop(process, syscall.SIGTERM)
	o.removeTarget(process)
}

// restoringForLong leaves a transaction of another program open on a changelog, so that the service waits for its end.
func (o *outage) restoringForLong(settings func(string, ...string) []string) {
	o.t.Helper()
	environ := settings("slow")
	o.run(environ, "topics")
	p, err := produce.New(o.t.Context(), o.client(), "a stranger", 10*time.Minute)
	if err == nil {
		err = p.Begin(o.t.Context(), []kafka.TopicPartition{{Topic: "slow.changelog", Partition: 1}})
	}
	if err == nil {
		var b records.Builder
		b.Append(nil, []byte("?"), nil, time.Now().UnixMilli())
		_, err = p.Produce(o.t.Context(), "slow.changelog", 1, &b)
	}
	if err != nil {
		o.t.Fatal(err)
	}
	process := o.start(environ)
	o.fires("a partition is restoring for long", "OrielRestoring slow")
	if err := p.End(o.t.Context(), false); err != nil {
		o.t.Fatal(err)
	}
	o.fires("the partition is restored")
	o.stop(process, syscall.SIGTERM)
	o.removeTarget(process)
}

// newBroker builds oriel, and starts a broker.
func newBroker(t *testing.T) *outage {
	t.Helper()
	o := &outage{t: t, dir: t.TempDir(), port: freePort(t)}
	o.oriel = filepath.Join(o.dir, "oriel")
	if out, err := exec.Command("go", "build", "-o", o.oriel, "../cmd/oriel").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	o.open()
	t.Cleanup(func() { o.broker.Close() })
	return o
}

// newOutage is newBroker with a Prometheus that watches the deployments.
func newOutage(t *testing.T) *outage {
	t.Helper()
	o := newBroker(t)
	o.prometheus = "127.0.0.1:" + strconv.Itoa(freePort(t))
	o.watch()
	return o
}

// open restarts the broker on the same port and data.
func (o *outage) open() {
	o.t.Helper()
	var err error
	if o.broker, err = embedded.Start(embedded.Options{Dir: filepath.Join(o.dir, "broker"), Port: o.port}); err != nil {
		o.t.Fatal(err)
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}

func (o *outage) client() *kafka.Client {
	o.t.Helper()
	return brokertest.Client(o.t, "127.0.0.1:"+strconv.Itoa(o.port), kafka.Config{})
}

func (o *outage) topic(name string, partitions int) {
	o.t.Helper()
	if err := topics.Create(o.t.Context(), o.client(), name, partitions, 1, nil); err != nil {
		o.t.Fatal(err)
	}
}

// group sets the offset of a group that has no members.
func (o *outage) group(id string, partition int32, offset int64) {
	o.t.Helper()
	p, err := produce.New(o.t.Context(), o.client(), "reset", time.Minute)
	if err == nil {
		err = p.Begin(o.t.Context(), nil)
	}
	if err == nil {
		err = p.CommitOffsets(o.t.Context(), group.Membership{Group: id, Generation: -1}, "events",
			[]group.Offset{{Partition: partition, Offset: offset}})
	}
	if err == nil {
		err = p.End(o.t.Context(), true)
	}
	if err != nil {
		o.t.Fatal(err)
	}
}

// feed sends an event to each partition, ten times a second, until the test ends. Events that the broker does not
// accept at once are sent later.
func (o *outage) feed() {
	client := o.client()
	ctx, end := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			p, err := produce.New(ctx, client, "", time.Minute)
			for err == nil {
				for partition := range int32(2) {
					var b records.Builder
					b.Append(nil, []byte(`{"cost":[0.5,0.25]}`), nil, time.Now().UnixMilli())
					if _, failed := p.Produce(ctx, "events", partition, &b); failed != nil {
						err = failed
					}
				}
				time.Sleep(100 * time.Millisecond)
			}
		}
	}()
	o.t.Cleanup(func() { end(); <-done })
}

// run runs a command and checks that it succeeds.
func (o *outage) run(environ []string, args ...string) {
	o.t.Helper()
	cmd := exec.Command(o.oriel, args...)
	cmd.Env = environ
	if out, err := cmd.CombinedOutput(); err != nil {
		o.t.Fatalf("oriel %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// service is a running process and the address at which it is scraped.
type service struct {
	cmd        *exec.Cmd
	target     string
	deployment string
}

// start runs the commands in before, then the service, and adds the service to Prometheus's targets.
func (o *outage) start(environ []string, before ...string) service {
	o.t.Helper()
	for _, command := range before {
		o.run(environ, command)
	}
	s := service{target: "127.0.0.1:" + strconv.Itoa(freePort(o.t))}
	for _, line := range environ {
		if name, ok := strings.CutPrefix(line, "ORIEL_NAME="); ok {
			s.deployment = name
		}
	}
	s.cmd = exec.Command(o.oriel, "run")
	s.cmd.Env = append(environ, "ORIEL_HTTP_ADDR="+s.target)
	s.cmd.Stdout, s.cmd.Stderr = os.Stderr, os.Stderr
	if err := s.cmd.Start(); err != nil {
		o.t.Fatal(err)
	}
	o.t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	})
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if answer, err := http.Get("http://" + s.target + "/healthz"); err == nil {
			_ = answer.Body.Close()
			break
		}
		if time.Now().After(end) {
			o.t.Fatal("the service shows no page within a minute")
		}
	}
	o.services = append(o.services, s)
	o.scrape()
	return s
}

func (o *outage) stop(s service, signal syscall.Signal) {
	o.t.Helper()
	if err := s.cmd.Process.Signal(signal); err != nil {
		o.t.Fatal(err)
	}
	_ = s.cmd.Wait()
}

// removeTarget removes a process from the targets.
func (o *outage) removeTarget(s service) {
	o.services = slices.DeleteFunc(o.services, func(other service) bool { return other.target == s.target })
	o.scrape()
}

// scrape writes the file of targets, which Prometheus reloads when it changes.
func (o *outage) scrape() {
	o.t.Helper()
	list := []map[string]any{}
	for _, s := range o.services {
		list = append(list, map[string]any{
			"targets": []string{s.target}, "labels": map[string]string{"job": "oriel", "deployment": s.deployment},
		})
	}
	content, err := json.Marshal(list)
	if err != nil {
		o.t.Fatal(err)
	}
	at := filepath.Join(o.dir, "targets.json")
	if err := os.WriteFile(at+".new", content, 0o600); err != nil {
		o.t.Fatal(err)
	}
	if err := os.Rename(at+".new", at); err != nil {
		o.t.Fatal(err)
	}
}

// faster is the divisor of all times in the rules: the "for" clauses and the ranges.
const faster = 20

var times = regexp.MustCompile(`(for: |\[)(\d+)(m|s)\b`)

func (o *outage) watch() {
	o.t.Helper()
	rules := times.ReplaceAllStringFunc(read(o.t, "prometheus/rules.yml"), func(text string) string {
		parts := times.FindStringSubmatch(text)
		n, _ := strconv.Atoi(parts[2])
		if parts[3] == "m" {
			n *= 60
		}
		return fmt.Sprintf("%s%dms", parts[1], n*1000/faster)
	})
	config := fmt.Sprintf("global: {scrape_interval: 250ms, scrape_timeout: 200ms, evaluation_interval: 250ms}\nrule_files: [%s]\n"+
		"scrape_configs: [{job_name: oriel, honor_labels: %t, file_sd_configs: [{files: [%s], refresh_interval: 1s}]}]\n",
		filepath.Join(o.dir, "rules.yml"), loadScrape(o.t).HonorLabels, filepath.Join(o.dir, "targets.json"))
	for name, content := range map[string]string{"rules.yml": rules, "prometheus.yml": config, "targets.json": "[]"} {
		if err := os.WriteFile(filepath.Join(o.dir, name), []byte(content), 0o600); err != nil {
			o.t.Fatal(err)
		}
	}
	cmd := exec.Command("prometheus", "--config.file="+filepath.Join(o.dir, "prometheus.yml"),
		"--storage.tsdb.path="+filepath.Join(o.dir, "tsdb"),
		"--web.listen-address="+o.prometheus, "--log.level=error")
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		o.t.Fatal(err)
	}
	o.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
}

// fires waits until exactly the alerts in want fire, each written "name deployment". It then checks for some time that
// no other alert fires.
func (o *outage) fires(what string, want ...string) {
	o.t.Helper()
	slices.Sort(want)
	var got []string
	const settle, patience = 5 * time.Second, 90 * time.Second
	since := time.Time{}
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(250 * time.Millisecond) {
		got = o.firing()
		switch {
		case !slices.Equal(got, want):
			since = time.Time{}
		case since.IsZero():
			since = time.Now()
		case time.Since(since) > settle:
			o.t.Logf("%s: %q", what, got)
			return
		}
	}
	o.t.Fatalf("%s: %q fire, want %q", what, got, want)
}

// firing asks Prometheus which alerts fire.
func (o *outage) firing() []string {
	answer, err := http.Get("http://" + o.prometheus + "/api/v1/alerts")
	if err != nil {
		return []string{err.Error()} // Prometheus does not answer yet
	}
	defer func() { _ = answer.Body.Close() }()
	var body struct {
		Data struct {
			Alerts []struct {
				State  string
				Labels map[string]string
			}
		}
	}
	if err := json.NewDecoder(answer.Body).Decode(&body); err != nil {
		return []string{err.Error()}
	}
	firing := []string{}
	for _, a := range body.Data.Alerts {
		if a.State == "firing" {
			firing = append(firing, a.Labels["alertname"]+" "+a.Labels["deployment"])
		}
	}
	slices.Sort(firing)
	return firing
}
