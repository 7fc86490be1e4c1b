package metrics_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/protection"
	"oriel/pipeline/metrics"
	"oriel/pipeline/notice"
)

var guarantee = protection.Guarantee{
	Terms: protection.Terms{Scope: protection.Window{Steps: 64}, Unit: protection.Event{Exchange: dp.Replace}},
	Batch: 1, Epsilon: 0.5, Delta: 1e-6,
}

// played returns the registry after a fixed run of two partitions.
func played(l notice.Listener) *prometheus.Registry {
	r := prometheus.NewRegistry()
	m := metrics.New(r, guarantee, metrics.Process{
		Deployment: "d", Version: "v1", GoVersion: "go1",
		Waiting: func() map[string]bool { return map[string]bool{"brokers": true, "disk": false} },
	})
	l = m.Listen(l)
	l.Partitions(3, 2)
	l.State(0, notice.Restoring)
	l.State(0, notice.Running)
	l.State(1, notice.Running)
	l.Committed(notice.Commit{
		Partition: 0, Records: 5, Steps: 4, Decisions: 3, Time: time.UnixMilli(1500),
		Lag: 7, Duration: 3 * time.Millisecond,
	})
	l.Committed(notice.Commit{
		Partition: 0, Records: 1, Steps: 1, Decisions: 1, Time: time.UnixMilli(2500),
		Lag: 6, Duration: 20 * time.Second,
	})
	l.Committed(notice.Commit{
		Partition: 1, Records: 2, Steps: 2, Decisions: 2, Time: time.UnixMilli(3000),
		Lag: 9, Duration: time.Millisecond,
	})
	l.Aborted(0)
	l.Behind(0, 11)
	l.Waits(0, 4, true)
	l.Waits(0, 4, false)
	l.Waits(0, 5, true)
	l.Refused(0)
	l.Void(0, 1500*time.Millisecond)
	l.Members([]string{"a foreign member"}, []string{"no process has the stream"})
	l.Restarted(0, errors.New("x"))
	l.State(1, notice.Halted)
	l.Closed(1)
	l.Standby(notice.NoStandby)
	l.Standby(notice.Copying)
	l.Standby(notice.Warm)
	return r
}

