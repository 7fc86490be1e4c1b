package submodular

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/optest"
	"oriel/schemas/event"
)

// TestDistancesOfALength enumerates contributions on a coarse lattice, from numbers of all kinds. Their distances from
// each other and from zero must be within the declared ones, and some must reach them. With two planted faults the
// distances must be larger: negative numbers are accepted, or a position is not scaled to its length.
func TestDistancesOfALength(t *testing.T) {
	odd := []float64{0, 0.5, 1, 1.5, -1, -1e300, 1e300, math.NaN(), math.Inf(1)}
	var all [][]float64
	for _, a := range odd {
		for _, b := range odd {
			for _, c := range odd[:4] {
				all = append(all, []float64{a, c, b, 0.5 * c}, []float64{0, a, c, b})
			}
		}
	}
	for _, most := range []float64{1, 1.25, 0.5} {
		q := boundedGainsQuantiser{Positions: 2, Elements: 2, Most: most}
		for _, exp := range []int{-2, -3, -6} {
			g := lattice.Grid{Exp: exp, Lambda: int64(math.Floor(math.Ldexp(q.Component().Clip, -exp)))}
			near, far := q.Distances(g)
			replace, zeroOut := mechtest.LargestDistances(g, q, 4, all)
			if replace > near.Lo || zeroOut > far.Lo || zeroOut > uint64(g.Lambda*g.Lambda) {
				t.Errorf("M = %g, 2^%d: √%d and √%d apart, said √%d and √%d", most, exp, replace, zeroOut, near.Lo, far.Lo)
			}
			if exp == -6 && (float64(replace) < 0.95*float64(near.Lo) || float64(zeroOut) < 0.95*float64(far.Lo)) {
				t.Errorf("M = %g, 2^%d: √%d and √%d are much less than √%d and √%d", most, exp, replace, zeroOut, near.Lo, far.Lo)
			}
		}
	}
}

// TestBoundedGainsReachTheirSensitivity checks contributions on the lattice of a plan. Contributions of canaries must
// reach the calibrated distance √(2k)·M, and no other contributions may exceed it.
func TestBoundedGainsReachTheirSensitivity(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 9))
	for _, kind := range kinds {
		c, m, p := config(t, kind.m, kind.lines...)
		if c.length == 0 || len(c.types) > 0 {
			continue // TestCanariesReachTheSensitivity covers these
		}
		model, size := &reference{operator: c, params: p}, c.component(m).Size
		model.Begin()
		values := make([][]float64, 40)
		for i := range values {
			values[i] = make([]float64, size)
			for k := range values[i] {
				values[i][k] = 3 * rng.NormFloat64()
			}
		}
		if c.rule == byShares { // at the start all copies have the first set, whose elements then gain less
			clear(model.points)
		}
		with, without := model.Canary([]float64{1}, 1)
		model.Contribution(values[0], with)
		model.Contribution(values[1], without)
		mechtest.DistancesAreReached(t, c.component(m).Quantiser, mechtest.Plan(t, m).Component(0).Grid, size, values...)
	}
}

