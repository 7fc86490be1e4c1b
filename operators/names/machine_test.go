package names

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
	counted "oriel/mechanisms/names"
	"oriel/operators"
	"oriel/schemas/decision"
	"oriel/schemas/text"
)

// decided returns the decision of a machine whose stream has published these counts.
func decided(m *Machine, published ...counted.Listed) shown {
	m.decide(published)
	return read(operators.Decision{Point: m.point[:], Extras: m.extras})
}

func listed(name string, y int64) counted.Listed { return counted.Listed{Name: []byte(name), Count: y} }

// TestListIsInOrder checks the order of a list, its end, and the interval of each name. A name of the list that comes
// before the cut's name was published given y ≥ cut, and another one given y > cut.
func TestListIsInOrder(t *testing.T) {
	_, open := opened(t, under("once-laplace", 1, 0), "NAMES_MAX=3")
	m := open(1)
	law := m.law
	entry := func(name string, y, floor int64) decision.Entry {
		low, high := law.Interval(y, floor, alpha)
		return decision.Entry{Name: name, Count: uint64(y), Low: uint64(low), High: uint64(high)}
	}
	want := shown{threshold: 15, deviation: law.Deviation}
	got := decided(m)
	if len(got.list) > 0 || got.all != 0 || got.more != 0 || got.cut != 0 || got.threshold != 15 {
		t.Errorf("of no name: %+v", got)
	}
	got = decided(m, listed("a", 15), listed("b", 40), listed("c", 15))
	want.list = []decision.Entry{entry("b", 40, 15), entry("a", 15, 15), entry("c", 15, 15)}
	if want.all = 3; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	got = decided(m, listed("a", 17), listed("b", 40), listed("c", 17), listed("d", 17), listed("e", 18))
	want.list = []decision.Entry{entry("b", 40, 18), entry("e", 18, 18), entry("a", 17, 17)}
	if want.all, want.more, want.cut = 5, 2, 17; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if m.extras[0].List[0].Low < 1 {
		t.Error("a published name may have no event")
	}
}

// TestListFitsARecord checks that a list ends before the first name for which it would take more than 1 MB in JSON,
// which is its longest encoding, however the names are escaped. A smaller name behind it must not be listed.
func TestListFitsARecord(t *testing.T) {
	built, open := opened(t, under("once-laplace", 1, 0), "NAMES_MAX=10000")
	m := open(1)
	var all []counted.Listed
	for i := range 10_000 {
		name := fmt.Sprintf("%05d", i)
		if i < 4000 {
			name += strings.Repeat(`"`, text.MaxNameBytes-len(name))
		}
		all = append(all, listed(name, int64(math.MaxInt64>>1-i)))
	}
	got := decided(m, all...)
	n := len(got.list)
	if n == 0 || n >= 4000 || got.more != float64(len(all)-n) || got.cut != float64(all[n].Count) {
		t.Fatalf("%d names, more %g, cut %g", n, got.more, got.cut)
	}
	for e := range decision.Encodings {
		c := decision.Config{
			Stream: "words", Mechanism: "once-laplace", Adjacency: "add-remove", Unit: "event", Encoding: decision.Encoding(e),
		}
		size := len(decision.NewEncoder(c, built.Extras()).AppendTimed(nil, 1, 1, 1, m.point[:], m.extras))
		if size > 1<<20-10_000 || decision.Encoding(e) == decision.JSON && size < 900_000 {
			t.Errorf("%s: a decision of %d bytes", decision.Encodings[e], size)
		}
	}
	if got := decided(m, all[4000:]...); len(got.list) != 6000 || got.more != 0 {
		t.Errorf("%d short names, more %g", len(got.list), got.more)
	}
}

// TestDecisionsFollowFromPublishedCounts checks that two machines with other histories make equal decisions of equal
// published counts.
func TestDecisionsFollowFromPublishedCounts(t *testing.T) {
	_, open := opened(t, under("once-laplace", 1, 0), "NAMES_MAX=5")
	m, other := open(1), open(2)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		closeStep(other, rng, map[string]int{numbered(rng.IntN(9)): 100, numbered(rng.IntN(9)): 30})
		var published []counted.Listed
		for i := range rng.IntN(9) {
			published = append(published, listed(numbered(i), 15+rng.Int64N(20)))
		}
		if a, b := fmt.Sprint(decided(m, published...)), fmt.Sprint(decided(other, published...)); a != b {
			t.Fatalf("%s\n%s", a, b)
		}
	}
}

