package numbers_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/numbers"
	"oriel/cmd/internal/numbers/clock"
	"oriel/cmd/internal/settings"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/operators"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/streams"
	"oriel/schemas/text"
	"oriel/state"
)

// persons is a deployment of persons by the hour, and its true numbers: new persons by hour since start and cell.
type persons struct {
	names *numbers.Names
	lines []byte
	truth map[[2]int]int
}

// firstDay is 2026-02-02 00:00 UTC, a Monday, seconds.
const firstDay = 1769990400

var carriers = []string{"UA", "AA", "other"}

// servePersons runs visits of random persons through the walk of a deployment with steps of an hour and periods of a
// day. Truth comes from the visits alone.
func servePersons(t *testing.T, seed uint64, days, cells int, mechanism string) persons {
	t.Helper()
	s, err := settings.Load([]string{
		"ORIEL_OPERATOR=aggregate", "ORIEL_CELLS=carrier=UA|AA", "ORIEL_ELSEWHERE=other", "ORIEL_STATISTICS=persons",
		fmt.Sprint("ORIEL_PERSON_CELLS=", cells), "ORIEL_EPSILON=1", "ORIEL_DELTA=1e-6", "ORIEL_MECHANISM=" + mechanism,
		"ORIEL_STEP=1h", "ORIEL_STREAM=topic", "ORIEL_USER_ID=key", "ORIEL_USER_PERIOD=1d",
	}, settings.Events, settings.Operator)
	if err != nil {
		t.Fatal(err)
	}
	m := s.Model()
	m.First = firstDay
	params, err := m.Learner.Params()
	if err != nil {
		t.Fatal(err)
	}
	stream, err := streams.OpenStream(m, params, [32]byte{byte(seed), byte(seed >> 8), 3}, [32]byte{5}, "all", [16]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	d := persons{truth: map[[2]int]int{}}
	if d.names, err = numbers.ParseNames(operators.DescriptorOf(m.Learner.Operator())); err != nil {
		t.Fatal(err)
	}
	walk := streams.Walk{
		Stream: stream, Taken: func(*records.Record, int64, text.Code) {},
		Decided: func(_ uint8, _, line []byte) { d.lines = append(append(d.lines, line...), '\n') },
		Position: state.Position{
			LeaderEpoch: -1, Step: stream.Base(), Order: &state.Ordered{Clock: true, Slot: firstDay, LeaderEpoch: -1},
		},
	}
	walk.Start()
	random, offset := rand.New(rand.NewPCG(seed, 1)), int64(0)
	counted := map[string][]int{} // cells of a person in a day
	for hour := range 24 * days {
		closes := int64(firstDay + 3600*(hour+1) - 1)
		b := &fetch.Batch{Shift: 0, From: offset, Order: &fetch.Order{
			Record: int64(hour), Slot: closes - 1800, Closes: closes,
		}}
		for range random.IntN(12) {
			r := records.Record{Public: records.Public{Offset: offset}}
			offset++
			person, cell := random.IntN(9), random.IntN(4)
			r.Value = fmt.Appendf(nil, `{"carrier":%q}`, append(carriers, "")[cell])
			if cell == 3 {
				r.Value = []byte("{") // no event
			}
			if person > 0 { // person 0 has no id
				r.Key = fmt.Append(nil, "person ", person)
			}
			b.Records = append(b.Records, r)
			key := fmt.Sprint(hour/24, " ", person)
			if of := counted[key]; person > 0 && cell < 3 && len(of) < cells && !slices.Contains(of, cell) {
				counted[key] = append(of, cell)
				d.truth[[2]int{hour, cell}]++
			}
		}
		b.Next, b.Order.End = offset, offset
		b.Order.Done = &fetch.Done{Slot: closes + 1, Parts: []fetch.Reach{{Partition: 0, End: offset}}}
		if b.From == b.Next {
			b.Partition, b.LeaderEpoch = -1, -1
		}
		if err := walk.Take(b, func() int64 { return streams.Untaken }); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func (d persons) collect(t *testing.T, by clock.Clock) (*numbers.Collector, error) {
	t.Helper()
	c, err := numbers.NewCollector(d.names, by)
	if err == nil {
		err = numbers.AddLines(c, bytes.NewReader(d.lines))
	}
	return c, err
}

// coverage returns the probability that the sum of n draws of discrete Laplace noise with the parameter r = ε/m lies
// within [−above, below], by convolution.
func coverage(n int, r, below, above float64) (p float64) {
	const reach = 400
	law := make([]float64, 2*reach+1)
	law[reach] = 1
	for range n {
		// two geometric passes: forwards and backwards
		next := slices.Clone(law)
		for i := 1; i < len(next); i++ {
			next[i] += math.Exp(-r) * next[i-1]
		}
		for i := len(next) - 2; i >= 0; i-- {
			next[i] += math.Exp(-r) * next[i+1]
		}
		for i := range next {
			law[i] = next[i] * (1 - math.Exp(-r)) * (1 - math.Exp(-r))
		}
	}
	for i, x := range law {
		if noise := float64(i - reach); noise >= -below && noise <= above {
			p += x
		}
	}
	return p
}

// TestPersonsOfHoursAndDays compares persons who are new in an hour, and persons of a day, with truth from outside:
// intervals of once-laplace must cover as often as the law of their noise says, within five deviations.
func TestPersonsOfHoursAndDays(t *testing.T) {
	for _, cells := range []int{1, 2} {
		for every, name := range map[int]string{1: "new persons", 24: "persons"} {
			hits, n, exact := 0.0, 0.0, 0.0
			for seed := range uint64(tiertest.Runs(6, 60)) {
				d := servePersons(t, seed, 30, cells, "once-laplace")
				c, err := d.collect(t, clock.Clock{Every: time.Duration(every) * time.Hour})
				if err != nil {
					t.Fatal(err)
				}
				rows := rowsOf(t, c, numbers.Query{})
				if len(rows) != 3*30*24/every {
					t.Fatalf("%d rows", len(rows))
				}
				for _, r := range rows {
					truth, hour := 0, int(r.Start.Unix()-firstDay)/3600
					for h := range every {
						truth += d.truth[[2]int{hour + h, slices.Index(carriers, r.Places[0])}]
					}
					if r.Statistic != name || r.Value != math.Trunc(r.Value) || int(r.Steps) != every {
						t.Fatalf("%+v", r)
					}
					if n++; r.Low <= float64(truth) && float64(truth) <= r.High {
						hits++
					}
					if exact == 0 {
						exact = coverage(every, 1/float64(cells), r.High-r.Value, r.Value-r.Low)
					}
				}
			}
			away := 5 * math.Sqrt(exact*(1-exact)/n)
			t.Logf("m = %d, %s: %.4f of %g, exact %.4f ± %.4f", cells, name, hits/n, n, exact, away)
			if exact < level || exact > 0.97 || math.Abs(hits/n-exact) > away {
				t.Errorf("m = %d, %s: %.4f of %g intervals cover, want %.4f ± %.4f", cells, name, hits/n, n, exact, away)
			}
		}
	}
}

// TestPersonsThatDoNotAddUp checks what is refused: persons of several periods, of a part of two periods, and of
// several cells if a person may be in more than one.
func TestPersonsThatDoNotAddUp(t *testing.T) {
	one, two := servePersons(t, 1, 8, 1, "once-gaussian"), servePersons(t, 1, 8, 2, "once-gaussian")
	const day = 24 * time.Hour
	for _, by := range []clock.Clock{
		{Every: 7 * day}, {Every: 2 * day}, {}, {Every: day, Offset: time.Hour}, {Every: 18 * time.Hour},
	} {
		if _, err := one.collect(t, by); err == nil || !strings.Contains(err.Error(), "would count twice") {
			t.Errorf("%+v: %v", by, err)
		}
	}
	for _, by := range []clock.Clock{{Every: day}, {Every: 6 * time.Hour}, {Every: time.Hour, Offset: time.Hour}, {
		Every: 12 * time.Hour, Offset: -12 * time.Hour,
	}} {
		for _, d := range []persons{one, two} {
			c, err := d.collect(t, by)
			if err != nil {
				t.Fatalf("%+v: %v", by, err)
			}
			for _, q := range []numbers.Query{{By: []string{}}, {Total: true}} {
				rows, err := c.Rows(q)
				if d.names.Period.Cells == 1 && err != nil || d.names.Period.Cells == 2 && (err == nil ||
					!strings.Contains(err.Error(), "count some persons several times")) {
					t.Errorf("%+v: %d rows, %v", q, len(rows), err)
				}
			}
		}
	}
	c, err := one.collect(t, clock.Clock{Every: day})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rowsOf(t, c, numbers.Query{By: []string{}})[:8] {
		truth := 0
		for h := range 24 {
			for cell := range carriers {
				truth += one.truth[[2]int{int(r.Start.Unix()-firstDay)/3600 + h, cell}]
			}
		}
		if truth < 6 || math.Abs(r.Value-float64(truth)) > 6*r.Deviation {
			t.Errorf("%+v, %d persons", r, truth)
		}
	}
	if _, err := c.Rows(numbers.Query{Statistics: []string{"count"}}); err == nil {
		t.Error("events of a deployment that counts persons")
	}
}