const wanted = `
# HELP oriel_build_info The value is always 1; the labels name the build.
# TYPE oriel_build_info gauge
oriel_build_info{deployment="d",goversion="go1",version="v1"} 1
# HELP oriel_commit_duration_seconds Time from the first request of a transaction to its acknowledged end.
# TYPE oriel_commit_duration_seconds histogram
oriel_commit_duration_seconds_bucket{deployment="d",partition="0",le="0.001"} 0
oriel_commit_duration_seconds_bucket{deployment="d",partition="0",le="0.002"} 0
oriel_commit_duration_seconds_bucket{deployment="d",partition="0",le="0.004"} 1
oriel_commit_duration_seconds_bucket{deployment="d",partition="0",le="0.008"} 1
oriel_commit_duration_seconds_bucket{deployment="d",partition="0",le="0.016"} 1
oriel_commit_duration_seconds_bucket{deployment="d",partition="0",le="0.032"} 1
oriel_commit_duration_seconds_bucket{deployment="d",partition="0",le="0.064"} 1
oriel_commit_duration_seconds_bucket{deployment="d",partition="0",le="0.128"} 1
oriel_commit_duration_seconds_bucket{deployment="d",partition="0",le="0.256"} 1
oriel_commit_duration_seconds_bucket{deployment="d",partition="0",le="0.512"} 1
oriel_commit_duration_seconds_bucket{deployment="d",partition="0",le="1.024"} 1
oriel_commit_duration_seconds_bucket{deployment="d",partition="0",le="2.048"} 1
oriel_commit_duration_seconds_bucket{deployment="d",partition="0",le="4.096"} 1
oriel_commit_duration_seconds_bucket{deployment="d",partition="0",le="8.192"} 1
oriel_commit_duration_seconds_bucket{deployment="d",partition="0",le="+Inf"} 2
oriel_commit_duration_seconds_sum{deployment="d",partition="0"} 20.003
oriel_commit_duration_seconds_count{deployment="d",partition="0"} 2
oriel_commit_duration_seconds_bucket{deployment="d",partition="1",le="0.001"} 1
oriel_commit_duration_seconds_bucket{deployment="d",partition="1",le="0.002"} 1
oriel_commit_duration_seconds_bucket{deployment="d",partition="1",le="0.004"} 1
oriel_commit_duration_seconds_bucket{deployment="d",partition="1",le="0.008"} 1
oriel_commit_duration_seconds_bucket{deployment="d",partition="1",le="0.016"} 1
oriel_commit_duration_seconds_bucket{deployment="d",partition="1",le="0.032"} 1
oriel_commit_duration_seconds_bucket{deployment="d",partition="1",le="0.064"} 1
oriel_commit_duration_seconds_bucket{deployment="d",partition="1",le="0.128"} 1
oriel_commit_duration_seconds_bucket{deployment="d",partition="1",le="0.256"} 1
oriel_commit_duration_seconds_bucket{deployment="d",partition="1",le="0.512"} 1
oriel_commit_duration_seconds_bucket{deployment="d",partition="1",le="1.024"} 1
oriel_commit_duration_seconds_bucket{deployment="d",partition="1",le="2.048"} 1
oriel_commit_duration_seconds_bucket{deployment="d",partition="1",le="4.096"} 1
oriel_commit_duration_seconds_bucket{deployment="d",partition="1",le="8.192"} 1
oriel_commit_duration_seconds_bucket{deployment="d",partition="1",le="+Inf"} 1
oriel_commit_duration_seconds_sum{deployment="d",partition="1"} 0.001
oriel_commit_duration_seconds_count{deployment="d",partition="1"} 1
# HELP oriel_decisions_total Decisions committed.
# TYPE oriel_decisions_total counter
oriel_decisions_total{deployment="d",partition="0"} 4
oriel_decisions_total{deployment="d",partition="1"} 2
# HELP oriel_delta Delta of one window of one stream.
# TYPE oriel_delta gauge
oriel_delta{deployment="d"} 1e-06
# HELP oriel_epsilon Proved epsilon of one window of one stream.
# TYPE oriel_epsilon gauge
oriel_epsilon{deployment="d"} 0.5
# HELP oriel_foreign_members Members of the group that do not belong to the deployment.
# TYPE oriel_foreign_members gauge
oriel_foreign_members{deployment="d"} 1
# HELP oriel_input_awaited 1 while the stream of the whole topic waits for this partition of the input.
# TYPE oriel_input_awaited gauge
oriel_input_awaited{deployment="d",input_partition="5",partition="0"} 1
# HELP oriel_input_lag_records Offsets between the committed position and the stable end of the input.
# TYPE oriel_input_lag_records gauge
oriel_input_lag_records{deployment="d",partition="0"} 11
# HELP oriel_input_partitions Partitions of the input.
# TYPE oriel_input_partitions gauge
oriel_input_partitions{deployment="d"} 3
# HELP oriel_last_decision_timestamp_seconds Timestamp of the newest decision that this process has committed.
# TYPE oriel_last_decision_timestamp_seconds gauge
oriel_last_decision_timestamp_seconds{deployment="d",partition="0"} 2.5
# HELP oriel_order_records_refused_total Records of the order log that this deployment did not write.
# TYPE oriel_order_records_refused_total counter
oriel_order_records_refused_total{deployment="d",partition="0"} 1
oriel_order_records_refused_total{deployment="d",partition="1"} 0
# HELP oriel_order_void_seconds Time for which no record of the order log has counted; 0: the newest one counted.
# TYPE oriel_order_void_seconds gauge
oriel_order_void_seconds{deployment="d",partition="0"} 1.5
# HELP oriel_partitions_owned Streams that this process owns.
# TYPE oriel_partitions_owned gauge
oriel_partitions_owned{deployment="d"} 1
# HELP oriel_ready 1 when /readyz says ready.
# TYPE oriel_ready gauge
oriel_ready{deployment="d"} 0
# HELP oriel_records_total Input records taken, valid or not.
# TYPE oriel_records_total counter
oriel_records_total{deployment="d",partition="0"} 6
oriel_records_total{deployment="d",partition="1"} 2
# HELP oriel_restarts_total Times a partition was taken over again after an error.
# TYPE oriel_restarts_total counter
oriel_restarts_total{deployment="d",partition="0"} 1
oriel_restarts_total{deployment="d",partition="1"} 0
# HELP oriel_standby_warm 1 while this process stands by, and its local store follows the changelog.
# TYPE oriel_standby_warm gauge
oriel_standby_warm{deployment="d"} 1
# HELP oriel_steps_total Steps closed.
# TYPE oriel_steps_total counter
oriel_steps_total{deployment="d",partition="0"} 5
oriel_steps_total{deployment="d",partition="1"} 2
# HELP oriel_streams Streams of the input: the number of its partitions, or 1 where the whole topic is one stream.
# TYPE oriel_streams gauge
oriel_streams{deployment="d"} 2
# HELP oriel_task_state 1 for the state that the partition's task is in.
# TYPE oriel_task_state gauge
oriel_task_state{deployment="d",partition="0",state="restoring"} 0
oriel_task_state{deployment="d",partition="0",state="running"} 1
oriel_task_state{deployment="d",partition="0",state="stopped"} 0
# HELP oriel_transactions_total Kafka transactions by outcome.
# TYPE oriel_transactions_total counter
oriel_transactions_total{deployment="d",outcome="aborted",partition="0"} 1
oriel_transactions_total{deployment="d",outcome="aborted",partition="1"} 0
oriel_transactions_total{deployment="d",outcome="committed",partition="0"} 2
oriel_transactions_total{deployment="d",outcome="committed",partition="1"} 1
# HELP oriel_waiting 1 while the process is not ready for this reason.
# TYPE oriel_waiting gauge
oriel_waiting{deployment="d",reason="brokers"} 1
oriel_waiting{deployment="d",reason="disk"} 0
# HELP oriel_window_steps W, the newest steps of each stream that are protected; +Inf if all are, for ever.
# TYPE oriel_window_steps gauge
oriel_window_steps{deployment="d"} 64
`

