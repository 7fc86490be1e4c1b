package noise

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"sort"
)

// Truncated draws independent integers n of −M … M with P(n) ∝ e^(−|n|/s). The law is exact if the keystream's bits are
// independent and uniform. It is drawn by inversion of an exact table, one word a draw; nothing is rejected:
//
//	|n| = the number of k ≥ 1 with v < t_k,   t_k = P(n ≥ k) = (r^k − r^(M+1))/(1 + r − 2r^(M+1)),   r = e^(−1/s)
//
// and the sign is the half of u. Zero has both signs, each with half of its probability. The table has ⌊2^64·t_k⌋. A
// word whose folded value is in the table is extended, because only further digits decide (PROOF.md, Lemma 6).
type Truncated struct {
	scale Scale
	table []uint64  // ⌊2^64·t_k⌋ for k = 1 … M, falling
	tails []float64 // t_k for k = 1 … M, rounded
	keys  keystream
}

// MaxTruncated is the largest M, because the table has M entries.
const MaxTruncated = 1 << 16

// tableBits is the number of fraction bits with which the table is computed. Its powers are off by less than 4M units,
// and 1 + r − 2r^(M+1) is at least 2^-51.
const tableBits = 256

var errTruncated = errors.New("noise: truncated law: not 1 ≤ M ≤ 2^16, or an end below 2^-64")

// NewTruncated returns the sampler of scale s, 2^-32 ≤ s < 2^50, on −most … most.
func NewTruncated(s Scale, most int64) (*Truncated, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if most < 1 || most > MaxTruncated {
		return nil, errTruncated
	}
	t := &Truncated{scale: s, table: make([]uint64, most), tails: make([]float64, most)}
	r, slack := s.power(1, tableBits), big.NewInt(4*MaxTruncated)
	powers := make([]*big.Int, most+1) // r^1 … r^(M+1)
	powers[0] = r
	for k := range most {
		powers[k+1] = new(big.Int).Mul(powers[k], r)
		powers[k+1].Rsh(powers[k+1], tableBits)
	}
	last := powers[most]
	whole := new(big.Int).Lsh(big.NewInt(1), tableBits)
	whole.Add(whole, r).Sub(whole, last).Sub(whole, last)
	var low, high, below, above big.Int
	for k := range t.table {
		rest := powers[k].Sub(powers[k], last)
		t.tails[k], _ = new(big.Float).Quo(new(big.Float).SetInt(rest), new(big.Float).SetInt(whole)).Float64()
		low.Quo(low.Lsh(low.Sub(rest, slack), 64), above.Add(whole, slack))
		high.Quo(high.Lsh(high.Add(rest, slack), 64), below.Sub(whole, slack))
		if low.Cmp(&high) != 0 || low.Sign() <= 0 {
			return nil, errTruncated
		}
		t.table[k] = low.Uint64()
	}
	return t, nil
}

// power returns e^(−k/s) with the given number of fraction bits, within two units.
func (s Scale) power(k int64, fraction uint) *big.Int {
	top := new(big.Int).Lsh(big.NewInt(k), uint(max(0, -s.Exp)))
	mant := new(big.Int).Lsh(new(big.Int).SetUint64(s.Mant), uint(max(0, s.Exp)))
	z := new(big.Int).Quo(top, mant)
	if z.Cmp(big.NewInt(int64(fraction))) >= 0 {
		return new(big.Int)
	}
	q := workBits(z, fraction)
	e, _ := series(z.Quo(z.Lsh(top, q), mant), q)
	return e.Rsh(e, q-fraction)
}

// LeastTruncation returns the least M with P(n = M) ≤ top.
func LeastTruncation(s Scale, top float64) (most int64, err error) {
	if err := s.check(); err != nil {
		return 0, err
	}
	most = 1 + int64(sort.Search(MaxTruncated, func(i int) bool { return s.TruncatedEnd(int64(i)+1) <= top }))
	if most > MaxTruncated {
		return 0, errTruncated
	}
	return most, nil
}

// TruncatedEnd returns P(n = M), rounded up.
func (s Scale) TruncatedEnd(most int64) float64 {
	at, last, r := s.power(most, tableBits), s.power(most+1, tableBits), s.power(1, tableBits)
	slack := big.NewInt(8)
	x := new(big.Int).Lsh(big.NewInt(1), tableBits)
	x.Add(x, r).Sub(x, last).Sub(x, last).Sub(x, slack)
	end := new(big.Float).SetInt(at.Sub(at, last).Add(at, slack))
	return upper(end.Quo(end, new(big.Float).SetInt(x)))
}

