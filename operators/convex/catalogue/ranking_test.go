package catalogue

import (
	"math"
	"slices"
	"strings"
	"testing"

	"oriel/operators/convex"
	"oriel/operators/convex/choice"
)

// slowRanking projects without pools. A min-max formula gives the descending u nearest to y = z − w. Its entry at a
// place is the least, over all starts up to the place, of the largest mean of y from the start to an end at or after
// the place (R. E. Barlow and others, 1972, theorem 1.4).
func slowRanking(s choice.Ranking, x []float64) []float64 {
	n, out := len(x), make([]float64, len(x))
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case x[a] > x[b]:
			return -1
		case x[a] < x[b]:
			return 1
		}
		return 0
	})
	for i := range n {
		u := math.Inf(1)
		for from := range i + 1 {
			most, total := math.Inf(-1), 0.0
			for to := from; to < n; to++ {
				total += x[order[to]] - s.Values[to]
				if to >= i {
					most = max(most, total/float64(to-from+1))
				}
			}
			u = min(u, most)
		}
		out[order[i]] = x[order[i]] - u
	}
	return out
}

func TestRankingsThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		places []string
		want   string
	}{
		{nil, "0 places: not 1 to 3"},
		{[]string{"4", "3", "2", "1"}, "4 places: not 1 to 3"},
		{[]string{"2", "-1"}, "place 2: not a number"},
		{[]string{"2", "x"}, "place 2: not a number"},
		{[]string{"Inf"}, "place 1: not a number"},
		{[]string{"1", "2"}, "place 2: worth more"},
		{[]string{"1", "1", "1"}, "0 apart at most"},
	} {
		_, err := Parse(Spec{Name: "ranking", Dimension: 3, Radius: 1, Places: c.places})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.places, err, c.want)
		}
	}
}

// TestRankingOfEqualPlacesIsSubsets checks that a ranking whose first k places have value 1 and whose others have value
// 0 equals Subsets with k.
func TestRankingOfEqualPlacesIsSubsets(t *testing.T) {
	ranking, err := Parse(Spec{Name: "ranking", Dimension: 6, Radius: 2, Places: []string{"1", "1"}})
	if err != nil {
		t.Fatal(err)
	}
	subsets, err := Parse(Spec{Name: "subsets", Dimension: 6, Radius: 2, Pick: 2})
	if err != nil {
		t.Fatal(err)
	}
	a, _ := convex.NewProjection(ranking)
	b, _ := convex.NewProjection(subsets)
	for trial := range 200 {
		x := make([]float64, 6)
		for i := range x {
			x[i] = math.Sin(float64(7*trial + 3*i))
		}
		got, want := make([]float64, 6), make([]float64, 6)
		a.Project(got, x)
		b.Project(want, x)
		for i := range got {
			if math.Abs(got[i]-want[i]) > 1e-13 {
				t.Fatalf("%v: %v, want %v", x, got, want)
			}
		}
	}
	if ranking.Diameter() != subsets.Diameter() || ranking.MaxNorm() != subsets.MaxNorm() {
		t.Errorf("%g and %g, want %g and %g", ranking.Diameter(), ranking.MaxNorm(), subsets.Diameter(), subsets.MaxNorm())
	}
}

// FuzzParsePlace checks that parsing a canonical form changes nothing.
func FuzzParsePlace(f *testing.F) {
	for _, text := range []string{"1", "-0", " 0x1p-2 ", "1e400", "NaN", "-1", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		canonical, ok := choice.ParsePlace(text)
		if !ok {
			return
		}
		if again, ok := choice.ParsePlace(canonical); !ok || again != canonical || strings.HasPrefix(again, "-") {
			t.Fatalf("%q is %q, then %q", text, canonical, again)
		}
	})
}