// TestLengthsOfLists checks that the length bound of a list is the length of its longest event. Gains of events in the
// list must never be scaled down, and the stream's noise must be calibrated to √(2k)·M. A list whose events value
// nearly all elements keeps gains centred on ½.
func TestLengthsOfLists(t *testing.T) {
	budget := optest.Life(64)
	sd := func(lines ...string) (float64, float64, operator) {
		t.Helper()
		c, m, _ := config(t, budget, lines...)
		deviation, err := mechtest.Open(t, m, [32]byte{1}).Deviation(0, 64)
		if err != nil {
			t.Fatal(err)
		}
		return deviation.Worst(), c.length, c
	}
	for _, kind := range [][]string{
		{"RULE=argmax", "PICK=3", "PLACES=towns", "CATCHMENT=2000"},
		{"RULE=argmax", "PICK=2", "TYPES=segments"},
		{"RULE=argmax", "PICK=2", "TYPES=segments", "FUNCTION=quadratic"},
	} {
		listed, length, c := sd(kind...)
		_, m, p := config(t, budget, kind...)
		longest, grid, part := 0.0, mechtest.Plan(t, m).Component(0).Grid, c.component(m)
		machine, err := newMachine(c, p, mechtest.ZeroStream(t, m))
		if err != nil {
			t.Fatal(err)
		}
		for j := range c.types {
			gains := slices.Clone(machine.contribution(atPlace(j)))
			first, added := 0.0, make([]int64, part.Size)
			for _, g := range gains[:c.elements] {
				first += g * g
			}
			longest = max(longest, math.Sqrt(first))
			part.Quantiser.Quantise(grid, added, gains)
			for i, x := range added {
				if math.Abs(float64(x)*grid.Unit()-gains[i]) > 2*grid.Unit() {
					t.Errorf("%v: type %d gains %g, and %g is added", kind, j, gains[i], float64(x)*grid.Unit())
				}
			}
		}
		if math.Abs(length/longest-1) > 1e-9 {
			t.Errorf("%v: M = %g, the longest event has %g", kind, length, longest)
		}
		c.types = nil
		about, _, _ := sd("RULE=argmax", "PICK=2", "ELEMENTS=4")
		want := math.Sqrt(2*float64(c.pick)) * length / math.Sqrt(8)
		if math.Abs(listed/about/want-1) > 1e-5 {
			t.Errorf("%v: noise is %g times that of √8, want %g", kind, listed/about, want)
		}
	}
	// The list has all airports where flights from New York end, with catchments of 1 000 km. The sensitivity is half
	// of the sensitivity of unbounded gains.
	for pick, want := range map[int]float64{3: 8.948, 5: 11.55} {
		airports, err := os.ReadFile("../../deploy/examples/airports.txt")
		if err != nil {
			t.Fatal(err)
		}
		c, err := configOf(string(airports), budget, "RULE=argmax", "PICK="+strconv.Itoa(pick), "PLACES=given")
		if err != nil {
			t.Fatal(err)
		}
		if got := math.Sqrt(2*float64(pick)) * c.lengthOf(budget); math.Abs(got-want) > 0.005 {
			t.Errorf("%d airports: an exchange moves sums by %g, want %g", pick, got, want)
		}
		if published := c.Describe(budget).Distance; pick == 3 && !strings.Contains(published, "√6·3.653 = 8.948") {
			t.Errorf("plan says %q", published)
		}
	}
	few, _, _ := sd("RULE=argmax", "PICK=2", "ELEMENTS=50", "VALUES_NORM=1")
	all, _, _ := sd("RULE=argmax", "PICK=2", "ELEMENTS=50")
	if math.Abs(all/few/5-1) > 1e-6 {
		t.Errorf("of one of 50 elements noise is %g, of any %g: want a fifth", few, all)
	}
	if _, length, _ := sd("RULE=argmax", "PICK=2", "PLACES=towns", "CATCHMENT=20000", "FUNCTION=modular"); length > 0 {
		t.Errorf("places that want all places have a length of %g, and gains about ½ move less", length)
	}
	c, m, _ := config(t, budget, "RULE=argmax", "PICK=3", "PLACES=towns", "CATCHMENT=2000")
	if d := c.Describe(m); !strings.Contains(d.Distance, "of a length of") {
		t.Errorf("plan says %q", d.Distance)
	}
	m.Unit = protection.Event{Exchange: dp.ZeroOut}
	if c.length < 1 || c.lengthOf(m) >= math.Sqrt(7)/2 {
		t.Errorf("M = %g, against the null event %g", c.length, c.lengthOf(m))
	}
}

// TestLengthsChangeNoSets checks that, without noise, sets and shares equal the sets and shares with gains centred on
// ½, as long as events are within the length. With the printed rate, leaders draw from sharper points, because H is
// proportional to the sensitivity. With the tight rate, H² has 2M² in place of N − 1.
func TestLengthsChangeNoSets(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 33))
	for _, lines := range [][]string{
		{"RULE=argmax", "PICK=3", "ELEMENTS=9", "EMIT_EVERY=3"},
		{"RULE=argmax", "PICK=3", "ELEMENTS=9", "EMIT_EVERY=1", "FUNCTION=saturating"},
	} {
		open := func(more ...string) *Machine {
			c, m, p := config(t, optest.Life(64), append(slices.Clone(lines), more...)...)
			machine, err := newMachine(c, p, mechtest.ZeroStream(t, m))
			if err != nil {
				t.Fatal(err)
			}
			return machine
		}
		about, short := open(), open("VALUES_NORM=2")
		countedAbout := operators.ByCount(about)
		countedShort := operators.ByCount(short)
		for i := range 300 {
			v := event.Vector{
				Indices: []int32{int32(rng.IntN(3)), int32(3 + rng.IntN(6))}, Values: []float64{rng.Float64(), rng.Float64()},
			}
			r := operators.Record{Event: event.Event{Vector: v}}
			r.Identity.Offset = int64(i)
			a, b := countedAbout.Add(nil, r), countedShort.Add(nil, r)
			for k, d := range a {
				for j, x := range d.Point {
					if x != b[k].Point[j] {
						t.Fatalf("%v, event %d: %v, and with a length %v", lines, i, d.Point, b[k].Point)
					}
				}
			}
		}
	}
	// √8 with the printed rate, √2 with the tight rate.
	for rate, want := range map[string]float64{"printed": 2, "tight": math.Sqrt(7.0 / 2)} {
		lines := []string{"RULE=leaders", "PICK=2", "ELEMENTS=8", "RATE=" + rate}
		_, _, about := config(t, pure(64, 40), lines...)
		_, _, short := config(t, pure(64, 40), append(lines, "VALUES_NORM=1")...)
		if math.Abs(about.strength/short.strength/want-1) > 1e-12 {
			t.Errorf("%s: H = %g, with a length of 1 %g: want %g times as much", rate, about.strength, short.strength, want)
		}
	}
}
