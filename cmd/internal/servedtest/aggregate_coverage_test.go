package servedtest

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/repotest"
	"oriel/mechanisms/decay"
	"oriel/pipeline/kafka/records"
	"oriel/schemas/decision"
)

var allFlights = flag.String("flights", "", "CSV of flights with columns carrier, origin, hour, arr_delay: "+
	"TestAggregateCovers "+
	"sends all of them, twenty times; takes some minutes")

// seeds is the number of partitions. All have the same events, but each has its own noise.
const seeds = 20

// z95 is the two-sided quantile at 95 %: Φ(z) − Φ(−z) = 0.95.
const z95 = 1.959963984540054

// row is an event: its cell, or −1 for none, and its value.
type row struct {
	cell  int
	value float64
	text  []byte
}

// moments holds Σw, Σwx and Σwx² of a cell.
type moments [3]float64

// share counts, by cluster, all intervals and those that contain the true value. Clusters are independent of each
// other.
type share struct{ hits, all map[int]float64 }

func (s share) add(cluster int, hit bool) {
	s.all[cluster]++
	if hit {
		s.hits[cluster]++
	}
}

// of returns the share of intervals that contain the true value, its standard error over the clusters, and the number
// of intervals.
func (s share) of() (share, spread, n float64) {
	hits := 0.0
	for cluster, all := range s.all {
		hits, n = hits+s.hits[cluster], n+all
	}
	share = hits / n
	for cluster, all := range s.all {
		away := s.hits[cluster] - share*all
		spread += away * away
	}
	return share, math.Sqrt(spread) / n, n
}

// TestAggregateCovers checks the stated errors of aggregate on twenty streams with the same events, served through a
// broker. Counts must deviate by as much as decisions state. Intervals at 95 % of counts, sums, means and variances
// must contain the true value in 95 % of cases. The long form uses all flights, by carrier and hour, with memories of
// 1000, 16 000 and 250 000 steps for life at ε = 1. Deviations must then be right to within 2 %, and shares to within
// three standard errors:
//
//	go test ./cmd/internal/servedtest -run TestAggregateCovers -flights flights.csv -timeout 2h -v
func TestAggregateCovers(t *testing.T) {
	cells, places, memories, every, away := "a=x|y|z,b=0:4:4", 12, []uint64{50, 200}, 50, 6.11
	rows, epsilon, within := few(1500), "60", 0.0
	if *allFlights != "" {
		cells, places = "carrier="+strings.Join(carriers, "|")+",hour=0:24:24", 24*len(carriers)
		memories, rows = []uint64{1000, 16000, 250000}, flightRows(t, "carrier", carriers, 24)
		epsilon, within, every, away = "1", 0.02, 1000, 3
	}
	f := servesSeeds(t, rows, memories, every, map[string]string{
		"ORIEL_CELLS": cells, "ORIEL_STATISTICS": "count,sum,mean,variance", "ORIEL_EPSILON": epsilon,
	})
	truths := truthsOf(rows, places, memories, every)
	shares, squares, n := map[string]share{}, 0.0, 0.0
	for seed := range seeds {
		for _, r := range f.Read(f.Topic("decisions"), int32(seed), false) {
			d, err := decision.Parse(r.Value)
			if err != nil {
				t.Fatal(err)
			}
			for view, memory := range memories {
				if of := truths[int(d.Step)]; looksAt(d.Step, memory, len(rows), every) {
					a, b := judged(t, d, view, of[view], seed, shares)
					squares, n = squares+a, n+b
				}
			}
		}
	}
	reportShares(t, shares, away)
	// A root mean square of n normal deviates has the relative standard error √(1/2n).
	off := math.Sqrt(squares / n)
	t.Logf("counts are off by %.4f of what is said", off)
	if math.Abs(off-1) > max(within, 6.11*math.Sqrt(0.5/n)) {
		t.Errorf("counts are off by %.4f of what decisions say, of %.0f", off, n)
	}
}

