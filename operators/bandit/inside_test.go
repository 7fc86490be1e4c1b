package bandit

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/operators"
	"oriel/operators/actions"
	"oriel/operators/convex"
	"oriel/operators/convex/catalogue"
	"oriel/operators/setting"
	"oriel/schemas/event"
)

// rounding is the allowed relative error of a sum. The test allows no error in signs and in the ends of a box.
const rounding = 1e-12

// member is a set and a slow test of membership, which follows the definition.
type member struct {
	spec catalogue.Spec
	in   func(x []float64) bool
}

func sumsTo(x []float64, want float64) bool { return math.Abs(floats.Sum(x)-want) <= rounding*want }

func within(x []float64, low, high float64) bool {
	return floats.Min(x) >= low && floats.Max(x) <= high
}

// setsOfEachKind returns a set of each kind.
func setsOfEachKind() []member {
	triangle := func(x []float64) bool { return floats.Min(x) >= 0 && sumsTo(x, 1) }
	return []member{
		{catalogue.Spec{Name: "l2-ball", Dimension: 3, Radius: 2}, func(x []float64) bool { return floats.Norm(x, 2) <= 2 }},
		{catalogue.Spec{Name: "l1-ball", Dimension: 4, Radius: 2}, func(x []float64) bool { return floats.Norm(x, 1) <= 2 }},
		{catalogue.Spec{Name: "box", Dimension: 3, Radius: 0.7}, func(x []float64) bool { return within(x, -0.7, 0.7) }},
		{
			catalogue.Spec{Name: "box", Dimension: 2, Low: []string{"0", "-3"}, High: []string{"60", "-1"}},
			func(x []float64) bool { return within(x[:1], 0, 60) && within(x[1:], -3, -1) },
		},
		{catalogue.Spec{Name: "simplex", Dimension: 5, Radius: 1}, triangle},
		{catalogue.Spec{Name: "simplex", Dimension: 30, Radius: 7}, func(x []float64) bool {
			return floats.Min(x) >= 0 && sumsTo(x, 7)
		}},
		{catalogue.Spec{Name: "subsets", Dimension: 6, Pick: 2, Radius: 3}, func(x []float64) bool {
			return within(x, 0, 3) && sumsTo(x, 6)
		}},
		{catalogue.Spec{Name: "partition", Dimension: 5, Blocks: []string{"2:1", "3:2"}, Radius: 1}, func(x []float64) bool {
			return within(x, 0, 1) && sumsTo(x[:2], 1) && sumsTo(x[2:], 2)
		}},
		{catalogue.Spec{Name: "subsets-at-most", Dimension: 6, Pick: 2, Radius: 3}, func(x []float64) bool {
			return within(x, 0, 3) && floats.Sum(x) <= 6
		}},
		{
			catalogue.Spec{Name: "partition-at-most", Dimension: 5, Blocks: []string{"2:1", "3:2"}, Radius: 1},
			func(x []float64) bool { return within(x, 0, 1) && floats.Sum(x[:2]) <= 1 && floats.Sum(x[2:]) <= 2 },
		},
		{
			catalogue.Spec{Name: "forests", Dimension: 4, Radius: 1, Edges: []string{"a>b", "b>c", "c>a", "d>e"}},
			func(x []float64) bool { return within(x, 0, 1) && floats.Sum(x[:3]) <= 2 },
		},
		{catalogue.Spec{Name: "matching", Dimension: 9, Radius: 2}, func(x []float64) bool {
			good := within(x, 0, 2)
			for i := range 3 {
				good = good && sumsTo(x[3*i:3*i+3], 2) && sumsTo([]float64{x[i], x[i+3], x[i+6]}, 2)
			}
			return good
		}},
		{
			catalogue.Spec{
				Name:      "flow",
				Dimension: 7,
				Radius:    5,
				Edges:     []string{"a>b", "a>c", "b>c", "b>d", "c>d", "d>e", "a>e"},
			},
			func(x []float64) bool { // unit flows: 1 leaves a, and b, c and d balance
				return within(x, 0, 5) && sumsTo([]float64{x[0], x[1], x[6]}, 5) && math.Abs(x[0]-x[2]-x[3]) < 5*rounding &&
					math.Abs(x[1]+x[2]-x[4]) < 5*rounding && math.Abs(x[3]+x[4]-x[5]) < 5*rounding
			},
		},
		{
			catalogue.Spec{Name: "trees", Dimension: 6, Radius: 1, Edges: []string{"a>b", "b>c", "c>a", "c>d", "d>a", "d>e"}},
			treesOf,
		},
		{
			catalogue.Spec{Name: "ranking", Dimension: 4, Radius: 1, Places: []string{"1", "0.5", "0.25"}},
			func(x []float64) bool {
				sorted := slices.Sorted(slices.Values(x))
				return sorted[0] >= 0 && sorted[3] <= 1 && sorted[3]+sorted[2] <= 1.5 && sorted[3]+sorted[2]+sorted[1] <= 1.75 &&
					sumsTo(x, 1.75)
			},
		},
		{catalogue.Spec{Name: "spectrahedron", Dimension: 9, Radius: 2}, func(x []float64) bool {
			var eigen mat.EigenSym
			symmetric := math.Abs(x[1]-x[3])+math.Abs(x[2]-x[6])+math.Abs(x[5]-x[7]) < rounding
			return symmetric && sumsTo([]float64{x[0], x[4], x[8]}, 2) && eigen.Factorize(mat.NewSymDense(3, x), false) &&
				eigen.Values(nil)[0] > 0
		}},
		{catalogue.Spec{Name: "trace-norm", Dimension: 6, Rows: 2, Radius: 3}, func(x []float64) bool {
			var svd mat.SVD
			return svd.Factorize(mat.NewDense(2, 3, x), mat.SVDNone) && floats.Sum(svd.Values(nil)) <= 3
		}},
		{
			catalogue.Spec{Name: "vertices", Dimension: 2, Radius: 1, Corners: []string{"0 0", "1 0", "0 2"}},
			func(x []float64) bool { return floats.Min(x) >= 0 && x[0]+x[1]/2 <= 1 },
		},
		{catalogue.Spec{Name: "vertices", Dimension: 3, Radius: 1, Corners: []string{"1 0 0", "0 1 0", "0 0 1"}}, triangle},
	}
}

