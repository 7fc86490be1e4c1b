package submodular

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/mechtest/goldentest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/optest"
)

func TestConformance(t *testing.T) {
	batches := []uint64{1, 3}
	for i, kind := range kinds {
		for _, batch := range tiertest.Runs(batches[i%2:i%2+1], batches) {
			kind.m.Batch = batch
			c, m, _ := config(t, kind.m, kind.lines...)
			t.Run(kind.name, func(t *testing.T) {
				optest.Run(t, optest.Of(t, c, m), drawn(c, 40, batch))
			})
		}
	}
}

// TestGoldenDecisions checks that no change alters decisions without noise unintentionally. Golden tests of the noise
// are in mechanisms.
func TestGoldenDecisions(t *testing.T) {
	want := map[string]string{
		"histogram for life": "34192adec2fdaa87fe60d57c7e72d524",
		"histogram, pure":    "fe0966047c77809d5017016cb7b64587",
		"histogram of types": "23a90571bd303d0d12472ff0b465188b",
		"argmax for life":    "dedd94423f0ea88869a9f5dc4a6ff545",
		"argmax, window":     "beff36ded5d2961bbd63c191da641e0a",
		"argmax, tree":       "913c627473bdb99be5bfce037ffe00f7",

		"argmax, saturating": "26045d00a6dab25e5cd7256a5eda65b5",

		"shares for life":   "a5dc6b886c078149c37c796dc65e577d",
		"shares, pure":      "d929b751e60976af1023d01a6a5e353b",
		"shares, modular":   "de62aabe4729e7d3fa91fe9f0b8ddf23",
		"argmax, quadratic": "e2da3a731cabae7a602ca80e38f2717c",
		"shares, quadratic": "fbdd00154d3449b44cacc5910105b7e5",
		"leaders for life":  "9ea8122da0e78b6cfcc8ea22aff7e9ff",
		"leaders, pure":     "9867fb3517dc2b534c30707bdb015f8b",

		"argmax of places":    "ffff557afb24507fb957a0fc4a398bd8",
		"argmax of types":     "46b21b628f0271e7c4647663e1ba4803",
		"argmax of a length":  "398827a47923fb077a18f23cb0cce3de",
		"leaders of a length": "17db081c0b70ec5f370c5b96bed8a06a",
		"shares of a length":  "2867f69330ca9ac00fc4190fc8ee1884",

		"draws":                       "6d1f75fa14ddcc2ae4992d31369385f4",
		"draws of places, as printed": "e2bbc9969480cf97b51738730a6c6c05",
	}
	for _, kind := range kinds {
		kind.m.Batch = 2
		c, m, p := config(t, kind.m, kind.lines...)
		machine, err := newMachine(c, p, mechtest.ZeroStream(t, m))
		if err != nil {
			t.Fatal(err)
		}
		counted := operators.ByCount(machine)
		digest := goldentest.NewDigest()
		for _, e := range drawn(c, 200, 11) {
			for _, d := range counted.Add(nil, operators.Record{Event: e}) {
				digest.Numbers(d.Point...)
				for _, extra := range d.Extras {
					digest.Numbers(extra.Number)
					digest.Text(extra.Text)
				}
			}
		}
		if got := digest.String(); got != want[kind.name] {
			t.Errorf("%s: %s, stored %s", kind.name, got, want[kind.name])
		}
	}
}

