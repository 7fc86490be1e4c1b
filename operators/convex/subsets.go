package convex

import "math"

// Subsets is {0 ≤ x ≤ R, Σx = kR}: the convex hull of R times the indicators of k of n items, the base polytope of the
// uniform matroid. Its vertices have R at k coordinates. It is a block of a Partition.
type Subsets struct {
	shape
	pick   int
	radius float64
}

// subsets returns Subsets. The diameter R·√(2·min(k, n−k)) is the distance of two sets with as little in common as
// possible.
func subsets(n, pick int, radius float64) Subsets {
	diameter := float64(radius * math.Sqrt(float64(2*min(pick, n-pick))))
	return Subsets{shape{"subsets", n, diameter, float64(radius * math.Sqrt(float64(pick)))}, pick, radius}
}

// Start writes kR/n everywhere.
func (s Subsets) Start(dst []float64) { fill(dst, s.total()/float64(s.n)) }

func (s Subsets) total() float64 { return float64(float64(s.pick) * s.radius) }

// capped projects: x_i ← clip(x_i − τ, 0, R), with τ such that the sum is kR (stationarity of the Lagrangian; the sum
// falls in τ). Bisection ends with two values of τ, between which the result is linear. They differ by a few ulp. If an
// ulp of x exceeds R, equal coordinates may lie between them.
type capped struct{ set Subsets }

func (p *capped) Project(dst, x []float64) {
	top, bottom := x[0], x[0]
	for _, v := range x {
		top, bottom = max(top, v), min(bottom, v)
	}
	low, high := bottom-p.set.radius, top // at τ = low all coordinates are R, at τ = high all are 0
	for high-low > dust*p.set.radius {
		middle := float64(low/2) + float64(high/2)
		if middle <= low || middle >= high {
			break
		}
		if p.sum(x, middle) >= p.set.total() {
			low = middle
		} else {
			high = middle
		}
	}
	more, less := p.sum(x, low), p.sum(x, high)
	share := 1.0 // weight of the projection with τ = low
	if more > less {
		share = max(0, min(1, (p.set.total()-less)/(more-less)))
	}
	for i, v := range x {
		dst[i] = float64(share*p.clip(v-low)) + float64((1-share)*p.clip(v-high))
	}
	p.set.settle(dst)
}

func (p *capped) clip(v float64) float64 { return max(0, min(p.set.radius, v)) }

func (p *capped) sum(x []float64, shift float64) float64 {
	total := 0.0
	for _, v := range x {
		total += p.clip(v - shift)
	}
	return total
}

// settle corrects the sum to kR, up to a few ulp. It adds a missing amount in proportion to the room below R, and takes
// an excess in proportion to the coordinates. The change of x is as small as the rounding of its sum.
func (s Subsets) settle(x []float64) {
	for i, v := range x {
		if v < dust*s.radius {
			x[i] = 0
		}
	}
	total := sum(x)
	off, room := s.total()-total, total
	if off > 0 {
		room = float64(float64(s.n)*s.radius) - total
	}
	if off == 0 || !(room > 0) {
		return
	}
	share := off / room
	for i, v := range x {
		if off > 0 {
			x[i] = min(v+float64(share*(s.radius-v)), s.radius)
		} else {
			x[i] = max(v+float64(share*v), 0)
		}
	}
}

func (s Subsets) check(x []float64) error { return checkSum(x, s.radius, s.total()) }
