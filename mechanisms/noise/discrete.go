package noise

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"oriel/mechanisms/noise/internal/tables"
)

// DiscreteLaplace draws independent integers n with P(n) = (1−q)/(1+q)·q^|n|, q = e^(−1/s), and multiplies them by
// steps. The law is exact if the keystream's bits are independent and uniform. Its sensitivity is measured in ℓ1.
//
// The sign is the half of u, and the magnitude is the floor of an exponential that is moved up by inversion:
//
//	|n| = floor(s·(x(v) + λ)),   x(v) = −ln 2v,   λ = ln(2/(1 + q))
//
// so P(|n| ≥ k) = 2q^k/(1+q) for k ≥ 1. Zero has both signs, each with half of its probability; nothing is rejected.
// Without λ the sampler would draw zero too often. With 1/(2s) in its place it would be Laplace, which rounds.
type DiscreteLaplace struct {
	runs []run
	keys keystream
}

// run is neighbouring coordinates that have one step.
type run struct {
	length int
	step   int64
	draw   *perWord
}

// NewDiscreteLaplace returns the sampler of scale s on multiples of steps. Coordinate i is a multiple of step j = i
// modulo len(steps): step·n with P(n) ∝ e^(−|n|·step/s). For that s/step is rounded up, relatively by less than 2^-63,
// and so is exact for a power of two. s and s/step must be in [2^-32, 2^50), and steps positive.
func NewDiscreteLaplace(s Scale, steps []int64) (*DiscreteLaplace, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	d := &DiscreteLaplace{}
	for i, step := range steps {
		if step < 1 {
			return nil, fmt.Errorf("noise: step %d of column %d: below 1", step, i)
		}
		if last := len(d.runs) - 1; last >= 0 && d.runs[last].step == step {
			d.runs[last].length++
			continue
		}
		same := slices.IndexFunc(d.runs, func(r run) bool { return r.step == step })
		if same >= 0 {
			d.runs = append(d.runs, run{1, step, d.runs[same].draw})
			continue
		}
		draw, err := newDiscrete(s.over(step))
		if err != nil {
			return nil, err
		}
		d.runs = append(d.runs, run{1, step, draw})
	}
	if len(d.runs) == 0 {
		return nil, errors.New("noise: a discrete Laplace sampler has no steps")
	}
	if len(d.runs) == 1 {
		d.runs[0].length = chunkWords
	}
	return d, nil
}

// Fill draws dst. Coordinate i takes word i of the keystream and, if the word leaves a doubt, its extension.
func (d *DiscreteLaplace) Fill(dst []int64, seed Seed) {
	d.keys.open(seed)
	at, left := 0, d.runs[0].length // the run of the next coordinate, and how much is left of it
	for done := 0; done < len(dst); {
		chunk := dst[done:min(len(dst), done+chunkWords)]
		d.keys.read(chunk)
		for len(chunk) > 0 {
			r := &d.runs[at]
			part := chunk[:min(left, len(chunk))]
			r.draw.draw(part, &d.keys, done)
			for i := range part {
				part[i] *= r.step
			}
			chunk, done, left = chunk[len(part):], done+len(part), left-len(part)
			if left == 0 {
				at = (at + 1) % len(d.runs)
				left = d.runs[at].length
			}
		}
	}
}

// liftBits is the number of fraction bits of λ, more than an interval ever has.
const liftBits = 64*(2+maxExtension) + 64

// newDiscrete returns the sampler of the integers n.
func newDiscrete(s Scale) (*perWord, error) {
	g, err := newPerWord(&laplaceCurve, s)
	if err != nil {
		return nil, err
	}
	g.lift = liftOf(s)
	fixed := new(big.Int).Rsh(g.lift.lo, liftBits-uint(g.curve.frac))
	g.factor.lift = fixed.Rsh(fixed.Mul(fixed, new(big.Int).SetUint64(g.factor.mant)), 64).Uint64()
	g.factor.slack += 3 // one unit each for the two floors, and for bits that mant may have dropped
	g.rounder = g.curve.rounder(g.factor)
	return g, nil
}

