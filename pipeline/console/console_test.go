package console_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"oriel/pipeline/console"
	"oriel/pipeline/notice"
)

// page asks a handler for one page.
func page(h http.Handler, path string) (int, string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w.Code, w.Body.String()
}

// readiness returns a function that checks the answer of /readyz.
func readiness(t *testing.T, c *console.Console) func(code int, body string) {
	t.Helper()
	h := c.Handler(prometheus.NewRegistry())
	return func(code int, body string) {
		t.Helper()
		if gotCode, gotBody := page(h, "/readyz"); gotCode != code || gotBody != body {
			t.Errorf("%d %q, want %d %q", gotCode, gotBody, code, body)
		}
	}
}

func TestReadyFollowsThePartitions(t *testing.T) {
	c := console.New(notice.Operators)
	l := c.Listen(notice.Listener{})
	h := c.Handler(prometheus.NewRegistry())
	want := func(what string, code int, body string) {
		t.Helper()
		if gotCode, gotBody := page(h, "/readyz"); gotCode != code || gotBody != body {
			t.Errorf("%s: %d %q, want %d %q", what, gotCode, gotBody, code, body)
		}
		if gotCode, gotBody := page(h, "/healthz"); gotCode != http.StatusOK || gotBody != "ok\n" {
			t.Errorf("%s: health is %d %q", what, gotCode, gotBody)
		}
	}
	want("before joining", 503, "not a member of the group\n")
	l.Assigned(nil)
	want("without partitions", 200, "ready\n")
	l.Assigned([]int32{2, 3})
	want("assigned", 503, "partition 2: restoring\npartition 3: restoring\n")
	l.State(3, notice.Restoring)
	l.State(2, notice.Restoring)
	want("restoring", 503, "partition 2: restoring\npartition 3: restoring\n")
	l.State(2, notice.Running)
	want("one is running", 503, "partition 3: restoring\n")
	l.State(3, notice.Halted)
	want("one has stopped", 503, "partition 3: stopped\n")
	l.Closed(3)
	want("the stopped one is closed", 503, "partition 3: stopped\n")
	l.Unassigned()
	l.Closed(2)
	want("the share has ended", 503, "partition 2: closed\npartition 3: stopped\nthe process gives up its partitions\n")
	l.Assigned([]int32{2})
	l.State(2, notice.Running)
	want("another share", 200, "ready\n")
	l.Closed(2)
	want("its partition is closed", 503, "partition 2: closed\n")
	l.Assigned(nil)
	want("without partitions again", 200, "ready\n")
	l.Unassigned()
	want("which end too", 503, "the process gives up its partitions\n")
	l.Assigned(nil)
	l.DiskFull(true)
	want("the disk is full", 503, "disk: the local store waits for room\n")
	l.DiskFull(false)
	want("there is room again", 200, "ready\n")
	l.Members([]string{"a foreign member"}, nil)
	want("a foreign member is in the group", 200, "ready\na foreign member\n")
	l.DiskFull(true)
	want("and the disk is full", 503, "disk: the local store waits for room\na foreign member\n")
	l.DiskFull(false)
	l.Members([]string{"a foreign member"}, []string{"and its partition"})
	want("it has a partition", 503, "a foreign member\nand its partition\n")
	if !c.Waiting()["group"] {
		t.Error("a partition that no process has is no reason to wait")
	}
	l.Members(nil, nil)
	want("it has left", 200, "ready\n")
	l.Waits(2, 7, true)
	want("a partition of the input is away", 503,
		"input: partition 7 has no leader, or its leader lacks the records that are next in the order\n")
	if !c.Waiting()["input"] {
		t.Error("a partition of the input that is away is no reason to wait")
	}
	l.Waits(2, 7, false)
	want("it is back", 200, "ready\n")
	l.Doubted(errors.New("a topic is gone"))
	want("a topic seems to be gone", 503, "topics: the service looks again before it stops: a topic is gone\n")
	if !c.Waiting()["brokers"] {
		t.Error("a topic that seems to be gone is no reason to wait")
	}
	l.Doubted(nil)
	want("it is there", 200, "ready\n")
}

