package numbers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/numbers/clock"
	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/names"
	"oriel/operators/optest"
	"oriel/schemas/decision"
	"oriel/schemas/event"
)

// naming plays steps of names with true counts, and gives each decision to take.
func naming(
	t *testing.T, mechanism string, most string, steps int, count func(step, name int) int,
	take func(step int, d decision.Decision),
) (descriptor []byte) {
	t.Helper()
	c := mechanisms.Config{
		Name: mechanism, Budget: dp.Budget{Epsilon: 1, Delta: 1e-6}, Contribution: contribution.OfNames(256),
		Terms: protection.Terms{Scope: protection.PerStep{}, Unit: protection.Event{Exchange: dp.AddRemove}},
	}
	v := optest.Values(names.Definition, c, "NAMES_MAX="+most)
	v.Step = 3600
	operator, err := names.Definition.New(v)
	if err != nil {
		t.Fatal(err)
	}
	m, err := operator.Open(nil, mechtest.Open(t, c, [32]byte{8}))
	if err != nil {
		t.Fatal(err)
	}
	encoder := decision.NewEncoder(decision.Config{
		Stream: "t", Mechanism: mechanism, Epsilon: m.Guarantee().Epsilon, Delta: 1e-6, Adjacency: "add-remove", Unit: "event",
		Seconds: 3600,
	}, operator.Extras())
	for step := range steps {
		offset := int64(0)
		for name := range 8 {
			for range count(step, name) {
				m.Add(operators.Record{
					Identity: noise.Identity{Offset: int64(step)<<32 + offset},
					Event:    event.Event{Name: fmt.Appendf(nil, "name %d", name)},
				})
				offset++
			}
		}
		d := m.Close(nil)[0]
		take(step, encoder.Decision(d.Index, d.Step, int64(step+1)*3600_000, d.Point, d.Extras))
	}
	return operators.DescriptorOf(operator)
}

// TestSumsOfNamesCover adds up names over ten steps, some of which do not publish them, with room for all and with a
// cut. Intervals must have the true sums in 95 % of cases at least.
func TestSumsOfNamesCover(t *testing.T) {
	runs, steps := tiertest.Runs(40, 2000), 10
	for _, mechanism := range []string{"once-laplace", "once-gaussian"} {
		for _, most := range []string{"1000", "3"} {
			rng := rand.New(rand.NewPCG(1, 9))
			truth := map[int]map[string]float64{}
			counts := map[[2]int]int{}
			var all []decision.Decision
			descriptor := naming(t, mechanism, most, runs*steps, func(step, name int) int {
				n := 10 + 4*name + rng.IntN(10)
				counts[[2]int{step, name}] = n
				return n
			}, func(_ int, d decision.Decision) { all = append(all, d) })
			for at, n := range counts {
				run, name := at[0]/steps, fmt.Sprintf("name %d", at[1])
				if truth[run] == nil {
					truth[run] = map[string]float64{}
				}
				truth[run][name] += float64(n)
			}
			c, is := NewListed(descriptor, clock.Clock{Every: 10 * time.Hour})
			if !is {
				t.Fatalf("%s", descriptor)
			}
			for _, d := range all {
				if err := c.Add(d, d.Time()); err != nil {
					t.Fatal(err)
				}
			}
			rows, err := c.Rows(Query{})
			if err != nil {
				t.Fatal(err)
			}
			hits, missing := 0.0, uint64(0)
			for _, r := range rows {
				if n := truth[int(r.Start.Unix()/36000)][r.Name]; r.Low <= n && n <= r.High {
					hits++
				}
				missing += r.Steps - r.Published
			}
			n := float64(len(rows))
			if share := hits / n; share < 0.95-5*math.Sqrt(0.05*0.95/n) || missing == 0 || n < 100 {
				t.Errorf("%s, %s names: %g of %g sums, %d steps without the name", mechanism, most, share, n, missing)
			}
		}
	}
}