// treesOf tests membership in the spanning-tree polytope of a graph: a triangle abc, d joined to two of its corners,
// and a bridge from d to e. Edges are in the order that members uses. For each set of vertices, the coordinates of the
// edges among them sum to at most the number of vertices less one. All coordinates sum to four.
func treesOf(x []float64) bool {
	ends := [][2]int{{0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 0}, {3, 4}}
	for some := 1; some < 1<<5; some++ {
		inside := 0.0
		for edge, end := range ends {
			if some>>end[0]&1 == 1 && some>>end[1]&1 == 1 {
				inside += x[edge]
			}
		}
		if inside > float64(bits.OnesCount(uint(some))-1)+rounding { // for some sets of vertices, equality holds
			return false
		}
	}
	return floats.Min(x) >= 0 && sumsTo(x, 4)
}

// TestNoActionLeavesItsSet checks that no action is outside its set, for each set and both updates, with noise so large
// that centres jump across the set. The long form makes 10⁶ actions over all sets.
func TestNoActionLeavesItsSet(t *testing.T) {
	runs := []bool{false, true}
	all := setsOfEachKind()
	total := tiertest.Runs(400, 1_000_000/len(all)+1)
	for k, x := range all {
		set, err := catalogue.Parse(x.spec)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[bool]int{}
		for _, projects := range runs {
			if _, err := convex.NewProjection(set); projects && err != nil {
				continue
			}
			c := Config{
				Set: set, Losses: setting.Range{High: 1}, Lipschitz: 1, Rounds: 1 << 20, Rate: 0.1 * set.Diameter(), Shrink: true,
				Projected: projects, Actions: actions.Config{Records: 4, Actions: 8},
			}
			machine := open(t, c, mechanism(c, "blt", 1), byte(k), false)
			counted := operators.ByCount(machine)
			made, middle := machine.Open(nil), slices.Clone(machine.middle)
			far := 0.0
			for play := 0; play < total; play += len(made) {
				for _, d := range made {
					if !x.in(d.Point) {
						t.Fatalf("%s, projection %v, play %d: %v is outside", x.spec.Name, projects, d.Index, d.Point)
					}
					seen[projects]++
				}
				far = max(far, floats.Distance(made[0].Extras[0].Numbers, middle, 2))
				last := made
				made = nil
				for _, d := range last {
					next := counted.Add(nil, operators.Record{
						Key: strconv.AppendUint(nil, d.Index, 10), Event: event.Event{Numbers: []float64{d.Point[0]}},
					})
					if made = append(made, next...); len(next) > 0 {
						break
					}
				}
			}
			if far < 0.1*set.Diameter() {
				t.Errorf("%s: centres stay within %g of the middle", x.spec.Name, far)
			}
		}
	}
}