// TestIntervalsCover counts how often the intervals of listed names have the true count, with room for all names and
// with a cut. The share must be 95 % at least, within 5 standard errors, and so must that of the last name of the list,
// which was nearly not listed.
func TestIntervalsCover(t *testing.T) {
	steps := tiertest.Runs(400, 20_000)
	rng := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		mechanism string
		epsilon   float64
		lines     []string
	}{
		{"once-laplace", 1, nil},
		{"once-laplace", 0.3, []string{"NAMES_MAX=4"}},
		{"once-gaussian", 1, []string{"NAMES_MAX=4"}},
	} {
		_, open := opened(t, under(c.mechanism, c.epsilon, 0), c.lines...)
		m := open(7)
		hits, all, last, lasts := 0.0, 0.0, 0.0, 0.0
		for range steps {
			counts := map[string]int{}
			for i := range 10 {
				counts[numbered(i)] = int(m.law.Threshold) - 3 + rng.IntN(6)
			}
			list := closeStep(m, rng, counts).list
			for i, x := range list {
				hit := 0.0
				if n := uint64(counts[x.Name]); x.Low <= n && n <= x.High {
					hit = 1
				}
				if hits, all = hits+hit, all+1; i == len(list)-1 {
					last, lasts = last+hit, lasts+1
				}
			}
		}
		for what, x := range map[string][2]float64{"names": {hits, all}, "last names": {last, lasts}} {
			if share := x[0] / x[1]; share < 0.95-5*math.Sqrt(0.05*0.95/x[1]) || x[1] < 100 {
				t.Errorf("%s, ε = %g: intervals of %g %s cover %.4f", c.mechanism, c.epsilon, x[1], what, share)
			}
		}
	}
}

// TestLonelyNamesAreRare counts the published names of single events, at a δ that lets some appear. Their number must
// be within 5 standard errors of q for each.
func TestLonelyNamesAreRare(t *testing.T) {
	steps := tiertest.Runs(30, 5000)
	c := under("once-laplace", 1, 0)
	c.Budget.Delta = 0.01
	_, open := opened(t, c)
	m := open(9)
	rng := rand.New(rand.NewPCG(5, 6))
	shown := 0.0
	for range steps {
		counts := map[string]int{}
		for i := range 2000 {
			counts[numbered(i)] = 1
		}
		shown += closeStep(m, rng, counts).all
	}
	all, q := float64(2000*steps), m.law.Leak
	if away := 5 * math.Sqrt(all*q*(1-q)); math.Abs(shown-all*q) > away || q > 0.01 || q < 0.003 {
		t.Errorf("%g of %g lonely names are published, want %g ± %g", shown, all, all*q, away)
	}
}

// TestNamesAreAnyText publishes names that are JSON, formulas, markup, of 256 bytes, or look alike. Each must be one
// name, and the same in every encoding.
func TestNamesAreAnyText(t *testing.T) {
	c := under("once-laplace", 12, 0)
	built, open := opened(t, c)
	names := []string{
		`{"name":"x"}`, `","count":1,"low":1,"high":1},{"name":"`, "=1+1", "@SUM(A1)", "-2", "+3", "<script>", `\`, "a,b\"c",
		strings.Repeat("x", text.MaxNameBytes), strings.Repeat("é", text.MaxNameBytes/2), "apple", "\u0430pple", "Apple",
		"\u200bapple", "null", " ", "\U0001f600",
	}
	counts := map[string]int{}
	for i, name := range names {
		counts[name] = 20 + i
	}
	m := open(3)
	got := closeStep(m, rand.New(rand.NewPCG(1, 1)), counts)
	if len(got.list) != len(names) {
		t.Fatalf("%d names", len(got.list))
	}
	for _, x := range got.list {
		if n := uint64(counts[x.Name]); x.Low > n || x.High < n {
			t.Errorf("%q: %d, %d to %d, want %d", x.Name, x.Count, x.Low, x.High, n)
		}
	}
	for e := range decision.Encodings {
		config := decision.Config{
			Stream: "words", Mechanism: "once-laplace", Adjacency: "add-remove", Unit: "event", Encoding: decision.Encoding(e),
		}
		d, err := decision.Parse(decision.NewEncoder(config, built.Extras()).AppendTimed(nil, 1, 1, 1, m.point[:], m.extras))
		if err != nil {
			t.Fatal(err)
		}
		values, err := declare().Read(d.Extras)
		if err != nil || !slices.Equal(declare().names.Of(values), got.list) {
			t.Errorf("%s: %v, %+v", decision.Encodings[e], err, values)
		}
	}
}

// TestDescriptorNamesNoName checks what the public descriptor says.
func TestDescriptorNamesNoName(t *testing.T) {
	built, _ := opened(t, under("once-laplace", 1, 4), "PERSON_NAMES=4", "NAMES_MAX=7")
	var d map[string]any
	err := json.Unmarshal(built.Descriptor(), &d)
	if err != nil || d["names_of_a_person"] != 4.0 || d["longest_list"] != 7.0 {
		t.Errorf("%v, %v", err, d)
	}
	events, _ := opened(t, under("once-laplace", 1, 0))
	if strings.Contains(string(events.Descriptor()), "person") {
		t.Errorf("%s", events.Descriptor())
	}
}