// upper returns a number above x, whose operands were rounded outwards.
func upper(x *big.Float) float64 {
	y, _ := x.Float64()
	return math.Float64frombits(math.Float64bits(y) + 1)
}

// Tails returns P(n ≥ k) for k = 1 … M, each rounded. The caller must not modify it.
func (t *Truncated) Tails() []float64 { return t.tails }

// Fill draws dst. Coordinate i takes word i of the keystream and, if the word leaves a doubt, its extension.
func (t *Truncated) Fill(dst []int64, seed Seed) {
	t.keys.open(seed)
	for done := 0; done < len(dst); {
		chunk := dst[done:min(len(dst), done+chunkWords)]
		t.keys.read(chunk)
		for i, word := range chunk {
			chunk[i] = t.one(uint64(word), func() func() uint64 { return t.keys.extension(uint32(done + i)) })
		}
		done += len(chunk)
	}
}

// one draws from a word; extension returns a function that returns the words after it.
func (t *Truncated) one(word uint64, extension func() func() uint64) int64 {
	a, _ := fold(word)
	k, doubt := slices.BinarySearchFunc(t.table, a, func(entry, a uint64) int {
		switch {
		case entry > a:
			return -1
		case entry == a:
			return 0
		}
		return 1
	})
	n := int64(k)
	if doubt {
		n = t.decide(n, newDigits(word, extension()))
	}
	return signed(n, word)
}

// decide returns |n| ≥ k for the infinitely long v of d, of which the first word is in the table.
func (t *Truncated) decide(k int64, d *digits) int64 {
	for d.extend(128); k < int64(len(t.table)); {
		low, high := t.tail(k+1, d.bits)
		switch {
		case d.value.Cmp(low) < 0:
			k++
		case d.value.Cmp(high) >= 0:
			return k
		default:
			d.extend(d.bits + 64)
		}
	}
	return k
}

// tail encloses 2^fraction·t_k: low and high are integers, low at most and high at least the number. It computes the
// powers by the series, as the table does not.
func (t *Truncated) tail(k int64, fraction uint) (low, high *big.Int) {
	const guard = 192
	work := fraction + guard
	last, r := t.scale.power(int64(len(t.table))+1, work), t.scale.power(1, work)
	rest := t.scale.power(k, work)
	rest.Sub(rest, last)
	whole := new(big.Int).Lsh(big.NewInt(1), work)
	whole.Add(whole, r).Sub(whole, last).Sub(whole, last)
	slack := big.NewInt(8)
	low, high = new(big.Int).Sub(rest, slack), new(big.Int).Add(rest, slack)
	low.Quo(low.Lsh(low, fraction), new(big.Int).Add(whole, slack))
	high.Quo(high.Lsh(high, fraction), new(big.Int).Sub(whole, slack))
	return low, high.Add(high, big.NewInt(1))
}

// NormalTails returns P(n ≥ k) for k = 1 … of n = round(s·Z), Z standard normal, each rounded, as long as they are at
// least 2^-64 and at most MaxTruncated of them. It is NewTruncated's Tails for Gaussian.
func NormalTails(s Scale) []float64 {
	var tails []float64
	for k := int64(1); k <= MaxTruncated; k++ {
		x, _ := s.normalTail(k).Float64()
		if x < 0x1p-64 {
			break
		}
		tails = append(tails, x)
	}
	return tails
}

// NormalTail returns P(n ≥ k) of n = round(s·Z) for k ≥ 1, rounded up; less than 2^-64 becomes 2^-64.
func (s Scale) NormalTail(k int64) float64 { return max(0x1p-64, upper(s.normalTail(k))) }

// normalTail returns Φ(−(k − 1/2)/s) within 2^-156, or 0 if it is far below 2^-64.
func (s Scale) normalTail(k int64) *big.Float {
	const fraction = 160
	twice := new(big.Int).Lsh(new(big.Int).SetUint64(s.Mant), uint(max(0, s.Exp)+1))
	y := new(big.Int).Lsh(big.NewInt(2*k-1), fraction+uint(max(0, -s.Exp)))
	if y.Quo(y, twice); y.BitLen() > fraction+5 {
		return new(big.Float) // beyond 32 deviations
	}
	survival, _ := gaussianTail(y, fraction)
	return new(big.Float).SetMantExp(new(big.Float).SetInt(survival.Add(survival, big.NewInt(8))), -fraction)
}
