package metrics_test

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"oriel/pipeline/metrics"
	"oriel/pipeline/notice"
)

const wantedByReaders = `# HELP oriel_build_info The value is always 1; the labels name the build.
# TYPE oriel_build_info gauge
oriel_build_info{deployment="d",goversion="go1",version="v1"} 1
# HELP oriel_decision A coordinate, counted from 0, of the newest decision of a stream that this process has committed.
# TYPE oriel_decision gauge
oriel_decision{coordinate="0",deployment="d",stream="0"} 4.5
# HELP oriel_decision_streams_hidden Streams whose decisions are not shown, since a process has 1000 series for them.
# TYPE oriel_decision_streams_hidden gauge
oriel_decision_streams_hidden{deployment="d"} 0
# HELP oriel_decisions_total Decisions committed.
# TYPE oriel_decisions_total counter
oriel_decisions_total{deployment="d",partition="0"} 2
# HELP oriel_delta Delta of one window of one stream.
# TYPE oriel_delta gauge
oriel_delta{deployment="d"} 1e-06
# HELP oriel_epsilon Proved epsilon of one window of one stream.
# TYPE oriel_epsilon gauge
oriel_epsilon{deployment="d"} 0.5
# HELP oriel_last_decision_timestamp_seconds Timestamp of the newest decision that this process has committed.
# TYPE oriel_last_decision_timestamp_seconds gauge
oriel_last_decision_timestamp_seconds{deployment="d",partition="0"} 2.5
# HELP oriel_ready 1 when /readyz says ready.
# TYPE oriel_ready gauge
oriel_ready{deployment="d"} 1
# HELP oriel_step_seconds Length of a step by the clock.
# TYPE oriel_step_seconds gauge
oriel_step_seconds{deployment="d"} 60
# HELP oriel_steps_total Steps closed.
# TYPE oriel_steps_total counter
oriel_steps_total{deployment="d",partition="0"} 2
# HELP oriel_window_steps W, the newest steps of each stream that are protected; +Inf if all are, for ever.
# TYPE oriel_window_steps gauge
oriel_window_steps{deployment="d"} 64
`

// TestReadersSeeTheseSeriesAlone compares the full text of /metrics for readers of decisions. Two runs differ in
// everything that a record may change: they must look the same.
func TestReadersSeeTheseSeriesAlone(t *testing.T) {
	for _, more := range []int{0, 1} {
		r := prometheus.NewRegistry()
		m := metrics.New(r, guarantee, metrics.Process{
			Deployment: "d", Version: "v1", GoVersion: "go1", Coordinates: 1, Registry: true, Step: time.Minute,
			Waiting: func() map[string]bool { return map[string]bool{"partitions": false} },
		})
		r.MustRegister(collectors.NewGoCollector())
		l := notice.Readers.Limit(m.Listen(notice.Listener{}))
		l.Partitions(3, 1)
		l.State(0, notice.Running)
		l.Decided(0, point("0", 4.5))
		l.Committed(notice.Commit{
			Records: 5 + more, Steps: 2, Decisions: 2, Time: time.UnixMilli(2500), Lag: int64(7 * more),
			Duration: time.Millisecond,
		})
		for range more { // what only the records of one run cause
			l.Committed(notice.Commit{Records: 1, Lag: 1, Time: time.UnixMilli(9000), Duration: time.Second})
			l.Aborted(0)
			l.Behind(0, 11)
			l.Waits(0, 5, true)
			l.Refused(0)
			l.Void(0, time.Second)
		}
		if got := exposition(metrics.For(notice.Readers, r)); got != wantedByReaders {
			t.Errorf("run %d: readers see\n%s", more, got)
		}
	}
}