// TestCentresAreSettled checks that a centre that has left its set, by as much as rounding could in a long run, is in
// the set again after one step. A Frank-Wolfe step without this repair would keep most of the error.
func TestCentresAreSettled(t *testing.T) {
	for _, x := range setsOfEachKind() {
		set, err := catalogue.Parse(x.spec)
		if err != nil {
			t.Fatal(err)
		}
		if tangent, err := convex.NewTangent(set); err != nil || tangent.Dimension() == set.Dimension() {
			continue
		}
		switch x.spec.Name {
		case "trees", "vertices", "spectrahedron", "ranking":
			continue // without projection, centres are averages of points in the set
		}
		c := Config{
			Set: set, Losses: setting.Range{High: 1}, Lipschitz: 1, Rounds: 1 << 20, Rate: 1e-9, Shrink: true,
			Actions: actions.Config{Records: 1, Actions: 1},
		}
		machine := open(t, c, mechanism(c, "blt", 1), 1, false)
		counted := operators.ByCount(machine)
		made := machine.Open(nil)
		machine.mirror.centre[0] *= 1 + 1e-8
		counted.Add(nil, operators.Record{
			Key: strconv.AppendUint(nil, made[0].Index, 10), Event: event.Event{Numbers: []float64{0.5}},
		})
		if !x.in(machine.mirror.centre) {
			t.Errorf("%s: a centre stays at %v", x.spec.Name, machine.mirror.centre)
		}
	}
}

// TestDirectionsAreUniformOnTheTangentSphere checks that directions have norm 1, lie in the tangent space, and have
// mean 0 and covariance P/m. P is the projection onto that space and m its dimension.
func TestDirectionsAreUniformOnTheTangentSphere(t *testing.T) {
	const draws = 10_000
	for _, x := range setsOfEachKind() {
		set, err := catalogue.Parse(x.spec)
		if err != nil {
			t.Fatal(err)
		}
		tangent, err := convex.NewTangent(set)
		if err != nil {
			t.Fatal(err)
		}
		n, m := set.Dimension(), float64(tangent.Dimension())
		if n > 9 {
			continue
		}
		u := directions{}
		if tangent.Dimension() < n {
			u.tangent = tangent
		}
		u.use([seedLen]byte{7})
		d, flat, mean, square := make([]float64, n), make([]float64, n), make([]float64, n), mat.NewDense(n, n, nil)
		for play := range uint64(draws) {
			u.write(d, play+1)
			copy(flat, d)
			tangent.Project(flat)
			if off := floats.Distance(flat, d, 2); off > 1e-12 || math.Abs(floats.Norm(d, 2)-1) > 1e-12 {
				t.Fatalf("%s: %v is %g off the space, and %g long", x.spec.Name, d, off, floats.Norm(d, 2))
			}
			floats.AddScaled(mean, 1.0/draws, d)
			v := mat.NewVecDense(n, d)
			square.RankOne(square, 1.0/draws, v, v)
		}
		// Each mean has variance at most 1/draws. The limit is 6.2 standard errors, for about 600 numbers.
		const off = 6.2 / 100
		if floats.Norm(mean, math.Inf(1)) > off {
			t.Errorf("%s: directions have the mean %v", x.spec.Name, mean)
		}
		for i := range n {
			clear(flat)
			flat[i] = 1
			tangent.Project(flat)
			for j, want := range flat {
				if math.Abs(square.At(i, j)-want/m) > off {
					t.Errorf("%s: covariance of %d and %d is %g, want %g", x.spec.Name, i, j, square.At(i, j), want/m)
				}
			}
		}
	}
}

