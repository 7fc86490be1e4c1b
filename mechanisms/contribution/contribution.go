package contribution

import (
	"fmt"
	"math"

	"oriel/mechanisms/lattice"
)

// Limits of a Contribution.
const (
	// MaxDimension bounds the memory that a configuration can make a process allocate; a sealed state is far smaller.
	MaxDimension = 1 << 24
	// MaxComponents keeps an instance well within the 16 bits that a node has for it.
	MaxComponents = 1 << 10
	// MaxName bounds the length of a component's name, in bytes.
	MaxName = 255
	// MaxNameBytes bounds the length of a name that an event carries.
	MaxNameBytes = 1 << 12
)

// Contribution describes what one record adds to a stream: the integers of its components, concatenated; the key chain
// absorbs them together. Component i is mechanism instance i of the stream's chain, and all sums close at the same
// steps.
type Contribution struct {
	Components []Component // 1 to 1024

	// Nonzero is 0, or the largest usual number of nonzero integers in a contribution. If it is positive, the key chain
	// absorbs only the places and values of nonzero integers, so that, for example, a histogram of many cells is hashed
	// quickly. Because Nonzero changes the noise, it must not change in a stream's life. No guarantee depends on it,
	// and a contribution may have more nonzero integers.
	Nonzero int

	// Names is 0, or the length of the longest name, in bytes: each event then carries a name instead of numbers, and
	// the stream counts names. Components has no meaning for such a stream, except that there is one: take OfNames.
	Names int
}

// Component is one private sum of a stream: a sum of vectors, or of symmetric matrices whose upper triangles are its
// coordinates.
//
// A single component without Quantiser and Scales is the default contribution: its calibrations and states have the
// same bytes as a stream without components.
type Component struct {
	Name string  // shown to people and in errors, up to 255 bytes; may be empty
	Size int     // n, number of coordinates
	Clip float64 // L, ℓ2 bound in scaled coordinates, loss units: no contribution exceeds Λ units of the grid of L

	// Quantiser makes contributions. nil clips to the ball of radius L in the ℓ2 norm of scaled coordinates and rounds
	// to the nearest lattice point. Two contributions are then at most 2Λ apart, and one is at most Λ from the null
	// contribution.
	Quantiser Quantiser

	// Scales are k_1 … k_n: one lattice unit of coordinate i is √k_i·q in loss units, and its noise is √k_i times the
	// noise of a coordinate of scale 1. nil means all 1. For example, the diagonal of second moments has 2 where the
	// rest has 1.
	Scales []uint32

	// Share divides the budget: with Gaussian noise a component gets the part Share/(sum of all Shares) of µ²,
	// otherwise of ε. Share must be at least 1 if there are several components; a single component may have any,
	// including 0.
	Share uint32
}

// Quantiser turns the numbers of a component into lattice integers. Each Quantiser needs a proof of its distances; only
// those of optest and mechtest lack one. Its methods must be pure functions, safe for concurrent use, because
// configurations are shared.
//
// The numbers may include public ones after the private ones, for example a centre from the released decision. A
// record's contribution may then depend on earlier releases, and the distances must hold for every value of the public
// numbers.
type Quantiser interface {
	// Entries returns the length of the component's part of the vector that Stream.Add takes.
	Entries() int

	// Distances returns squares of distances in units of g, in the ℓ2 norm of integers (so in scaled coordinates). They
	// must hold for all vectors, even with NaNs. replace is for two contributions with equal public numbers. zeroOut is
	// for a contribution and the null contribution, which is zero. zeroOut must be at most Λ², and replace at most
	// 4·zeroOut. A longer contribution is never added. Λ has up to 43 bits, so squares may not fit a word: see
	// lattice.Square.
	Distances(g lattice.Grid) (replace, zeroOut lattice.Int128)

	// Quantise writes the contribution of v to dst, which is zero before. It must end with an exact check in integers,
	// as lattice.Grid.Quantise does, because Distances must not depend on floating point.
	Quantise(g lattice.Grid, dst []int64, v []float64)
}

// Local is a Quantiser whose contributions have few neighbouring integers: for example those of one cell of very many.
// A record then takes no time for all the others.
type Local interface {
	Quantiser

	// Range returns which coordinates of the contribution of v may differ from zero, the empty range for none.
	Range(v []float64) (from, to int)

	// QuantiseRange writes these coordinates to dst, which is zero before. Quantise must write the same ones.
	QuantiseRange(g lattice.Grid, dst []int64, v []float64)
}

// Bounded is a Quantiser that bounds not only the norm of a contribution but also each integer. The loss of
// ExponentialMechanism depends on this bound.
type Bounded interface {
	Quantiser

	// Bound returns the largest absolute value of an integer in a contribution: from 1 to Λ. A contribution with a
	// larger one is never added.
	Bound(g lattice.Grid) int64
}

// Largest returns the largest absolute value that an integer of a contribution can have.
func (p Component) Largest(g lattice.Grid) int64 {
	if q, ok := p.Quantiser.(Bounded); ok {
		return q.Bound(g)
	}
	return g.Lambda
}

// OneComponent returns the default contribution: n coordinates, clipped to L.
func OneComponent(n int, clip float64) Contribution {
	return Contribution{Components: []Component{{Size: n, Clip: clip}}}
}

// OfNames returns the contribution of events that carry names of at most longest bytes. Each event adds 1 to the count
// of its name.
func OfNames(longest int) Contribution {
	c := OneComponent(1, 1)
	c.Names = longest
	return c
}

// Absorbed returns the largest number of integers that the chain absorbs for a contribution.
func (l Contribution) Absorbed() int {
	if l.Nonzero > 0 {
		return 2 * l.Nonzero
	}
	return l.Size()
}