// TestLawOfNamesIsTheStreams compares the law that is rebuilt from a decision with the law of its stream.
func TestLawOfNamesIsTheStreams(t *testing.T) {
	for _, mechanism := range []string{"once-laplace", "once-gaussian"} {
		c := mechanisms.Config{
			Name: mechanism, Budget: dp.Budget{Epsilon: 3, Delta: 1e-6}, Contribution: contribution.OfNames(256),
			Terms: protection.Terms{Scope: protection.PerStep{}, Unit: protection.UserPeriod{PeriodSteps: 1, Values: 4}},
		}
		stream := mechtest.Open(t, c, [32]byte{8})
		law := stream.Names()
		l, _ := NewListed([]byte(`{"longest_list":1,"names_of_a_person":4}`), clock.Clock{})
		d := decision.Decision{Config: decision.Config{Mechanism: mechanism, Epsilon: stream.Guarantee().Epsilon}}
		got := l.law(d, float64(law.Threshold), law.Deviation)
		for n := law.Threshold - law.Max; n < law.Threshold+3; n++ {
			if a, b := got.Reaches(n), law.Reaches(n); math.Abs(a-b) > 1e-6*b+1e-15 {
				t.Errorf("%s: a count of %d is published with %g, want %g", mechanism, n, a, b)
			}
		}
	}
}

// TestNamesAreWritten checks the formats: order, a formula in CSV, characters that move the cursor, and --seen.
func TestNamesAreWritten(t *testing.T) {
	c, _ := NewListed([]byte(`{"longest_list":9}`), clock.Clock{Every: time.Hour})
	list := []decision.Entry{
		{Name: "=1+1", Count: 20}, {Name: "a|b", Count: 30}, {Name: "tea\u200b", Count: 25}, {Name: " x", Count: 20},
	}
	for step := range 2 {
		text, err := json.Marshal(list[:4-step])
		if err != nil {
			t.Fatal(err)
		}
		d := decision.Decision{Step: uint64(step + 1), Config: decision.Config{Mechanism: "once-laplace", Epsilon: 1}}
		for _, x := range [][2]string{
			{"names", string(text)},
			{"threshold", "15"},
			{"deviation", "1.357"},
			{"more", "0"},
			{"cut", "0"},
			{"seconds", "1800"},
		} {
			d.Extras = append(d.Extras, decision.ExtraMember{Name: x[0], JSON: x[1]})
		}
		if err := c.Add(d, int64(step+1)*1800_000); err != nil {
			t.Fatal(err)
		}
	}
	for format, want := range map[string][]string{
		"csv":   {"start,end,name,value,low,high,published,steps,note", ",a|b,60,", ",tea\u200b,50,", ",'=1+1,40,", `," x",20,`},
		"json":  {`"name":"a|b","value":60`, `"name":"=1+1","value":40`, `"published":1,"steps":2`},
		"table": {"published in", "a|b", "tea\uFFFD", "1 of 2 steps"},
	} {
		var out bytes.Buffer
		if err := c.Write(&out, format, Query{}); err != nil {
			t.Fatal(err)
		}
		rest := out.String()
		for _, part := range want {
			if i := strings.Index(rest, part); i < 0 {
				t.Errorf("%s: %q is missing or in another place:\n%s", format, part, out.String())
			} else {
				rest = rest[i:]
			}
		}
	}
	if cells, left := c.Cells(2); cells != "name==1+1|tea\u200b" || left != 1 {
		t.Errorf("%q, %d left out", cells, left)
	}
	if err := c.Write(&bytes.Buffer{}, "table", Query{Total: true}); err == nil {
		t.Error("--total is taken")
	}
	if err := c.Write(&bytes.Buffer{}, "parquet", Query{}); err == nil {
		t.Error("parquet is taken")
	}
	if err := c.Add(decision.Decision{Step: 9}, 1); err == nil {
		t.Error("another operator's decision is taken")
	}
	if _, is := NewListed([]byte(`{"cells":["a"]}`), clock.Clock{}); is || !slices.Contains(listedHeader, "published") {
		t.Error("a descriptor of cells describes names")
	}
}