// TestGreedyIsWithinItsFactorOfTheBest checks greedy sets against the definition, with a function of complete sets. The
// best set's value must be at most the greedy set's value divided by the factor that the plan prints.
func TestGreedyIsWithinItsFactorOfTheBest(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 60 {
		for f := range function(len(functions)) {
			const types, elements = 4, 7
			pick := 1 + rng.IntN(4)
			c := operator{function: f, elements: elements, pick: pick, types: make([]place, types)}
			table, counts := make([]float64, types*elements), make([]float64, types)
			for i := range table {
				table[i] = float64(rng.IntN(4)) / 4
			}
			for j := range counts {
				counts[j] = 10 * rng.Float64()
			}
			model := &reference{operator: c}
			totalValue := func(set []int) (sum float64) {
				for j, n := range counts {
					sum += n * model.value(table[j*elements:][:elements], set)
				}
				return sum
			}
			g := newGreedy(f, types, elements, pick)
			set, value := g.weighted(table, counts)
			if math.Abs(value-totalValue(set)) > 1e-9 {
				t.Fatalf("%s: greedy says %g, the set is worth %g", functions[f], value, totalValue(set))
			}
			for i := range set {
				for a := range elements {
					if !slices.Contains(set[:i], a) && totalValue(append(slices.Clone(set[:i]), a)) > totalValue(set[:i+1])+1e-9 {
						t.Fatalf("%s: at position %d element %d is better than %d", functions[f], i, a, set[i])
					}
				}
			}
			best := 0.0
			for mask := range 1 << elements {
				var other []int
				for a := range elements {
					if mask>>a&1 == 1 {
						other = append(other, a)
					}
				}
				if len(other) == pick {
					best = max(best, totalValue(other))
				}
			}
			if value < c.factor()*best-1e-9 {
				t.Fatalf("%s: greedy has %g of %g", functions[f], value, best)
			}
		}
	}
}

// TestFunctionsAreSubmodular checks that every function is monotone and submodular, with values in [0, 1].
func TestFunctionsAreSubmodular(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for range 400 {
		v := make([]float64, 5)
		for i := range v {
			v[i] = rng.Float64()
		}
		for f := range function(len(functions)) {
			model := &reference{operator: operator{function: f, elements: 5, pick: 3}}
			small, more, a := []int{0}, []int{0, 1}, 2
			gain, later := model.value(v, append(slices.Clone(small), a))-model.value(v, small),
				model.value(v, append(slices.Clone(more), a))-model.value(v, more)
			if gain < later-1e-12 || later < -1e-12 || model.value(v, []int{0, 1, 2}) > 1+1e-12 {
				t.Fatalf("%s of %v: gains %g, later %g", functions[f], v, gain, later)
			}
		}
	}
}

// TestReferenceModelMatchesMachine compares the contribution of a record in the reference model with the machine's, for
// events of all kinds.
func TestReferenceModelMatchesMachine(t *testing.T) {
	for _, kind := range kinds {
		c, m, p := config(t, kind.m, kind.lines...)
		every := c.EmitAll().(operator)
		machine, err := newMachine(every, p, mechtest.Open(t, m, [32]byte{5}))
		if err != nil {
			t.Fatal(err)
		}
		model := &reference{operator: every, params: p}
		optest.ReferenceAgrees(t, kind.name, machine, machine.contribution, model, m.Contribution.Entries(), drawn(c, 100, 3))
	}
}

// TestDistances checks the declared distances for all events, on lattices of all kinds. Canaries must come close to
// them, and so must a contribution's distance from zero. Two planted faults must exceed them: gains without a clamp,
// and a type that is counted twice.
func TestDistances(t *testing.T) {
	far := func(a, b []int64) (sum float64) {
		for i := range a {
			sum += float64(a[i]-b[i]) * float64(a[i]-b[i])
		}
		return sum
	}
	rng := rand.New(rand.NewPCG(8, 8))
	odd := []float64{0.5, -0.5, 0.3, 1e300, -7, math.NaN(), math.Inf(1), 0, 2, 0.9}
	for _, exp := range []int{-1, -2, -3, -7, -20} {
		for _, q := range []interface {
			Entries() int
			Distances(g lattice.Grid) (replace, zeroOut lattice.Int128)
			Quantise(g lattice.Grid, dst []int64, v []float64)
		}{typeQuantiser{Types: 4}, gainsQuantiser{Size: 6}, gainsQuantiser{Size: 4}} {
			grid := lattice.Grid{Exp: exp, Lambda: int64(math.Ceil(math.Ldexp(1.2, -exp)))}
			replace, zeroOut := q.Distances(grid)
			size := map[bool]int{true: 4, false: q.Entries()}[q.Entries() == 1]
			draw := func() []int64 {
				v := make([]float64, q.Entries())
				for i := range v {
					v[i] = odd[rng.IntN(len(odd))]
					if q.Entries() == 1 && rng.IntN(2) == 0 {
						v[i] = float64(rng.IntN(6) - 1)
					}
				}
				dst := make([]int64, size)
				q.Quantise(grid, dst, v)
				return dst
			}
			most, longest := 0.0, 0.0
			for range 3000 {
				a, b := draw(), draw()
				most, longest = max(most, far(a, b)), max(longest, far(a, make([]int64, size)))
			}
			if most > float64(replace.Lo) || longest > float64(zeroOut.Lo) || longest > float64(grid.Lambda*grid.Lambda) {
				t.Errorf("%+v, 2^%d: %g and %g apart, said %v and %v", q, exp, most, longest, replace, zeroOut)
			}
		}
	}
}

