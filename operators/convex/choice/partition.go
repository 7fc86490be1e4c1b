package choice

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"oriel/operators/convex"
	"oriel/operators/convex/oracle"
	"oriel/operators/convex/shape"
	"oriel/operators/setting"
)

// Partition is a product of Subsets with one R, the base polytope of a partition matroid. Coordinates form consecutive
// blocks, and a vertex has R at a given number of coordinates in each. The set subsets is a Partition of one block.
type Partition struct {
	shape.Shape
	Blocks []Subsets
	Radius float64
}

// ParseBlock returns the canonical form of an entry, size:pick, and whether it is valid: integers with 1 ≤ pick < size.
func ParseBlock(text string) (canonical string, ok bool) {
	size, pick, ok := block(text)
	if !ok {
		return text, false
	}
	return fmt.Sprintf("%d:%d", size, pick), true
}

func block(text string) (size, pick int, ok bool) {
	head, tail, ok := strings.Cut(text, ":")
	size, err := setting.ParseInt(head)
	if err != nil || !ok {
		return 0, 0, false
	}
	pick, err = setting.ParseInt(tail)
	return size, pick, err == nil && 1 <= pick && pick < size
}

// NewPartition reads entries in the form of ParseBlock. Its errors name the position in the list, from 1.
func NewPartition(blocks []string, n int, radius float64) (Partition, error) {
	p, total := Partition{Radius: radius}, 0
	if len(blocks) == 0 {
		return p, errors.New("convex: no blocks: at least one is wanted")
	}
	for i, text := range blocks {
		size, pick, ok := block(text)
		if !ok || size > n-total {
			return p, fmt.Errorf("convex: block %d: not size:pick with 1 ≤ pick < size, all sizes together %d", i+1, n)
		}
		p.Blocks = append(p.Blocks, Uniform(size, pick, radius))
		total += size
	}
	if total != n {
		return p, fmt.Errorf("convex: blocks of %d coordinates in all: %d dimensions", total, n)
	}
	return product("partition", p.Blocks, n, radius), nil
}

// NewSubsets requires 1 ≤ k < n.
func NewSubsets(n, pick int, radius float64) (Partition, error) {
	if pick < 1 || pick >= n {
		return Partition{}, fmt.Errorf("convex: pick %d: not from 1 to %d, less than the dimension", pick, n-1)
	}
	return product("subsets", []Subsets{Uniform(n, pick, radius)}, n, radius), nil
}

// product returns a Partition of blocks. The diameter is the distance of two vertices that have as few common items as
// possible in each block.
func product(name string, blocks []Subsets, n int, radius float64) Partition {
	swaps, picks := 0, 0
	for _, b := range blocks {
		swaps += min(b.Pick, b.N-b.Pick)
		picks += b.Pick
	}
	long := float64(radius * math.Sqrt(float64(picks)))
	return Partition{shape.New(name, n, float64(radius*math.Sqrt(float64(2*swaps))), long), blocks, radius}
}

// Each calls f with every block and where it begins.
func (p Partition) Each(f func(at int, b Subsets)) {
	at := 0
	for _, b := range p.Blocks {
		f(at, b)
		at += b.N
	}
}

// Start writes the uniform point of each block.
func (p Partition) Start(dst []float64) {
	p.Each(func(at int, b Subsets) { b.Start(dst[at : at+b.N]) })
}

func (p Partition) Settle(x []float64) {
	p.Each(func(at int, b Subsets) { b.Settle(x[at : at+b.N]) })
}

func (p Partition) Check(x []float64) error {
	var err error
	p.Each(func(at int, b Subsets) { err = errors.Join(err, b.Check(x[at:at+b.N])) })
	return err
}

// Tangent subtracts the mean of each block.
func (p Partition) Tangent() (convex.Tangent, error) {
	var sizes shape.Centred
	for _, b := range p.Blocks {
		sizes = append(sizes, b.N)
	}
	return sizes, nil
}

func (p Partition) Linear() convex.LinearOracle { return newGreedy(p, false) }

// greedy takes the k items of smallest cost in each block, the lowest position first among equals.
type greedy struct {
	set   Partition
	gains bool // items whose cost is not negative are never taken
	order oracle.Descending
	keys  []float64 // scratch: negative costs, −c
}

func newGreedy(p Partition, gains bool) *greedy {
	return &greedy{p, gains, oracle.NewDescending(p.N), make([]float64, p.N)}
}

func (o *greedy) Minimise(dst, c []float64) {
	clear(dst)
	o.set.Each(func(at int, b Subsets) {
		o.order.Cheapest(o.keys[at:at+b.N], c[at:at+b.N])
		for range b.Pick {
			i := at + o.order.Next()
			if o.gains && !(c[i] < 0) {
				break
			}
			dst[i] = b.Radius
		}
	})
}

// Projection returns a projection that finds the shift of each block by bisection.
func (p Partition) Projection() convex.Projection { return cappedBlocks{p} }

type cappedBlocks struct{ set Partition }

func (p cappedBlocks) Project(dst, x []float64) {
	p.set.Each(func(at int, b Subsets) {
		(&capped{b}).Project(dst[at:at+b.N], x[at:at+b.N])
	})
}

// LocalOracle returns the direct form of the local oracle, which needs no decomposition.
func (p Partition) LocalOracle() convex.LocalOracle { return newLocalBlocks(p) }

// Inner returns the least radius of a block, because each face belongs to one block.
func (p Partition) Inner([]float64) (float64, error) {
	radius := math.Inf(1)
	for _, b := range p.Blocks {
		radius = min(radius, b.Inner())
	}
	return radius, nil
}
