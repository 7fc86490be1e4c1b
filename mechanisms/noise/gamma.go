package noise

import (
	"errors"
	"fmt"
	"math/bits"
)

// Gamma draws a vector x of n entries with density proportional to e^(−‖x‖₂/θ), then rounds each entry:
//
//	x = θ·χ·Z,   χ² = Y_0² + … + Y_n²,   Z and Y independent standard normals
//
// (operators/coco/SPEC.md §4.1: this density is that scale mixture of Gaussians). Words 0 … n of the keystream give Y,
// words n+1 … 2n give Z. Nothing is rejected, so every draw takes the same words.
type Gamma struct {
	scale Scale
	n     int
	keys  keystream
	words [chunkWords]int64 // of Y
}

// NewGamma returns the sampler of vectors of n entries with scale θ = s, 2^-32 ≤ s. The largest powers
// of two in s and n must multiply to less than 2^49, or a draw could leave int64.
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

// Fill draws dst, which must have the n entries of NewGamma.
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

// radius reads the words of Y and returns θ·χ as a factor, the zero one where only the slow path can tell.
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
				y, slack, ok = gaussianCurve.far(newDigits(uint64(w), g.keys.extension(uint32(done+i))))
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

// squares is Σ y² and off = Σ (y + slack)·slack in units of 4^-frac of the Gaussian curve: the true sum of squares is
// within 2·off.
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
	hi, lo = bits.Mul64(y+slack, slack) // no overflow: x is below 8·0.7
	s.off[0], carry = bits.Add64(s.off[0], lo, 0)
	s.off[1] += hi + carry
}

// times returns θ·√sum as a factor, the zero one if its error bound would be of no use. See PROOF.md, Lemma 4, for the
// slack.
func (s *squares) times(theta Scale) factor {
	length := 128 + bits.Len64(s.sum[2])
	if s.sum[2] == 0 {
		length = 64 + bits.Len64(s.sum[1])
	}
	if length <= 64 {
		return factor{} // all of Y tiny
	}
	// sum is (hi, lo)·4^e with hi ≥ 2^62, and off below (slack+1)·2^64·4^e.
	e := (length+1)/2 - 64
	hi, lo := shiftRight(s.sum, 2*e)
	over, slack := shiftRight([3]uint64{s.off[0], s.off[1]}, 2*e+64)
	if over != 0 || slack > 1<<40 {
		return factor{}
	}
	root := sqrt128(hi, lo) // in [2^63, 2^64), χ = root·2^(e−frac)

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
