package noise

import "math/big"

// slowGamma decides entries of one vector in doubt. It keeps what is known of Y between them.
type slowGamma struct {
	scale  Scale
	n      int
	keys   keystream
	y      []*digits
	known  []interval
	bits   uint // of Y in chi
	chi    interval
	factor *big.Int
}

func newSlowGamma(s Scale, n int, seed Seed) *slowGamma {
	g := &slowGamma{scale: s, n: n, factor: new(big.Int).SetUint64(s.Mant)}
	g.keys.open(seed)
	for len(g.y) <= n {
		var word [1]int64
		g.keys.read(word[:])
		g.y = append(g.y, newDigits(uint64(word[0]), g.keys.extension(uint32(len(g.y)))))
	}
	g.known = make([]interval, n+1)
	return g
}

// decide returns entry i, whose word is given.
func (g *slowGamma) decide(word uint64, i int) int64 {
	d := newDigits(word, g.keys.extension(uint32(g.n+1+i)))
	var z interval
	for bits := uint(128); ; bits += 64 {
		d.extend(bits)
		z = gaussianCurve.enclose(d, z)
		g.refine(bits)
		x := interval{lo: new(big.Int).Mul(z.lo, g.chi.lo), hi: new(big.Int).Mul(z.hi, g.chi.hi), p: z.p + g.chi.p}
		if n, ok := x.rounded(g.factor, g.scale.Exp); ok {
			if d.negative() {
				return -n
			}
			return n
		}
	}
}

// refine makes chi an enclosure of χ from at least the given bits of every Y.
func (g *slowGamma) refine(bits uint) {
	if g.bits >= bits {
		return
	}
	g.bits = bits
	p := bits + 64
	g.chi = interval{lo: new(big.Int), hi: new(big.Int), p: p}
	square := new(big.Int)
	for i, d := range g.y {
		d.extend(bits)
		y := gaussianCurve.enclose(d, g.known[i])
		g.known[i] = y
		drop := 2 * (y.p - p)
		g.chi.lo.Add(g.chi.lo, square.Rsh(square.Mul(y.lo, y.lo), drop))
		g.chi.hi.Add(g.chi.hi, square.Rsh(square.Mul(y.hi, y.hi), drop))
		g.chi.hi.Add(g.chi.hi, big.NewInt(1))
	}
	g.chi.lo.Sqrt(g.chi.lo)
	g.chi.hi.Add(g.chi.hi.Sqrt(g.chi.hi), big.NewInt(1))
}