// TestAProcessThatStandsByIsReadyOnceItIsWarm checks that a process is not ready before its copy is warm, because a
// rolling update ends the owner as soon as the next process is ready.
func TestAProcessThatStandsByIsReadyOnceItIsWarm(t *testing.T) {
	c := console.New(notice.Operators)
	l := c.Listen(notice.Listener{})
	want := readiness(t, c)
	l.Assigned(nil)
	l.Standby(notice.Copying)
	want(503, "standing by: the changelog is being copied\n")
	if !c.Waiting()["partitions"] {
		t.Error("a copy that is being made is no reason to wait")
	}
	l.Standby(notice.Warm)
	want(200, "ready\nstanding by\n")
	l.Standby(notice.NoStandby)
	want(200, "ready\n")
}

// TestReadinessForReadersHasNoReason checks that readers see whether the partitions run, and nothing that depends on
// records: a partition of the input, a broker or a disk is waited for only if there are records.
func TestReadinessForReadersHasNoReason(t *testing.T) {
	c := console.New(notice.Readers)
	l := notice.Readers.Limit(c.Listen(notice.Listener{}))
	want := readiness(t, c)
	want(503, "not ready\n")
	l.Assigned([]int32{0})
	want(503, "not ready\n")
	l.State(0, notice.Running)
	want(200, "ready\n")
	l.Waits(0, 7, true)
	l.DiskFull(true)
	c.Retrying()
	c.Denied(errors.New("restart broker 1"))
	l.Members([]string{"a foreign member"}, nil)
	l.Doubted(errors.New("a topic is gone"))
	want(200, "ready\n")
	if waits := c.Waiting(); waits["partitions"] || waits["group"] || len(waits) != 2 {
		t.Errorf("waiting: %v", waits)
	}
	l.Members(nil, []string{"no process has the stream"})
	want(503, "not ready\n")
}

// TestACoordinatorThatDoesNotWorkIsShown checks that /readyz names the coordinator as long as its requests are denied.
func TestACoordinatorThatDoesNotWorkIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := console.New(notice.Operators)
		c.Listen(notice.Listener{}).Assigned(nil)
		want := readiness(t, c)
		c.Retrying()
		c.Denied(errors.New("restart broker 1"))
		want(503, "brokers: restart broker 1\n")
		time.Sleep(4 * time.Second)
		c.Retrying()
		time.Sleep(time.Second)
		want(503, "brokers: requests are being retried\n")
		time.Sleep(4 * time.Second)
		want(200, "ready\n")
	})
}

func TestRetriesEndReadinessForFiveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := console.New(notice.Operators)
		c.Listen(notice.Listener{}).Assigned(nil)
		want := readiness(t, c)
		const retried = "brokers: requests are being retried\n"
		want(200, "ready\n")
		c.Retrying()
		want(503, retried)
		time.Sleep(3 * time.Second)
		c.Retrying()
		time.Sleep(5*time.Second - time.Nanosecond)
		want(503, retried)
		time.Sleep(time.Nanosecond)
		want(200, "ready\n")
	})
}

func TestListenKeepsTheListener(t *testing.T) {
	var calls []string
	l := console.New(notice.Operators).Listen(notice.Listener{
		Assigned:   func([]int32) { calls = append(calls, "assigned") },
		Unassigned: func() { calls = append(calls, "unassigned") },
		State:      func(int32, notice.TaskState) { calls = append(calls, "state") },
		Closed:     func(int32) { calls = append(calls, "closed") },
		Members:    func(_, _ []string) { calls = append(calls, "members") },
		Standby:    func(notice.Standby) { calls = append(calls, "standby") },
		Doubted:    func(error) { calls = append(calls, "doubted") },
	})
	l.Assigned(nil)
	l.State(0, notice.Running)
	l.Closed(0)
	l.Members(nil, nil)
	l.Doubted(nil)
	l.Standby(notice.Warm)
	l.Unassigned()
	if strings.Join(calls, " ") != "assigned state closed members doubted standby unassigned" {
		t.Fatalf("called %v", calls)
	}
}

func TestMetricsShowWhatIsGathered(t *testing.T) {
	r := prometheus.NewRegistry()
	g := prometheus.NewGauge(prometheus.GaugeOpts{Name: "x", Help: "Something."})
	r.MustRegister(g)
	g.Set(2)
	h := console.New(notice.Operators).Handler(r)
	if code, body := page(h, "/metrics"); code != 200 || body != "# HELP x Something.\n# TYPE x gauge\nx 2\n" {
		t.Errorf("metrics: %d %q", code, body)
	}
	if code, _ := page(h, "/other"); code != http.StatusNotFound {
		t.Errorf("another page: %d, want 404", code)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/healthz", nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d, want 405", w.Code)
	}
}