// TestWindowOfAWholeLifeIsInfinite checks that the window is +Inf if events are protected for ever, even if the
// mechanism's calibration has a window.
func TestWindowOfAWholeLifeIsInfinite(t *testing.T) {
	for _, g := range []protection.Guarantee{
		{Mechanism: "once-gaussian", Terms: protection.Terms{Scope: protection.PerStep{}}},
		{Mechanism: "blt", Terms: protection.Terms{Scope: protection.Lifetime{Steps: 50, Within: 64}}},
	} {
		r := prometheus.NewRegistry()
		metrics.New(r, g, metrics.Process{Deployment: "d", Waiting: func() map[string]bool { return nil }})
		if shown := exposition(r); !strings.Contains(shown, "\noriel_window_steps{deployment=\"d\"} +Inf\n") {
			t.Errorf("%+v: %s", g, shown)
		}
	}
}

// exposition returns the text of /metrics for a registry.
func exposition(r prometheus.Gatherer) string {
	w := httptest.NewRecorder()
	h := promhttp.HandlerFor(r, promhttp.HandlerOpts{DisableCompression: true})
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return w.Body.String()
}

// TestExpositionIsGolden compares the full text of /metrics, so that whoever adds a metric must consider the package's
// rule.
func TestExpositionIsGolden(t *testing.T) {
	got := strings.Split(exposition(played(notice.Listener{})), "\n")
	want := strings.Split(strings.TrimPrefix(wanted, "\n"), "\n")
	for i := range max(len(got), len(want)) {
		line := func(s []string) string {
			if i < len(s) {
				return s[i]
			}
			return "nothing"
		}
		if line(got) != line(want) {
			t.Fatalf("line %d: %s\nwant %s", i+1, line(got), line(want))
		}
	}
}

// TestEqualCountsGiveEqualText checks that inputs with equal counts give equal text: no metric depends on the clock or
// the process.
func TestEqualCountsGiveEqualText(t *testing.T) {
	if a, b := exposition(played(notice.Listener{})), exposition(played(notice.Listener{})); a != b {
		t.Errorf("two equal runs give\n%s\nand\n%s", a, b)
	}
}

func TestNamesFollowTheConventions(t *testing.T) {
	problems, err := promlint.New(strings.NewReader(exposition(played(notice.Listener{})))).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

func TestListenKeepsTheListener(t *testing.T) {
	heard := map[string]int{}
	played(notice.Listener{
		Committed: func(notice.Commit) { heard["committed"]++ },
		Aborted:   func(int32) { heard["aborted"]++ },
		State:     func(int32, notice.TaskState) { heard["state"]++ },
		Closed:    func(int32) { heard["closed"]++ },
		Restarted: func(int32, error) { heard["restarted"]++ },
	})
	for what, n := range map[string]int{"committed": 3, "aborted": 1, "state": 4, "closed": 1, "restarted": 1} {
		if heard[what] != n {
			t.Errorf("%s was heard %d times, want %d", what, heard[what], n)
		}
	}
}
