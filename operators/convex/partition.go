package convex

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"oriel/operators"
)

// Partition is a product of Subsets with one R, the base polytope of a partition matroid. Coordinates form consecutive
// blocks, and a vertex has R at a given number of coordinates in each. The set subsets is a Partition of one block.
type Partition struct {
	shape
	blocks []Subsets
	radius float64
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
	size, err := operators.ParseInt(head)
	if err != nil || !ok {
		return 0, 0, false
	}
	pick, err = operators.ParseInt(tail)
	return size, pick, err == nil && 1 <= pick && pick < size
}

// newPartition reads entries in the form of ParseBlock. Its errors name the position in the list, from 1.
func newPartition(blocks []string, n int, radius float64) (Partition, error) {
	p, total := Partition{radius: radius}, 0
	if len(blocks) == 0 {
		return p, errors.New("convex: no blocks: at least one is wanted")
	}
	for i, text := range blocks {
		size, pick, ok := block(text)
		if !ok || size > n-total {
			return p, fmt.Errorf("convex: block %d: not size:pick with 1 ≤ pick < size, all sizes together %d", i+1, n)
		}
		p.blocks = append(p.blocks, subsets(size, pick, radius))
		total += size
	}
	if total != n {
		return p, fmt.Errorf("convex: blocks of %d coordinates in all: %d dimensions", total, n)
	}
	return product("partition", p.blocks, n, radius), nil
}

// newSubsets requires 1 ≤ k < n.
func newSubsets(n, pick int, radius float64) (Partition, error) {
	if pick < 1 || pick >= n {
		return Partition{}, fmt.Errorf("convex: pick %d: not from 1 to %d, less than the dimension", pick, n-1)
	}
	return product("subsets", []Subsets{subsets(n, pick, radius)}, n, radius), nil
}

// product returns a Partition of blocks. The diameter is the distance of two vertices that have as few common items as
// possible in each block.
func product(name string, blocks []Subsets, n int, radius float64) Partition {
	swaps, picks := 0, 0
	for _, b := range blocks {
		swaps += min(b.pick, b.n-b.pick)
		picks += b.pick
	}
	long := float64(radius * math.Sqrt(float64(picks)))
	return Partition{shape{name, n, float64(radius * math.Sqrt(float64(2*swaps))), long}, blocks, radius}
}

// each calls f with every block and where it begins.
func (p Partition) each(f func(at int, b Subsets)) {
	at := 0
	for _, b := range p.blocks {
		f(at, b)
		at += b.n
	}
}

// Start writes the uniform point of each block.
func (p Partition) Start(dst []float64) {
	p.each(func(at int, b Subsets) { b.Start(dst[at : at+b.n]) })
}

func (p Partition) settle(x []float64) {
	p.each(func(at int, b Subsets) { b.settle(x[at : at+b.n]) })
}

func (p Partition) check(x []float64) error {
	var err error
	p.each(func(at int, b Subsets) { err = errors.Join(err, b.check(x[at:at+b.n])) })
	return err
}

// tangent subtracts the mean of each block.
func (p Partition) tangent() (Tangent, error) {
	var sizes centred
	for _, b := range p.blocks {
		sizes = append(sizes, b.n)
	}
	return sizes, nil
}

func (p Partition) Linear() LinearOracle { return newGreedy(p, false) }

// greedy takes the k items of smallest cost in each block, the lowest position first among equals.
type greedy struct {
	set   Partition
	gains bool // items whose cost is not negative are never taken
	order descending
	keys  []float64 // scratch: negative costs, −c
}

func newGreedy(p Partition, gains bool) *greedy {
	return &greedy{p, gains, newDescending(p.n), make([]float64, p.n)}
}

func (o *greedy) Minimise(dst, c []float64) {
	clear(dst)
	o.set.each(func(at int, b Subsets) {
		o.order.cheapest(o.keys[at:at+b.n], c[at:at+b.n])
		for range b.pick {
			i := at + o.order.next()
			if o.gains && !(c[i] < 0) {
				break
			}
			dst[i] = b.radius
		}
	})
}

// Projection returns a projection that finds the shift of each block by bisection.
func (p Partition) Projection() Projection { return cappedBlocks{p} }

type cappedBlocks struct{ set Partition }

func (p cappedBlocks) Project(dst, x []float64) {
	p.set.each(func(at int, b Subsets) {
		(&capped{b}).Project(dst[at:at+b.n], x[at:at+b.n])
	})
}

// LocalOracle returns the direct form of the local oracle, which needs no decomposition.
func (p Partition) LocalOracle() LocalOracle { return newLocalBlocks(p) }
