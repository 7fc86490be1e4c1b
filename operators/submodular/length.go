package submodular

import (
	"encoding/binary"
	"math"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/lattice"
)

// boundedGainsQuantiser is the Quantiser of non-negative gains with a public bound on their length, at each position or
// for each copy. Longer gains are scaled down to it and negative numbers become 0. If a number is NaN, the gains of its
// position become zero. Because gains are not negative, the distance of two of them is at most √2 times the length
// bound, and not twice the bound. So the distance of two contributions is at most √(2·Positions)·Most, and the distance
// from zero at most √Positions·Most.
type boundedGainsQuantiser struct {
	Positions, Elements int
	Most                float64 // M, the bound on the length of a position's gains
}

func (s boundedGainsQuantiser) Entries() int { return s.Positions * s.Elements }

func (s boundedGainsQuantiser) Component() contribution.Component {
	clip := float64(math.Sqrt(float64(s.Positions)) * s.Most)
	return contribution.Component{Name: "gains", Size: s.Entries(), Clip: clip, Quantiser: s}
}

// radius returns M in grid units, reduced if necessary so that the gains of all positions are within Λ.
func (s boundedGainsQuantiser) radius(g lattice.Grid) int64 { return fitting(g, s.Most, s.Positions) }

// Distances returns the squares of √(2·Positions)·M and √Positions·M.
func (s boundedGainsQuantiser) Distances(g lattice.Grid) (replace, zeroOut lattice.Int128) {
	zeroOut = times(s.Positions, lattice.Square(s.radius(g)))
	return zeroOut.Add(zeroOut), zeroOut
}

// Quantise scales each position to its length, rounds as lattice.Grid does, and clamps the integers.
func (s boundedGainsQuantiser) Quantise(g lattice.Grid, dst []int64, v []float64) {
	one := lattice.Grid{Exp: g.Exp, Lambda: s.radius(g)}
	for at := 0; at < len(v); at += s.Elements {
		gains := dst[at:][:s.Elements]
		one.Quantise(gains, v[at:][:s.Elements])
		for i, x := range gains {
			gains[i] = max(0, x)
		}
	}
}

// listed reports whether a public list gives a bound on the length of gains.
func (c operator) listed() bool {
	return len(c.types) > 0 && c.norm == 0 && c.rule == byArgmax
}

// lengthOf returns M, or 0 if gains are centred on ½ and have no bound. For a public list, M is the length of the
// longest gains at the first position, if this reduces the sensitivity. No element has a larger gain at a later
// position.
func (c operator) lengthOf(m mechanisms.Config) float64 {
	if !c.listed() {
		return c.norm
	}
	longest, table := 0.0, c.table()
	for j := range c.types {
		sum := 0.0
		for _, v := range table[j*c.elements:][:c.elements] {
			g := c.function.gain(0, v, c.pick)
			sum += float64(g * g)
		}
		longest = max(longest, sum)
	}
	half := float64(c.elements) / 2 // under replace the bound M reduces the sensitivity if 2k·M² < kN
	if m.Unit.AgainstNull() {
		half /= 2 // under zero-out it does if k·M² < kN/4
	}
	if longest >= half {
		return 0
	}
	return math.Sqrt(longest)
}

// centre returns the constant that is subtracted from gains.
func (c operator) centre() float64 {
	if c.length > 0 {
		return 0
	}
	return 0.5
}

// component returns the component of a contribution: the type of an event, or its gains.
func (c operator) component(m mechanisms.Config) contribution.Component {
	if c.rule == byHistogram {
		return typeQuantiser{Types: len(c.types)}.Component()
	}
	positions := c.pick
	if c.rule == byShares {
		positions = c.copiesOf(m)
	}
	if c.length > 0 {
		return boundedGainsQuantiser{Positions: positions, Elements: c.elements, Most: c.length}.Component()
	}
	return gainsQuantiser{Size: positions * c.elements}.Component()
}

// appendLength and readLength write and read the end of a plan whose gains have the length bound M, f64.
func appendLength(b []byte, length float64) []byte {
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(length))
}

func readLength(b []byte) (rest []byte, length float64, ok bool) {
	at := len(b) - 8
	if at < 0 {
		return nil, 0, false
	}
	length = math.Float64frombits(binary.LittleEndian.Uint64(b[at:]))
	return b[:at], length, length >= 0 && length <= maxElements
}