// TestCanariesReachTheSensitivity checks that canaries are at the largest distance that events can have: √2 for types;
// √(kN) for gains, reduced for the (k−1)² gains that no event can have together with the others.
func TestCanariesReachTheSensitivity(t *testing.T) {
	for _, kind := range kinds {
		c, m, p := config(t, kind.m, kind.lines...)
		model := &reference{operator: c, params: p}
		model.Begin()
		if len(c.types) == 0 {
			model.set = []int{4, 1, 2}[:c.pick]
		}
		if c.length > 0 {
			continue // TestBoundedGainsReachTheirSensitivity covers these
		}
		for _, sign := range []float64{1, -1} {
			u := make([]float64, m.Contribution.Entries())
			u[0] = sign
			with, without := model.Canary(u, 1)
			a, b := make([]float64, m.Contribution.Entries()), make([]float64, m.Contribution.Entries())
			model.Contribution(a, with)
			model.Contribution(b, without)
			if len(c.types) > 0 {
				if slices.Equal(a, b) {
					t.Errorf("%s: both canaries are of type %g", kind.name, a[0])
				}
				continue
			}
			sum := 0.0
			for i := range a {
				sum += (a[i] - b[i]) * (a[i] - b[i])
			}
			k, size := float64(c.pick), float64(c.component(m).Size)
			want := size - (k-1)*(k-1)
			if c.function == modular { // all elements except those in the set
				want = size - k*(k-1)/2
			}
			shares := c.rule == byShares
			for i := 1; c.function == quadratic && !shares && i < c.pick-1; i++ { // elements of the set still gain
				gain := (2*(k-float64(i)) - 1) / (2*k - 1)
				want += (k - 1 - float64(i)) * gain * gain
			}
			if shares && c.function == modular {
				want = size
			} else if shares { // elements of the set gain less for copies after the ones that contain them
				for i := range p.copies {
					want -= k * (1 - math.Pow(1-float64(i)/float64(p.copies), 2*(k-1)))
				}
				want += (k - 1) * (k - 1)
			}
			if math.Abs(sum-want) > 1e-9 {
				t.Errorf("%s: canaries are √%g apart, want √%g", kind.name, sum, want)
			}
		}
	}
}