// Size returns the number of coordinates of all components.
func (l Contribution) Size() int {
	n := 0
	for _, p := range l.Components {
		n += p.Size
	}
	return n
}

// Entries returns the length of the vector that Stream.Add takes.
func (l Contribution) Entries() int {
	n := 0
	for _, p := range l.Components {
		n += p.Entries()
	}
	return n
}

// Entries returns the length of the component's part of the vector that Stream.Add takes.
func (p Component) Entries() int {
	if p.Quantiser == nil {
		return p.Size
	}
	return p.Quantiser.Entries()
}

// Plain reports whether the contribution is the default one.
func (l Contribution) Plain() bool {
	return len(l.Components) == 1 && l.Components[0].Quantiser == nil && l.Components[0].Scales == nil
}

// Distances returns the squares of the component's distances in units of g.
func (p Component) Distances(g lattice.Grid) (replace, zeroOut lattice.Int128) {
	if p.Quantiser == nil {
		return lattice.Square(2 * g.Lambda), lattice.Square(g.Lambda)
	}
	return p.Quantiser.Distances(g)
}

// Problems calls bad for each problem of a contribution.
func (l Contribution) Problems(bad func(format string, args ...any)) {
	if len(l.Components) < 1 || len(l.Components) > MaxComponents {
		bad("contribution: %d components: not in [1, 1024]", len(l.Components))
	}
	total := 0
	for i, p := range l.Components {
		name := func(format string, args ...any) {
			if len(l.Components) == 1 {
				bad(format, args...)
				return
			}
			bad("component %d %q: "+format, append([]any{i, p.Name}, args...)...)
		}
		p.problems(name)
		if len(l.Components) > 1 && p.Share == 0 {
			name("share 0: not at least 1")
		}
		total += min(max(p.Size, 0), MaxDimension)
	}
	if l.Names < 0 || l.Names > MaxNameBytes || l.Names > 0 && (!l.Plain() || l.Size() != 1) {
		bad("contribution: names of %d bytes: not in [1, %d], with one component", l.Names, MaxNameBytes)
	}
	if l.Nonzero < 0 || l.Nonzero > total {
		bad("contribution: %d nonzero integers: not in [0, %d]", l.Nonzero, total)
	}
	if total > MaxDimension && len(l.Components) > 1 {
		bad("contribution: dimension %d: not in [1, 2^24]", total)
	}
}

func (p Component) problems(bad func(format string, args ...any)) {
	if p.Size < 1 || p.Size > MaxDimension {
		bad("dimension %d: not in [1, 2^24]", p.Size)
	}
	if len(p.Name) > MaxName {
		bad("name of %d bytes: above %d", len(p.Name), MaxName)
	}
	if p.Scales != nil && len(p.Scales) != p.Size {
		bad("%d scales of %d coordinates", len(p.Scales), p.Size)
	}
	for i, k := range p.Scales {
		if k == 0 {
			bad("scale 0 of coordinate %d: not at least 1", i)
			break
		}
	}
	g, err := lattice.NewGrid(p.Clip)
	if err != nil {
		bad("%w", err)
		return
	}
	if p.Quantiser == nil {
		return
	}
	if e := p.Quantiser.Entries(); e < 1 || e > MaxDimension {
		bad("%d entries: not in [1, 2^24]", e)
	}
	replace, zeroOut := p.Quantiser.Distances(g)
	if err := CheckDistances(g, replace, zeroOut); err != nil {
		bad("%w", err)
	}
}

// CheckDistances checks squares of distances against Λ of a grid.
func CheckDistances(g lattice.Grid, replace, zeroOut lattice.Int128) error {
	one, limit := lattice.Int128{Lo: 1}, lattice.Square(g.Lambda)
	short := zeroOut.Less(one) || replace.Less(one)
	if short || limit.Less(zeroOut) || zeroOut.Add(zeroOut).Add(zeroOut).Add(zeroOut).Less(replace) {
		units := lattice.Grid{}
		return fmt.Errorf("distances √%.9g and √%.9g: the second is not in [1, Λ], Λ = %d, or the first not in [1, twice the second]",
			units.Float64(replace), units.Float64(zeroOut), g.Lambda)
	}
	return nil
}

// Roots returns √k_i, correctly rounded and so equal on every CPU, or nil when all are 1.
func Roots(scales []uint32) []float64 {
	if scales == nil {
		return nil
	}
	out := make([]float64, len(scales))
	for i, k := range scales {
		out[i] = math.Sqrt(float64(k))
	}
	return out
}

// Marks is the Quantiser of columns of marks. A number above 0 is a mark, which adds Λ units to its column; any other
// number adds nothing. A contribution has at most one mark: if several numbers are above 0, the first column counts. So
// two contributions are at most √2·Λ apart, or Λ if there is only one column. A contribution is at most Λ from the null
// contribution.
type Marks struct{ Columns int }

// Component returns a component with the marks, each of which counts as 1 in the sums.
func (m Marks) Component() Component { return Component{Size: m.Columns, Clip: 1, Quantiser: m} }

// Entries returns the number of columns.
func (m Marks) Entries() int { return m.Columns }

// Distances returns √2·Λ between two contributions, or Λ if there is only one column, and Λ from zero.
func (m Marks) Distances(g lattice.Grid) (replace, zeroOut lattice.Int128) {
	zeroOut = lattice.Square(g.Lambda)
	if m.Columns == 1 {
		return zeroOut, zeroOut
	}
	return zeroOut.Add(zeroOut), zeroOut
}

// Quantise marks the first column whose number is above 0. It needs no final check in integers, because it writes only
// this mark.
func (m Marks) Quantise(g lattice.Grid, dst []int64, v []float64) {
	for i, x := range v {
		if x > 0 {
			dst[i] = g.Lambda
			return
		}
	}
}
