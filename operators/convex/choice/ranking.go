package choice

import (
	"fmt"
	"math"
	"strconv"

	"oriel/operators/convex"
	"oriel/operators/convex/oracle"
	"oriel/operators/convex/shape"
	"oriel/operators/setting"
)

// Ranking is the convex hull of all orders of R·w, the permutahedron: the values of n items in a mix of rankings, where
// places have values w_1 ≥ w_2 ≥ … ≥ w_n. It is the base polytope of the submodular function R·(w_1 + … + w_|S|),
// concave in |S|: all x whose coordinates sum to the function's value of all items, and over every S to at most its
// value of S.
type Ranking struct {
	shape.Shape
	Values []float64 // R·w of all n places
	many   int       // number of places with a positive value
	Total  float64
}

// ParsePlace returns the canonical form of an entry, and whether it is valid: a number from 0 to 1e15.
func ParsePlace(text string) (canonical string, ok bool) {
	value, err := setting.ParseNumber(text)
	if err != nil || !(value >= 0 && value <= shape.MaxRadius) {
		return text, false
	}
	return strconv.FormatFloat(value, 'g', -1, 64), true
}

// NewRanking reads entries in the form of ParsePlace; places that are not listed have value 0. Its errors name the
// position, from 1.
func NewRanking(places []string, n int, radius float64) (Ranking, error) {
	if len(places) == 0 || len(places) > n {
		return Ranking{}, fmt.Errorf("convex: %d places: not 1 to %d, the dimension", len(places), n)
	}
	s := Ranking{Values: make([]float64, n)}
	for i, text := range places {
		canonical, ok := ParsePlace(text)
		value, err := setting.ParseNumber(canonical)
		if !ok || err != nil {
			return s, fmt.Errorf("convex: place %d: not a number from 0 to 1e15", i+1)
		}
		s.Values[i] = float64(value * radius)
		if i > 0 && s.Values[i] > s.Values[i-1] {
			return s, fmt.Errorf("convex: place %d: worth more than the one before it", i+1)
		}
		if s.Values[i] > 0 {
			s.many = i + 1
		}
		s.Total += s.Values[i]
	}
	square := 0.0 // diameter squared: reverse orders are at the largest distance
	for i, w := range s.Values {
		away := w - s.Values[n-1-i]
		square += float64(away * away)
	}
	s.Shape = shape.New("ranking", n, math.Sqrt(square), shape.Length(s.Values, nil))
	if !(s.D >= shape.MinRadius && s.M <= shape.MaxRadius) {
		return s, fmt.Errorf("convex: places: rankings are %g apart at most and %g long: not at least %g and at most %g",
			s.D, s.M, shape.MinRadius, shape.MaxRadius)
	}
	return s, nil
}

// Start writes the mean of w everywhere.
func (s Ranking) Start(dst []float64) { shape.Fill(dst, s.Total/float64(s.N)) }

// Tangent subtracts the mean, because Σx is constant on the set.
func (s Ranking) Tangent() (convex.Tangent, error) { return shape.Centred{s.N}, nil }

// Settle corrects the sum by scaling.
func (s Ranking) Settle(x []float64) {
	for i, v := range x {
		x[i] = max(0, min(v, s.Values[0]))
	}
	shape.Normalise(x, s.Total)
	for i, v := range x {
		x[i] = min(v, s.Values[0])
	}
}

func (s Ranking) Check(x []float64) error { return shape.CheckSum(x, s.Values[0], s.Total) }

func (s Ranking) Linear() convex.LinearOracle {
	return &ranked{s, oracle.NewDescending(s.N), make([]float64, s.N)}
}

// ranked gives the first place to the item of least cost, the next place to the next item, and so on; among equal
// costs, the lower position comes first. This is the greedy algorithm (J. Edmonds, Submodular functions, matroids, and
// certain polyhedra, 1970). It costs O(n + k log n) for k places of positive value.
type ranked struct {
	set   Ranking
	order oracle.Descending
	keys  []float64 // scratch: negative costs, −c
}

func (o *ranked) Minimise(dst, c []float64) {
	o.order.Cheapest(o.keys, c)
	clear(dst)
	for _, value := range o.set.Values[:o.set.many] {
		dst[o.order.Next()] = value
	}
}

// Projection returns a projection that sorts the coordinates, and pools values that are out of order: O(n log n).
func (s Ranking) Projection() convex.Projection {
	n := s.N
	return &pooled{
		set: s, order: oracle.NewDescending(n), sorted: make([]int32, 0, n), first: make([]int32, 0, n+1),
		sums: make([]float64, 0, n), keys: make([]float64, n),
	}
}

// pooled projects onto the permutahedron. With z in descending order, x = z − u for the descending u nearest to z − w,
// found by pooling adjacent violators (M. Blondel, O. Teboul, Q. Berthet and J. Djolonga, Fast Differentiable Sorting
// and Ranking, ICML 2020, proposition 3; M. Ayer and others, 1955). Where u is constant, x has the same sum as its
// places.
type pooled struct {
	set    Ranking
	order  oracle.Descending
	keys   []float64 // a copy of z, because x and dst may be the same slice
	sorted []int32   // positions in the order of falling z
	first  []int32   // start of each pool in sorted
	sums   []float64 // sum of z − w over each pool
}

func (p *pooled) Project(dst, x []float64) {
	copy(p.keys, x)
	p.order.All(p.keys)
	p.sorted, p.first, p.sums = p.sorted[:0], p.first[:0], p.sums[:0]
	for i := range x {
		at := p.order.Next()
		p.sorted = append(p.sorted, int32(at))
		p.pool(i, p.keys[at]-p.set.Values[i])
	}
	p.first = append(p.first, int32(len(x)))
	for pool := range p.sums {
		p.place(dst, int(p.first[pool]), int(p.first[pool+1]))
	}
	p.set.Settle(dst)
}

// pool adds one more value, and merges pools until their means are descending.
func (p *pooled) pool(at int, sum float64) {
	first := int32(at)
	for last := len(p.sums) - 1; last >= 0; last-- {
		before, here := float64(first-p.first[last]), float64(int32(at)+1-first)
		if p.sums[last]/before > sum/here {
			break
		}
		sum += p.sums[last]
		first = p.first[last]
		p.sums, p.first = p.sums[:last], p.first[:last]
	}
	p.sums, p.first = append(p.sums, sum), append(p.first, first)
}

// place shifts a pool so that its sum equals the sum of its place values. It shifts twice, because the first shift may
// be far larger than the result.
func (p *pooled) place(dst []float64, from, to int) {
	for _, i := range p.sorted[from:to] {
		dst[i] = p.keys[i]
	}
	for range 2 {
		off := 0.0
		for i := from; i < to; i++ {
			off += dst[p.sorted[i]] - p.set.Values[i]
		}
		off /= float64(to - from)
		for _, i := range p.sorted[from:to] {
			dst[i] -= off
		}
	}
}

// Inner returns the least distance, over all j, from the centre to a face on which j coordinates sum to the first j
// place values. The distance is the slack of this sum at the centre, divided by √(j(n − j)/n), the norm of the face's
// projected normal.
func (s Ranking) Inner([]float64) (float64, error) {
	n := float64(s.N)
	radius, first, mean := math.Inf(1), 0.0, s.Total/n
	for i, value := range s.Values[:len(s.Values)-1] {
		first += value
		j := float64(i + 1)
		radius = min(radius, (first-float64(j*mean))/math.Sqrt(float64(j*(n-j))/n))
	}
	return radius, nil
}

func (s Ranking) LocalOracle() convex.LocalOracle { return oracle.Follow(s) }