// TestSettingsAreRefused checks that invalid settings are refused, each by its name.
func TestSettingsAreRefused(t *testing.T) {
	base := []string{"RULE=histogram", "PICK=2", "PLACES=towns"}
	for _, line := range []string{
		"VALUES_NORM=1", "RULE=best", "PICK=0", "PICK=7", "PLACES=", "ELEMENTS=5", "CATCHMENT=0", "EMIT_EVERY=0",
		"FUNCTION=none", "TYPES=segments",
	} {
		if _, err := configOf(towns, optest.Life(16), append(slices.Clone(base), line)...); err == nil {
			t.Errorf("%s is taken", line)
		}
	}
	for _, places := range []string{
		"a:1:2\na:3:4\n", "a:1:2\n", "a:91:0\nb:1:1\nc:1:2\n", "a,b:1:1\nb:1:1\nc:1:2\n", "a:1\nb:1:1\nc:2:2\n",
	} {
		if _, err := configOf(places, optest.Life(16), base...); err == nil {
			t.Errorf("places %q are taken", places)
		}
	}
	for _, types := range []string{
		"a:0.1:0.2\n", "a:0.1:0.2:1.1\nb:0:0:0\n", "a:0.1:0.2:0.3\nb:0.1:0.2\n", "a:0.5\nb:0.5\n", "a:0:0:1\na:1:0:0\n",
		":0:0:1\nb:1:0:0\n",
	} {
		file := filepath.Join(t.TempDir(), "types")
		if err := os.WriteFile(file, []byte(types), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := configOf(towns, optest.Life(16), "RULE=histogram", "PICK=2", "TYPES="+file); err == nil {
			t.Errorf("types %q are taken", types)
		}
	}
	m := optest.Life(0)
	m.Name = "once-gaussian"
	if _, err := configOf(towns, m, base...); err == nil {
		t.Error("single steps are taken")
	}
	values := []string{"RULE=draws", "PICK=2", "ELEMENTS=5"}
	for _, wrong := range []struct {
		m     mechanisms.Config
		lines []string
	}{
		{optest.Life(16), values},
		{lifetime(2000, 1), base},
		{lifetime(2000, 1), []string{"RULE=argmax", "PICK=2", "ELEMENTS=5"}},
		{optest.Life(16), append(slices.Clone(base), "RATE=printed")},
		{optest.Life(16), []string{"RULE=argmax", "PICK=2", "ELEMENTS=5", "VALUES_NORM=1.6"}},
		{optest.Life(16), []string{"RULE=argmax", "PICK=2", "ELEMENTS=5", "VALUES_NORM=-1"}},
		{lifetime(2000, 1), append(slices.Clone(values), "VALUES_NORM=1")},
		{lifetime(2000, 1), append(slices.Clone(values), "RATE=fast")},
	} {
		if _, err := configOf(towns, wrong.m, wrong.lines...); err == nil {
			t.Errorf("%s: %v is taken", wrong.m.Name, wrong.lines)
		}
	}
	c, err := configOf(towns, lifetime(999, 1), values...)
	if err != nil {
		t.Fatal(err)
	}
	// Two mechanisms must be refused: one whose stream is shorter than a period, and one that releases sums.
	for _, m := range []mechanisms.Config{lifetime(999, 1), optest.Life(16)} {
		if err := c.Require(&m, nil); err == nil {
			t.Errorf("draws over %s of %s are taken", m.Name, m.Words().Length)
		}
	}
	c, m, p := config(t, optest.Life(16), base...)
	optest.RunTerms(t, m, protection.Decay{Steps: 32}, func(stream *mechanisms.Stream) error {
		_, err := newMachine(c, p, stream)
		return err
	})
	good := c.encode(p)
	for i := range good {
		if _, err := c.read(good[:i]); err == nil {
			t.Fatalf("a plan cut at %d is taken", i)
		}
	}
	if _, err := c.Open(append(good, 0), nil); err == nil {
		t.Error("a longer plan is taken")
	}
}

// TestDistancesOfPlaces checks that New York and Los Angeles are 3 936 km apart along the great circle. A place beyond
// the catchment has value 0, and the event's own place has value 1.
func TestDistancesOfPlaces(t *testing.T) {
	york, angeles := place{latitude: 40.7128, longitude: -74.006}, place{latitude: 34.0522, longitude: -118.2437}
	if km := distance(york, angeles); math.Abs(km-3936) > 1 {
		t.Errorf("%g km", km)
	}
	table := values([]place{york, angeles}, 10000)
	if table[0] != unit || table[1] != table[2] || math.Abs(float64(table[1])/unit-0.6064) > 1e-3 {
		t.Errorf("values %v", table)
	}
	if beyond := values([]place{york, angeles}, 1000); beyond[1] != 0 {
		t.Errorf("values %v", beyond)
	}
}

// TestTypesHaveTheirValues checks that the values of types equal the values in their file, to 2⁻²⁰.
func TestTypesHaveTheirValues(t *testing.T) {
	c, _, p := config(t, optest.Window("blt"), "RULE=histogram", "PICK=2", "TYPES=segments")
	if c.elements != 5 || !slices.Equal(p.names, []string{"young", "old", "none"}) || len(p.table) != 15 {
		t.Fatalf("%d elements, types %v, %d values", c.elements, p.names, len(p.table))
	}
	for i, v := range []float64{0.5, 0.1, 0, 0.25, 1, 0, 0.3, 0.9, 0.25, 0.5, 0, 0, 0, 0.1, 0} {
		if math.Abs(p.table[i]-v) > 0.5/unit {
			t.Errorf("value %d is %g, want %g", i, p.table[i], v)
		}
	}
}

// TestAddAllocatesNothing checks that a step allocates no more than a stream without a machine, unless it publishes a
// set with names.
func TestAddAllocatesNothing(t *testing.T) {
	for _, kind := range kinds {
		c, m, p := config(t, kind.m, kind.lines...)
		c.every = 1 << 20
		machine, err := newMachine(c, p, mechtest.Open(t, m, [32]byte{1}))
		if err != nil {
			t.Fatal(err)
		}
		optest.AllocatesNoMore(t, kind.name, machine, m, drawn(c, 64, 1))
	}
}

func BenchmarkAdd(b *testing.B) {
	for _, kind := range []struct {
		name  string
		lines []string
	}{
		{"histogram/N=7/k=5", []string{"RULE=histogram", "PICK=5", "PLACES=towns"}},
		{"argmax/N=10/k=3", []string{"RULE=argmax", "PICK=3", "ELEMENTS=10"}},
		{"argmax/N=100/k=5", []string{"RULE=argmax", "PICK=5", "ELEMENTS=100"}},
		{"argmax/N=1000/k=5", []string{"RULE=argmax", "PICK=5", "ELEMENTS=1000"}},
		{"leaders/N=100/k=5", []string{"RULE=leaders", "PICK=5", "ELEMENTS=100"}},
		{"shares/N=100/k=5/K=5", []string{"RULE=shares", "PICK=5", "ELEMENTS=100", "COPIES=5"}},
	} {
		b.Run(kind.name, func(b *testing.B) { benchmark(b, optest.Life(65536), kind.lines...) })
	}
}

// BenchmarkGreedy measures finding the set for the counts of some number of types, which happens once in
// ORIEL_EMIT_EVERY steps.
func BenchmarkGreedy(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("N=%d/k=5", n), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 1))
			table, counts := make([]float64, n*n), make([]float64, n)
			for i := range table {
				table[i] = rng.Float64()
			}
			for i := range counts {
				counts[i] = rng.Float64()
			}
			g := newGreedy(facility, n, n, 5)
			for b.Loop() {
				g.weighted(table, counts)
			}
		})
	}
}

