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
// (window-coco.md §4.1: this density is that scale mixture of Gaussians). Words 0 … n of the keystream give Y, words
// n+1 … 2n give Z. Nothing is rejected, so every draw takes the same words.
type Gamma struct {
	scale  Scale
	n      int
	keys   keystream
	points points
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
	f, ok := g.radius()
	var slow *slowGamma
	for done := 0; done < len(dst); {
		chunk := dst[done:min(len(dst), done+chunkWords)]
		words := g.keys.next(len(chunk))
		gaussianCurve.locate(&g.points, words)
		for i := 0; ; i++ {
			if ok {
				i = g.points.round(chunk, i, f)
			}
			if i == len(chunk) {
				break
			}
			if slow == nil {
				slow = newSlowGamma(g.scale, g.n, seed)
			}
			chunk[i] = slow.decide(wordAt(words, i), done+i)
		}
		done += len(chunk)
	}
}

// radius reads the words of Y and returns θ·χ as a factor; ok is false where only the slow path can tell.
func (g *Gamma) radius() (f factor, ok bool) {
	var sum squares
	ok = true
	for done := 0; done <= g.n; {
		words := g.keys.next(min(g.n+1-done, chunkWords))
		gaussianCurve.locate(&g.points, words)
		for i := range len(words) / 8 {
			y, slack := g.points.x[i], g.points.mark[i]>>1
			if slack == beyond {
				var found bool
				y, slack, found = gaussianCurve.far(newDigits(wordAt(words, i), g.keys.extension(uint32(done+i))))
				ok = ok && found
			}
			sum.add(y, slack)
		}
		done += len(words) / 8
	}
	if !ok {
		return factor{}, false
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

// times returns θ·√sum as a factor. See PROOF.md, Lemma 4, for the slack.
func (s *squares) times(theta Scale) (f factor, ok bool) {
	length := 128 + bits.Len64(s.sum[2])
	if s.sum[2] == 0 {
		length = 64 + bits.Len64(s.sum[1])
	}
	if length <= 64 {
		return factor{}, false // all of Y tiny: the error bound would be of no use
	}
	// sum is (hi, lo)·4^e with hi ≥ 2^62, and off below (slack+1)·2^64·4^e.
	e := (length+1)/2 - 64
	hi, lo := shiftRight(s.sum, 2*e)
	over, slack := shiftRight([3]uint64{s.off[0], s.off[1]}, 2*e+64)
	if over != 0 || slack > 1<<40 {
		return factor{}, false
	}
	root := sqrt128(hi, lo) // in [2^63, 2^64), χ = root·2^(e−frac)

	up := bits.LeadingZeros64(theta.Mant)
	product, _ := bits.Mul64(root, theta.Mant<<up)
	exp := e - gaussianCurve.frac + theta.Exp - up + 64
	if product < 1<<63 {
		product <<= 1
		exp--
	}
	return gaussianCurve.times(product, exp, 8*(slack+2))
}
