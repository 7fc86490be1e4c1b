package metrics_test

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"oriel/pipeline/metrics"
	"oriel/pipeline/notice"
	"oriel/schemas/decision"
)

func point(stream string, point ...float64) notice.Decided {
	return notice.Decided{Stream: stream, Index: 1, Step: 1, Point: point}
}

func decided(coordinates int) (*prometheus.Registry, notice.Listener) {
	r := prometheus.NewRegistry()
	m := metrics.New(r, guarantee, metrics.Process{
		Deployment: "d", Waiting: func() map[string]bool { return nil }, Coordinates: coordinates,
	})
	return r, m.Listen(notice.Listener{})
}

// TestDecisionsAreShownAsCommitted checks that the first coordinates of each stream's newest decision are shown until
// the partition is handed over.
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
		head = "# HELP oriel_decision A coordinate, counted from 0, of the newest decision of a stream that this process has committed.\n# TYPE oriel_decision gauge\n"
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
	want("after a partition was handed over",
		head+"oriel_decision{coordinate=\"0\",deployment=\"d\",stream=\"3\"} -0.5\n"+rest)
}

// saying returns a decision with members besides its coordinates, some of which are numbers.
func saying(stream string, point ...float64) notice.Decided {
	d := notice.Decided{Stream: stream, Index: 1, Step: 1, Point: point}
	for _, x := range [][2]string{{"shift", "-2.5e-1"}, {"arm", `"1"`}, {"deviation", "[1]"}, {"explores", "1"}} {
		d.Extras = append(d.Extras, decision.ExtraMember{Name: x[0], JSON: x[1]})
	}
	return d
}

// TestNumbersBesideCoordinatesAreShown checks that these numbers have the name of their member, and count towards the
// bound on series.
func TestNumbersBesideCoordinatesAreShown(t *testing.T) {
	r, l := decided(metrics.MaxDecisionSeries)
	l.Decided(0, saying("0", make([]float64, metrics.MaxDecisionSeries)...))
	got := exposition(r)
	for _, want := range []string{
		`oriel_decision_member{deployment="d",member="explores",stream="0"} 1`,
		`oriel_decision_member{deployment="d",member="shift",stream="0"} -0.25`,
	} {
		if !strings.Contains(got, "\n"+want+"\n") {
			t.Errorf("not shown: %s", want)
		}
	}
	members, coordinates := strings.Count(got, "\noriel_decision_member{"), strings.Count(got, "\noriel_decision{")
	if members != 2 || coordinates != metrics.MaxDecisionSeries-2 {
		t.Errorf("%d members and %d coordinates are shown", members, coordinates)
	}
	l.Decided(0, point("0", 1))
	if strings.Contains(exposition(r), "oriel_decision_member{") {
		t.Error("members of an earlier decision are shown")
	}
}

// TestDecisionSeriesAreBounded checks that the bound holds for every number of requested coordinates, and that streams
// left out are counted.
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

// TestDecisionsAreNotShownUnlessAskedFor checks that without requested coordinates no series are shown, and
// transactions do not keep their newest decision.
func TestDecisionsAreNotShownUnlessAskedFor(t *testing.T) {
	r, l := decided(0)
	if l.Decided != nil || strings.Contains(exposition(r), "oriel_decision{") {
		t.Error("decisions are heard of, or shown")
	}
}

// named describes decisions with two numbers, whose intervals are ± 2.5 times the step; at step 0 there are none.
var named = metrics.Numbers{
	Labels: [][3]string{{"1000", "count", "carrier=UA"}, {"1000", "mean", "carrier=UA"}},
	Read: func(d notice.Decided) (values, low, high []float64, err error) {
		if d.Step == 0 {
			return nil, nil, nil, errors.New("no intervals")
		}
		for _, x := range d.Point {
			low, high = append(low, x-2.5*float64(d.Step)), append(high, x+2.5*float64(d.Step))
		}
		return d.Point, low, high, nil
	},
}

func shownNumbers(coordinates int, numbers *metrics.Numbers) (*prometheus.Registry, notice.Listener) {
	r := prometheus.NewRegistry()
	m := metrics.New(r, guarantee, metrics.Process{
		Deployment: "d", Waiting: func() map[string]bool { return nil }, Coordinates: coordinates, Numbers: numbers,
	})
	return r, m.Listen(notice.Listener{})
}

// TestNumbersAreShownByName checks that each number lies in its interval, and that a decision without numbers has no
// series.
func TestNumbersAreShownByName(t *testing.T) {
	r, l := shownNumbers(2, &named)
	l.Decided(0, point("0", 10, -3))
	got := exposition(r)
	for _, want := range []string{
		`oriel_number{cell="carrier=UA",deployment="d",memory="1000",statistic="count",stream="0"} 10`,
		`oriel_number{cell="carrier=UA",deployment="d",memory="1000",statistic="mean",stream="0"} -3`,
		`oriel_number_low{cell="carrier=UA",deployment="d",memory="1000",statistic="count",stream="0"} 7.5`,
		`oriel_number_high{cell="carrier=UA",deployment="d",memory="1000",statistic="mean",stream="0"} -0.5`,
	} {
		if !strings.Contains(got, "\n"+want+"\n") {
			t.Errorf("not shown: %s", want)
		}
	}
	if strings.Contains(got, "oriel_decision{") {
		t.Error("numbers are coordinates, too")
	}
	without := point("0", 11, -4)
	without.Step = 0
	l.Decided(0, without)
	if strings.Contains(exposition(r), "oriel_number{") {
		t.Error("a decision without intervals is shown, or an old one stays")
	}
}

// TestUnknownNumbersAreNotShown checks that a number that must not be shown has no series, and that the others keep
// theirs.
func TestUnknownNumbersAreNotShown(t *testing.T) {
	r, l := shownNumbers(2, &named)
	l.Decided(0, point("0", math.NaN(), -3))
	got := exposition(r)
	if strings.Contains(got, `statistic="count"`) || !strings.Contains(got, `oriel_number{cell="carrier=UA",deployment="d",memory="1000",statistic="mean",stream="0"} -3`) {
		t.Error(got)
	}
}

// TestNumberSeriesAreBounded checks the bound with three series per number; a stream is shown completely or not at all.
func TestNumberSeriesAreBounded(t *testing.T) {
	for asked, want := range map[int][2]int{120: {720, 1}, metrics.MaxDecisionSeries: {999, 2}} {
		many := named
		many.Labels = make([][3]string, asked)
		for i := range many.Labels {
			many.Labels[i] = [3]string{"all", "count", strconv.Itoa(i)}
		}
		r, l := shownNumbers(asked, &many)
		for p := range int32(3) {
			l.Decided(p, point(strconv.Itoa(int(p)), make([]float64, asked)...))
		}
		shown := exposition(r)
		hidden := fmt.Sprintf("oriel_decision_streams_hidden{deployment=\"d\"} %d\n", want[1])
		if n := strings.Count(shown, "\noriel_number"); n != want[0] || !strings.Contains(shown, hidden) {
			t.Errorf("%d numbers: %d series, want %d, and %s", asked, n, want[0], hidden)
		}
	}
}
