package noise

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
)

// Gamma draws a vector x of n entries with density proportional to e^(−‖x‖₂/θ), then rounds each entry:
//
//	x = θ·χ·Z,   χ² = Y_0² + … + Y_n²,   Z and Y independent standard normals
//
// (operators/coco/SPEC.md §4.1: this density is that scale mixture of Gaussians). Words 0 … n of the keystream give Y,
// words n+1 … 2n give Z. Nothing is rejected, so every draw takes the same number of words.
type Gamma struct {
	scale Scale
	n     int
	keys  keystream
	words [chunkWords]int64 // words that make Y
}

// NewGamma returns the sampler of vectors of n entries with scale θ = s, 2^-32 ≤ s. The largest powers of two in s and
// n must multiply to less than 2^49, because otherwise a draw could overflow int64.
func NewGamma(s Scale, n int) (*Gamma, error) {
	if n < 1 || n >= 1<<30 {
		return nil, fmt.Errorf("noise: dimension %d: not in [1, 2^30)", n)
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	if s.log()+bits.Len(uint(n)) >= maxScaleLog {
		return nil, errors.New("noise: scale: times the dimension is not below 2^50")
	}
	return &Gamma{scale: s, n: n}, nil
}

// Fill draws dst, whose length must be the n of NewGamma.
func (g *Gamma) Fill(dst []int64, seed Seed) {
	if len(dst) != g.n {
		panic(fmt.Sprintf("BUG: noise: vector has %d entries, want %d", len(dst), g.n))
	}
	g.keys.open(seed)
	f := g.radius()
	rounder := gaussianCurve.rounder(f)
	var slow *slowGamma
	for done := 0; done < len(dst); {
		chunk := dst[done:min(len(dst), done+chunkWords)]
		g.keys.read(chunk)
		for i := rounder.round(chunk); i < len(chunk); i += 1 + rounder.round(chunk[i+1:]) {
			word := uint64(chunk[i])
			n, ok := f.round(gaussianCurve.fine(word))
			n = signed(n, word)
			if !ok {
				if slow == nil {
					slow = newSlowGamma(g.scale, g.n, seed)
				}
				n = slow.decide(word, done+i)
			}
			chunk[i] = n
		}
		done += len(chunk)
	}
}

// radius reads the words of Y and returns θ·χ as a factor, or the zero factor if only the slow path can decide.
func (g *Gamma) radius() factor {
	var sum squares
	fits := true
	for done := 0; done <= g.n; {
		words := g.words[:min(g.n+1-done, chunkWords)]
		g.keys.read(words)
		for i, w := range words {
			y, slack := gaussianCurve.fine(uint64(w))
			if slack == beyond {
				var ok bool
				y, slack, ok = gaussianCurve.beyondTable(newDigits(uint64(w), g.keys.extension(uint32(done+i))))
				fits = fits && ok
			}
			sum.add(y, slack)
		}
		done += len(words)
	}
	if !fits {
		return factor{}
	}
	return sum.times(g.scale)
}

// squares holds Σ y² and off = Σ (y + slack)·slack, in units of 4^-frac for the Gaussian curve. The exact sum of
// squares differs from Σ y² by at most 2·off.
type squares struct {
	sum [3]uint64 // least significant word first
	off [2]uint64
}

func (s *squares) add(y, slack uint64) {
	var carry uint64
	hi, lo := bits.Mul64(y, y)
	s.sum[0], carry = bits.Add64(s.sum[0], lo, 0)
	s.sum[1], carry = bits.Add64(s.sum[1], hi, carry)
	s.sum[2] += carry
	hi, lo = bits.Mul64(y+slack, slack) // cannot overflow, because x is below 8·0.7
	s.off[0], carry = bits.Add64(s.off[0], lo, 0)
	s.off[1] += hi + carry
}

// times returns θ·√sum as a factor, or the zero factor if its error bound would be useless. See PROOF.md, Lemma 4, for
// the slack.
func (s *squares) times(theta Scale) factor {
	length := 128 + bits.Len64(s.sum[2])
	if s.sum[2] == 0 {
		length = 64 + bits.Len64(s.sum[1])
	}
	if length <= 64 {
		return factor{} // all of Y is too small for a bound
	}
	// sum is (hi, lo)·4^e with hi ≥ 2^62, and off below (slack+1)·2^64·4^e.
	e := (length+1)/2 - 64
	hi, lo := shiftRight(s.sum, 2*e)
	over, slack := shiftRight([3]uint64{s.off[0], s.off[1]}, 2*e+64)
	if over != 0 || slack > 1<<40 {
		return factor{}
	}
	root := sqrt128(hi, lo) // root is in [2^63, 2^64), and χ = root·2^(e−frac)

	up := bits.LeadingZeros64(theta.Mant)
	product, _ := bits.Mul64(root, theta.Mant<<up)
	exp := e - gaussianCurve.frac + theta.Exp - up + 64
	if product < 1<<63 {
		product <<= 1
		exp--
	}
	f, _ := gaussianCurve.times(product, exp, 8*(slack+2))
	return f
}

// shiftRight returns the low 128 bits of x·2^-by; −64 ≤ by ≤ 192. The caller must ensure that nothing is lost at the
// top.
func shiftRight(x [3]uint64, by int) (hi, lo uint64) {
	if by < 0 { // the shift drops only zero bits
		up := uint(-by)
		return x[1]<<up | x[0]>>(64-up), x[0] << up
	}
	for ; by >= 64; by -= 64 {
		x[0], x[1], x[2] = x[1], x[2], 0
	}
	down := uint(by)
	return x[2]<<(64-down) | x[1]>>down, x[1]<<(64-down) | x[0]>>down
}

// sqrt128 returns floor(√(hi·2^64 + lo)) for hi ≥ 2^62. The float is only a first guess; integers decide.
func sqrt128(hi, lo uint64) uint64 {
	guess := float64(math.Sqrt(float64(hi)) * (1 << 32))
	r := uint64(1<<64 - 1)
	if guess < 1<<64 {
		r = uint64(guess)
	}
	if r > hi { // a step of Newton's method; the quotient then fits 64 bits
		q, _ := bits.Div64(hi, lo, r)
		r = r/2 + q/2 + r&q&1
	}
	for {
		h, l := bits.Mul64(r, r)
		if h < hi || h == hi && l <= lo {
			break
		}
		r--
	}
	for r < 1<<64-1 {
		h, l := bits.Mul64(r+1, r+1)
		if h > hi || h == hi && l > lo {
			break
		}
		r++
	}
	return r
}

// slowGamma decides the entries of one vector that are in doubt. It keeps the known digits of Y between entries.
type slowGamma struct {
	scale  Scale
	n      int
	keys   keystream
	y      []*digits
	known  []interval
	bits   uint // number of known bits of each Y in chi
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

// decide returns entry i, whose first word is word.
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