// benchmark measures adding one event, and its decision.
func benchmark(b *testing.B, kind mechanisms.Config, lines ...string) {
	c, m, p := config(b, kind, lines...)
	machine, err := newMachine(c, p, mechtest.Open(b, m, [32]byte{1}))
	if err != nil {
		b.Fatal(err)
	}
	counted := operators.ByCount(machine)
	events, dst, i := drawn(c, 1024, 1), make([]operators.Decision, 0, 1), 0
	b.ReportAllocs()
	for b.Loop() {
		dst = counted.Add(dst[:0], operators.Record{Event: events[i%1024], Identity: noise.Identity{Offset: int64(i)}})
		i++
	}
}

// TestGainsWithoutANumberCountNothing checks that no gain of an event counts if one of them is NaN.
func TestGainsWithoutANumberCountNothing(t *testing.T) {
	grid, dst := lattice.Grid{Exp: -20, Lambda: 1 << 20}, make([]int64, 3)
	gainsQuantiser{Size: 3}.Quantise(grid, dst, []float64{0.5, -0.5, 0.25})
	if dst[0] <= 0 || dst[1] != -dst[0] || dst[2] == 0 {
		t.Errorf("gains are %d", dst)
	}
	clear(dst)
	gainsQuantiser{Size: 3}.Quantise(grid, dst, []float64{0.5, -0.5, math.NaN()})
	if dst[0] != 0 || dst[1] != 0 || dst[2] != 0 {
		t.Errorf("gains of which one is NaN are %d", dst)
	}
}