// servesSeeds sends the rows to twenty partitions of a deployment, and stops it when all are consumed.
func servesSeeds(t *testing.T, rows []row, memories []uint64, every int, more map[string]string) *fixture {
	t.Helper()
	f := newFixture(t, seeds, nil)
	asAggregate(f)
	maps.Copy(f.Env, map[string]string{
		"ORIEL_ELSEWHERE": "null", "ORIEL_ADJACENCY": "replace", "ORIEL_MECHANISM": "blt", "ORIEL_WINDOW": "lifetime",
		"ORIEL_MEMORY":   fmt.Sprint(memories[len(memories)-2]),
		"ORIEL_MEMORIES": strings.Trim(strings.ReplaceAll(fmt.Sprint(memories), " ", ","), "[]"),
		"ORIEL_BATCH":    "1", "ORIEL_EMIT_EVERY": fmt.Sprint(every), "ORIEL_DECISION_GAUGES": "0",
		"ORIEL_COMMIT_INTERVAL": "200ms",
	})
	maps.Copy(f.Env, more)
	f.Must("topics")
	const together = 10000
	for p := range int32(seeds) {
		for from := 0; from < len(rows); from += together {
			var list []records.Record
			for _, r := range rows[from:min(len(rows), from+together)] {
				list = append(list, records.Record{Value: r.text})
			}
			f.Send(p, list...)
		}
	}
	running := f.Start(nil, "run")
	f.AwaitTaken(time.Duration(len(rows)/100+60)*time.Second, slices.Repeat([]int64{int64(len(rows))}, seeds)...)
	running.Terminate()
	return f
}

// looksAt reports whether the test compares a view with the true values at this step. Compared steps are two memories
// apart; views with a longer memory are compared only at the last decision.
func looksAt(step, memory uint64, rows, every int) bool {
	gap := max(every, 2*int(memory))
	if gap > rows {
		gap = rows / every * every
	}
	return int(step)%gap == 0
}

// reportShares checks that all shares are 95 %, to within away standard errors. The shares named in least may be
// larger.
func reportShares(t *testing.T, shares map[string]share, away float64, least ...string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(shares)) {
		got, spread, all := shares[name].of()
		t.Logf("%-20s %.4f of %7.0f intervals, standard error %.5f: %+.1f of them", name, got, all, spread, (got-0.95)/spread)
		if all < 200 || got < 0.95-away*spread || got > 0.95+away*spread && !slices.Contains(least, name) {
			t.Errorf("%s: %.4f of %.0f intervals have the truth, want 0.95 within %.1f times %.5f", name, got, all, away, spread)
		}
	}
}

// judged adds a view's intervals to shares. It returns the sum of the squared errors of counts, in units of their
// stated deviations, and the number of these errors.
func judged(t *testing.T, d decision.Decision, view int, truth []moments, seed int, shares map[string]share,
) (squares, n float64) {
	t.Helper()
	cells := len(truth)
	extra := func(name string) []float64 { return memberOf(t, d, name) }
	add := func(name string, cell int, low, want, high float64) {
		pool(shares, name, seed*cells+cell, low, want, high)
	}
	counts, sums := extra("count_deviation")[view], extra("sum_deviation")[view]
	ends := map[string][]float64{}
	for _, name := range []string{"mean_low", "mean_high", "variance_low", "variance_high"} {
		ends[name] = extra(name)
	}
	for cell, m := range truth {
		at := view*cells*4 + cell
		got, sum := d.Point[at], d.Point[at+cells]
		add("count", cell, got-z95*counts, m[0], got+z95*counts)
		add("sum", cell, sum-z95*sums, m[1], sum+z95*sums)
		squares, n = squares+(got-m[0])*(got-m[0])/counts/counts, n+1
		if !(got > 12*counts) {
			continue // decisions do not show this ratio
		}
		mean := m[1] / m[0]
		i := view*cells + cell
		add("mean", cell, ends["mean_low"][i], mean, ends["mean_high"][i])
		add("variance", cell, ends["variance_low"][i], m[2]/m[0]-mean*mean, ends["variance_high"][i])
	}
	return squares, n
}