// liftOf encloses λ = ln(2/(1 + e^(−1/s))) = −ln(1 − w), w = (1 − e^(−1/s))/2 ≤ ½, by the sum of w^k/k (PROOF.md,
// Lemma 5).
func liftOf(s Scale) *interval {
	const work = liftBits + 64
	one := new(big.Int).Lsh(big.NewInt(1), work)
	whole := new(big.Int).Lsh(big.NewInt(1), uint(max(0, -s.Exp)))
	mant := new(big.Int).Lsh(new(big.Int).SetUint64(s.Mant), uint(max(0, s.Exp)))
	w := new(big.Int).Set(one)
	if z := new(big.Int).Quo(whole, mant); z.Cmp(big.NewInt(work)) < 0 { // otherwise e^(−1/s) is below 2^-work
		q := workBits(z, work)
		e, _ := series(z.Quo(z.Lsh(whole, q), mant), q)
		w.Sub(one, e.Rsh(e, q-work))
	}
	w.Rsh(w, 1)
	sum, power, term := new(big.Int), new(big.Int).Set(w), new(big.Int)
	for k := int64(1); power.Sign() > 0; k++ {
		sum.Add(sum, term.Quo(power, big.NewInt(k)))
		power.Rsh(power.Mul(power, w), work)
	}
	low := sum.Rsh(sum, work-liftBits)
	return &interval{lo: low.Sub(low, big.NewInt(1)), hi: new(big.Int).Add(low, big.NewInt(3)), p: liftBits}
}

// plus returns the enclosure of x + y at the precision of x, which must not be above that of y.
func (x interval) plus(y *interval) interval {
	up := y.p - x.p
	lo, hi := new(big.Int).Rsh(y.lo, up), new(big.Int).Rsh(y.hi, up)
	hi.Add(hi, big.NewInt(1))
	return interval{lo: lo.Add(lo, x.lo), hi: hi.Add(hi, x.hi), p: x.p}
}

// coarseFirst is the number of the coarse table's first segment: v·2^64 in [2^62, 2^63) is octave 0, the last one.
const coarseFirst = (1023 + 62 - (tables.CoarseOctaves - 1)) * tables.Segments

// segment returns the row of a folded word in the coarse table, and its t; at is not the index of a row if the word is
// beyond the table.
//
// The table is indexed by v·2^64 rounded to a float64: exponent and six bits of the fraction are a segment's number,
// and the rest of the fraction is h. The direction of rounding does not matter, even into the next segment, because
// segment and h come from the same float64 and the error bound covers the distance. One bound for all octaves, near
// 2^-50, makes the loop of round short. It leaves one draw in 2^8 in doubt, and more for scales above 2^40. The fine
// table decides these draws.
func segment(folded int64) (at, t uint64) {
	b := math.Float64bits(float64(folded))
	return b>>46 - coarseFirst, ^(b << 18)
}

// eval returns x. Horner's floors lose less than tables.CoarseDegree units, and the stored c0 includes half of the
// loss.
func eval(row *tables.CoarseRow, t uint64) (x uint64) {
	s, _ := bits.Mul64(row[5], t)
	s, _ = bits.Mul64(row[4]+s, t)
	s, _ = bits.Mul64(row[3]+s, t)
	s, _ = bits.Mul64(row[2]+s, t)
	s, _ = bits.Mul64(row[1]+s, t)
	return row[0] + s
}

// rounder turns words into draws with the coarse table.
type rounder struct {
	table *tables.Coarse
	mant  uint64
	shift uint
	window
}

// rounder returns the rounder of a scale.
func (c *curve) rounder(f factor) rounder {
	return rounder{table: c.coarse, mant: f.mant, shift: f.shift, window: f.window(c.coarseSlack)}
}

// round replaces the words in dst by their draws up to the first draw in doubt. It returns the index of that word, or
// the length of dst.
func (r *rounder) round(dst []int64) int {
	table, mant, shift, offset, low, width := r.table, r.mant, r.shift, r.offset, r.low, r.width
	for i, word := range dst {
		mask := word >> 63 // the sign mask, as in fold
		at, t := segment(word ^ mask)
		if at >= uint64(len(table)) {
			return i
		}
		y, _ := bits.Mul64(eval(&table[at], t), mant)
		y += offset
		if y&low >= width {
			return i
		}
		dst[i] = (mask - int64(y>>(shift&63))) ^ mask // applies the sign, as in signed
	}
	return len(dst)
}