// TestTangentParamsAreOfTheirSet checks that the params store the dimension of directions, and that params with another
// dimension is refused.
func TestTangentParamsAreOfTheirSet(t *testing.T) {
	for _, x := range setsOfEachKind() {
		set, err := catalogue.Parse(x.spec)
		if err != nil {
			t.Fatal(err)
		}
		c := Config{
			Set: set, Losses: setting.Range{High: 1}, Lipschitz: 1, Rounds: 64, Shrink: true,
			Actions: actions.Config{Records: 4, Actions: 8},
		}
		p := c.NewParams()
		again, err := ParseParams(p.AppendBinary(nil))
		if err != nil || fmt.Sprint(again) != fmt.Sprint(p) {
			t.Errorf("%s: %+v, %v; want %+v", x.spec.Name, again, err, p)
		}
		if x.spec.Name != "flow" {
			continue
		}
		stream := open(t, c, mechanism(c, "blt", 1), 1, true).Stream
		p.Dimension++
		if _, err := New(c, p, stream); err == nil || !strings.Contains(err.Error(), "dimensions, and the set has") {
			t.Errorf("%s: directions of %d dimensions: %v", x.spec.Name, p.Dimension, err)
		}
	}
}

// TestRegretOnASimplex checks, with the paper's constants and an optimum on the boundary, that actions that stay in the
// simplex have only a little more regret than actions about unscaled centres, nearly all of which leave it.
func TestRegretOnASimplex(t *testing.T) {
	total := tiertest.Runs(20_000, 100_000)
	best := []float64{0.4, 0.3, 0.2, 0.1, 0}
	play := func(c Config, p Params) (regret, outside float64) {
		machine := opened(t, c, p, mechanism(c, "blt", 1), 1, true)
		counted := operators.ByCount(machine)
		made, batch := machine.Open(nil), c.Actions.Records
		total := int(c.Rounds) * batch
		for i := range total {
			d := made[i%batch]
			far := floats.Distance(d.Point, best, 2)
			regret += far * far / 2 / float64(total)
			if floats.Min(d.Point) < 0 || !sumsTo(d.Point, 1) {
				outside += 1 / float64(total)
			}
			r := operators.Record{
				Key: strconv.AppendUint(nil, d.Index, 10), Event: event.Event{Numbers: []float64{far * far / 2}},
			}
			r.Identity.Offset = int64(i)
			if next := counted.Add(nil, r); len(next) > 0 {
				made = next
			}
		}
		return regret, outside
	}
	batch := int(math.Sqrt(float64(total)))
	c := Config{
		Set: set(t, "simplex", 5, 1), Losses: setting.Range{High: 1}, Lipschitz: 1, Rounds: uint64(total / batch),
		Shrink: true, Actions: actions.Config{Records: batch, Actions: batch},
	}
	stay, left := play(c, c.NewParams())
	full := c.NewParams()
	root, long := math.Sqrt(5), float64(total)
	full.Episodes[0] = Episode{
		Smoothing: math.Sqrt2 * root / math.Pow(long, 0.25), Rate: math.Sqrt2 / (math.Pow(long, 0.75) * root), Shrink: 1,
	}
	leave, outside := play(c, full)
	bound := c.regretBound(c.episode(long), long)
	t.Logf("T = %d: regret %.4f a play in the simplex, %.4f with %.0f %% of plays outside; bound %.3f",
		total, stay, leave, 100*outside, bound)
	if left > 0 || !(outside > 0.5) || !(stay < 1.5*leave) || !(stay < bound/4) {
		t.Errorf("T = %d: regret %.4f a play with %.0f %% outside, %.4f with %.0f %% outside; bound %.3f",
			total, stay, 100*left, leave, 100*outside, bound)
	}
}