// memberOf returns the numbers of a member of a decision.
func memberOf(t *testing.T, d decision.Decision, name string) (numbers []float64) {
	t.Helper()
	i := slices.IndexFunc(d.Extras, func(x decision.ExtraMember) bool { return x.Name == name })
	if i < 0 {
		t.Fatalf("no %s", name)
	}
	if err := json.Unmarshal([]byte(d.Extras[i].JSON), &numbers); err != nil {
		t.Fatal(err)
	}
	return numbers
}

// pool adds an interval to the share with this name.
func pool(shares map[string]share, name string, cluster int, low, want, high float64) {
	if shares[name].all == nil {
		shares[name] = share{map[int]float64{}, map[int]float64{}}
	}
	slack := 1e-6 * (1 + math.Abs(want)) // tolerance for rounding to the lattice
	shares[name].add(cluster, low-slack <= want && want <= high+slack)
}

// truthsOf returns the exact sums for each memory, by step and view, at the steps of decisions.
func truthsOf(rows []row, cells int, memories []uint64, every int) map[int][][]moments {
	now, all := make([][]moments, len(memories)), map[int][][]moments{}
	for view := range now {
		now[view] = make([]moments, cells)
	}
	scale := make([]float64, len(memories)) // the sums are scale·now, so that a step decays only one number
	for i, r := range rows {
		for view, memory := range memories {
			if i%every == 0 { // multiply the sums by their scale
				for cell := range now[view] {
					for k := range 3 {
						now[view][cell][k] *= scale[view]
					}
				}
				scale[view] = 1
			}
			scale[view] *= float64(decay.Decay(memory)) / (1 << 30)
			if r.cell >= 0 {
				w := 1 / scale[view]
				m := &now[view][r.cell]
				m[0], m[1], m[2] = m[0]+w, m[1]+w*r.value, m[2]+w*r.value*r.value
			}
		}
		if (i+1)%every == 0 {
			var copied [][]moments
			for view := range now {
				c := slices.Clone(now[view])
				for cell := range c {
					for k := range 3 {
						c[cell][k] *= scale[view]
					}
				}
				copied = append(copied, c)
			}
			all[i+1] = copied
		}
	}
	return all
}

// few returns n events in twelve cells of different sizes, with skewed values.
func few(n int) []row {
	rng := rand.New(rand.NewPCG(9, 9))
	rows := make([]row, n)
	for i := range rows {
		a, b := int(3*math.Pow(rng.Float64(), 1.5)), int(4*rng.Float64())
		x := 40*rng.ExpFloat64() - 30 + 10*float64(a)
		rows[i] = row{a*4 + b, max(-60, min(180, x)), fmt.Appendf(nil, `{"a":%q,"b":%d,"delay":%g}`, "xyz"[a:a+1], b, x)}
	}
	return rows
}

var carriers = []string{"9E", "AA", "AS", "B6", "DL", "EV", "F9", "FL", "HA", "MQ", "OO", "UA", "US", "VX", "WN", "YV"}

// flightRows reads the flights that have arrived. A cell is a pair of a choice of the column `by` and a bin of the
// hour.
func flightRows(t *testing.T, by string, choices []string, hours int) (rows []row) {
	t.Helper()
	repotest.EachFlight(t, *allFlights, func(column func(name string) string, late float64) {
		name, delay := column(by), column("arr_delay")
		h, err := strconv.Atoi(column("hour"))
		if err != nil {
			return
		}
		cell := -1
		if i := slices.Index(choices, name); i >= 0 {
			cell = i*hours + h*hours/24
		}
		rows = append(rows, row{
			cell, max(-60, min(180, late)), fmt.Appendf(nil, `{%q:%q,"hour":%d,"delay":%s}`, by, name, h, delay),
		})
	})
	return rows
}
