package metrics_test

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"oriel/pipeline"
	"oriel/pipeline/metrics"
)

func point(stream string, point ...float64) pipeline.Decided {
	return pipeline.Decided{Stream: stream, Index: 1, Step: 1, Point: point}
}

func decided(coordinates int) (*prometheus.Registry, pipeline.Listener) {
	r := prometheus.NewRegistry()
	m := metrics.New(r, guarantee, metrics.Process{Deployment: "d", Waiting: func() map[string]bool { return nil }, Coordinates: coordinates})
	return r, m.Listen(pipeline.Listener{})
}

// TestDecisionsAreShownAsCommitted: the newest of each stream, its first coordinates, until the partition is handed
// over.
func TestDecisionsAreShownAsCommitted(t *testing.T) {
	r, l := decided(2)
	want := func(when, text string) {
		t.Helper()
		got := exposition(r)
		from := max(0, strings.Index(got, "# HELP oriel_decision"))
		if end := strings.Index(got, "# HELP oriel_delta"); end > from {
			got = got[from:end]
		}
		if got != text {
			t.Errorf("%s: shown is\n%s\nwant\n%s", when, got, text)
		}
	}
	const (
		head = "# HELP oriel_decision A coordinate of the newest decision that this process has committed of a stream, from 0.\n# TYPE oriel_decision gauge\n"
		rest = "# HELP oriel_decision_streams_hidden Streams whose decisions are not shown, since a process has 1000 series for them.\n" +
			"# TYPE oriel_decision_streams_hidden gauge\noriel_decision_streams_hidden{deployment=\"d\"} 0\n"
	)
	want("before a commit", rest)
	l.Decided(0, point("0", 1, 2, 3))
	l.Decided(3, point("3", -0.5))
	l.Decided(0, point("0", 4, 5.25, 6))
	want("after commits", head+`oriel_decision{coordinate="0",deployment="d",stream="0"} 4
oriel_decision{coordinate="0",deployment="d",stream="3"} -0.5
oriel_decision{coordinate="1",deployment="d",stream="0"} 5.25
`+rest)
	l.Closed(0)
	want("after a partition was handed over", head+"oriel_decision{coordinate=\"0\",deployment=\"d\",stream=\"3\"} -0.5\n"+rest)
}

// TestDecisionSeriesAreBounded, whatever is asked for, and it is said what is left out.
func TestDecisionSeriesAreBounded(t *testing.T) {
	r, l := decided(metrics.MaxDecisionSeries)
	long := make([]float64, metrics.MaxDecisionSeries+500)
	l.Decided(1, point("1", long[:600]...))
	l.Decided(2, point("2", long...))
	l.Decided(3, point("3", long[:400]...))
	if n := strings.Count(exposition(r), "\noriel_decision{"); n != metrics.MaxDecisionSeries {
		t.Errorf("%d series", n)
	}
	if shown := exposition(r); !strings.Contains(shown, "oriel_decision_streams_hidden{deployment=\"d\"} 1\n") {
		t.Error("a stream is left out and not counted")
	}
}

// TestDecisionsAreNotShownUnlessAskedFor: nobody hears of them then either.
func TestDecisionsAreNotShownUnlessAskedFor(t *testing.T) {
	r, l := decided(0)
	if l.Decided != nil || strings.Contains(exposition(r), "oriel_decision{") {
		t.Error("decisions are heard of, or shown")
	}
}
