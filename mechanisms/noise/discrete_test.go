package noise

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
)

// expOf returns e^−(num/den) within 2^-300, by the series of e^−(x/2^16), squared 16 times. It shares no code with the
// sampler.
func expOf(num, den *big.Int) *big.Float {
	const prec, halvings = 400, 16
	x := new(big.Float).SetPrec(prec).SetInt(num)
	x.Quo(x, new(big.Float).SetPrec(prec).SetInt(new(big.Int).Lsh(den, halvings)))
	sum, term := new(big.Float).SetPrec(prec).SetInt64(1), new(big.Float).SetPrec(prec).SetInt64(1)
	for k := int64(1); k < 200; k++ {
		term.Quo(term.Mul(term, x).Neg(term), new(big.Float).SetInt64(k))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}

// decay returns q = e^(−1/s).
func decay(s Scale) *big.Float {
	num, den := big.NewInt(1), new(big.Int).SetUint64(s.Mant)
	if s.Exp < 0 {
		num.Lsh(num, uint(-s.Exp))
	} else {
		den.Lsh(den, uint(s.Exp))
	}
	return expOf(num, den)
}

// edges returns the digits of q^k/(1+q) = P(n ≤ −k) for k = 1, 2, …, in three words: where the draw changes from k to
// k − 1 as u grows in the lower half.
func edges(s Scale, count int) (all [][3]uint64) {
	q := decay(s)
	tail := new(big.Float).SetPrec(400).Quo(q, new(big.Float).SetPrec(400).Add(q, big.NewFloat(1)))
	for range count {
		whole, _ := new(big.Float).SetMantExp(tail, 192).Int(nil)
		var words [3]uint64
		for i := range slices.Backward(words[:]) {
			words[i] = new(big.Int).And(whole, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
			whole.Rsh(whole, 64)
		}
		all = append(all, words)
		tail.Mul(tail, q)
	}
	return all
}

// drawnAt returns the draw of a number given by its first words, with zeros behind them.
func drawnAt(g *perWord, words []uint64) int64 {
	rest := words[1:]
	return g.one(words[0], func() uint64 {
		if len(rest) == 0 {
			return 1 // decides as 0 does, unless it must
		}
		w := rest[0]
		rest = rest[1:]
		return w
	})
}

var smallScales = []Scale{
	{Mant: 1, Exp: -2},
	{Mant: 1},
	{Mant: 3},
	{Mant: 5, Exp: -1},
	{Mant: 7, Exp: -3},
	{Mant: 10},
	{Mant: 0xcccccccccccccccd, Exp: -60},
}

// TestDiscreteLawIsExact computes the whole law of small scales: draws fall as u grows, so the set of all numbers u
// that give −k is one interval. The test checks both ends of each such interval to 192 digits, against an independent
// computation of P(n ≤ −k) = q^k/(1+q), and so every probability to 2^-191. Ends are in the lower half of u; the upper
// half mirrors it. The last interval reaches to ½, so zero has the probability (1−q)/(1+q), not twice as much.
func TestDiscreteLawIsExact(t *testing.T) {
	for _, s := range smallScales {
		g, err := newDiscrete(s)
		if err != nil {
			t.Fatal(err)
		}
		count := tiertest.Runs(4, 30) * int(1+s.Float64())
		for i, edge := range edges(s, count) {
			k := int64(i + 1)
			step := func(by uint64) []uint64 { // the number by units of 2^-192 above the edge
				low := edge[2] + by
				carry := uint64(0)
				if low < edge[2] {
					carry = 1
				}
				return []uint64{edge[0], edge[1] + carry, low}
			}
			below := slices.Clone(edge[:])
			if below[2] -= 2; below[2] > edge[2] {
				t.Fatal("an edge that needs a borrow; choose another scale")
			}
			for _, c := range []struct {
				words []uint64
				want  int64
			}{
				{below, -k}, {step(2), -(k - 1)}, {[]uint64{edge[0] - 1}, -k}, {[]uint64{edge[0] + 1}, -(k - 1)},
			} {
				if edge[0] == 0 && len(c.words) == 1 {
					continue // words below 1 do not exist, and the word 1 is far from the edge
				}
				if got := drawnAt(g, c.words); got != c.want {
					t.Errorf("s=%v k=%d: words %x give %d, want %d", s, k, c.words, got, c.want)
				}
				mirror := slices.Clone(c.words)
				for i := range mirror {
					mirror[i] = ^mirror[i]
				}
				if got := drawnAt(g, mirror); len(c.words) == 1 && got != -c.want {
					t.Errorf("s=%v k=%d: mirrored words %x give %d, want %d", s, k, mirror, got, -c.want)
				}
			}
		}
		if got := drawnAt(g, []uint64{1<<63 - 1, 1}); got != 0 {
			t.Errorf("s=%v: the largest word of the lower half gives %d", s, got)
		}
		if got := drawnAt(g, []uint64{1 << 63, 1}); got != 0 {
			t.Errorf("s=%v: the least word of the upper half gives %d", s, got)
		}
	}
}

// TestEveryPrefixGivesTheLaw enumerates all prefixes of 16 digits. A prefix is decided, or has an end of the law's
// intervals; both must agree with exact probabilities, and the decided mass of each integer must be within one prefix
// at each end of its probability.
func TestEveryPrefixGivesTheLaw(t *testing.T) {
	const bits = 16
	for _, s := range smallScales {
		g, err := newDiscrete(s)
		if err != nil {
			t.Fatal(err)
		}
		mass, q := map[int64]float64{}, math.Exp(-1/s.Float64())
		for prefix := range uint64(1 << bits) {
			low := drawnAt(g, []uint64{prefix << (64 - bits), 1})
			high := drawnAt(g, []uint64{(prefix+1)<<(64-bits) - 1, math.MaxUint64})
			if low > high {
				t.Fatalf("s=%v: draws fall from %d to %d within the prefix %x", s, low, high, prefix)
			}
			if low == high {
				mass[low] += 1.0 / (1 << bits)
			}
		}
		for k := range int64(12) {
			p := (1 - q) / (1 + q) * math.Pow(q, float64(k))
			for _, n := range []int64{k, -k} {
				if got := mass[n]; got > p+1e-12 || got < p-2.0/(1<<bits) {
					t.Errorf("s=%v: prefixes give %d the probability %g, want %g", s, n, got, p)
				}
			}
		}
	}
}

// TestDiscreteLaplaceLaw compares counts with exact probabilities. Continuous noise, rounded, must fail: it draws zero
// with probability 1 − e^(−1/2s) and is otherwise as the law.
func TestDiscreteLaplaceLaw(t *testing.T) {
	for _, s := range []Scale{{Mant: 1, Exp: -1}, {Mant: 1}, {Mant: 3}, {Mant: 10}} {
		counts, q, zero := map[int64]int{}, math.Exp(-1/s.Float64()), 0.0
		draws := draw(t, "discrete", s, 4096)
		for _, v := range draws {
			counts[v]++
			if v == 0 {
				zero++
			}
		}
		chiSquare(t, "discrete "+s.String(), counts, lawDraws, func(k int64) float64 {
			return (1 - q) / (1 + q) * math.Pow(q, math.Abs(float64(k)))
		}, int64(6*s.Float64()))
		p := (1 - q) / (1 + q)
		near(t, "zeros at s="+s.String(), zero/lawDraws, p, math.Sqrt(p*(1-p)), lawDraws)
		// E n² = 2q/(1−q)², and E n⁴ = 2q(1 + 10q + q²)/(1−q)⁴.
		square, fourth := 2*q/math.Pow(1-q, 2), 2*q*(1+10*q+q*q)/math.Pow(1-q, 4)
		near(t, "second moment", moment(draws, 1, 2), square, math.Sqrt(fourth-square*square), lawDraws)
		near(t, "mean", moment(draws, 1, 1), 0, math.Sqrt(square), lawDraws)
	}
}

// TestStepsScaleTheLaw checks that each column has the draws of its own scale s/step, in multiples of step, from the
// word at its place.
func TestStepsScaleTheLaw(t *testing.T) {
	s := Scale{Mant: 12345, Exp: 10}
	for _, steps := range [][]int64{{1 << 24}, {1 << 20, 1}, {3, 1, 1, 3, 7}, {5, 5, 5}, slices.Repeat([]int64{9}, 300)} {
		d, err := NewDiscreteLaplace(s, steps)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{1, 3, 127, 128, 129, 1000} {
			seed, got := Seed{byte(n), 3}, make([]int64, n)
			d.Fill(got, seed)
			var k keystream
			k.open(seed)
			alone := map[int64]*perWord{}
			for i := range got {
				step := steps[i%len(steps)]
				if alone[step] == nil {
					if alone[step], err = newDiscrete(s.over(step)); err != nil {
						t.Fatal(err)
					}
				}
				if want := step * alone[step].one(next(&k), k.extension(uint32(i))); got[i] != want {
					t.Fatalf("steps %v, coordinate %d of %d: %d, want %d", steps, i, n, got[i], want)
				}
			}
		}
	}
	for _, steps := range [][]int64{nil, {0}, {1, -1}, {1 << 62, 1}} {
		if _, err := NewDiscreteLaplace(Scale{Mant: 1}, steps); err == nil {
			t.Errorf("steps %v are accepted", steps)
		}
	}
}

// TestScaleOverStepRoundsUp checks s ≤ step·(s/step) < s·(1 + 2^-63), exactly, and that a power of two loses nothing.
func TestScaleOverStepRoundsUp(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 1))
	exact := func(s Scale) *big.Rat {
		x := new(big.Rat).SetInt(new(big.Int).SetUint64(s.Mant))
		two := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(max(s.Exp, -s.Exp))))
		if s.Exp < 0 {
			return x.Quo(x, two)
		}
		return x.Mul(x, two)
	}
	for range 5000 {
		s, step := Scale{Mant: r.Uint64()>>r.IntN(64) | 1, Exp: r.IntN(60) - 40}, 1+r.Int64N(1<<43)
		if r.IntN(4) == 0 {
			step = 1 << r.IntN(43)
		}
		got := exact(s.over(step))
		got.Mul(got, new(big.Rat).SetInt64(step))
		over := got.Quo(got, exact(s))
		excess, _ := over.Sub(over, big.NewRat(1, 1)).Float64()
		if excess < 0 || excess >= 0x1p-63 || step&(step-1) == 0 && excess != 0 {
			t.Fatalf("%v over %d is %v: too large by %g", s, step, s.over(step), excess)
		}
	}
}

// TestLiftIsEnclosed compares λ = ln(2/(1+q)) with e^λ·(1+q) = 2, over the whole range of scales.
func TestLiftIsEnclosed(t *testing.T) {
	for _, s := range []Scale{
		{Mant: 1, Exp: -32},
		{Mant: 1, Exp: -9},
		{Mant: 683, Exp: -19},
		{Mant: 1, Exp: -6},
		{Mant: 1},
		{Mant: 3, Exp: 10},
		{Mant: 1<<63 + 1, Exp: -14},
	} {
		lift, q := liftOf(s), new(big.Float).SetPrec(400)
		if s.log() > -9 {
			q = decay(s) // below, q is less than 2^-700
		}
		for _, end := range []*big.Int{lift.lo, lift.hi} {
			y := expOf(new(big.Int).Neg(end), new(big.Int).Lsh(big.NewInt(1), lift.p)) // e^λ
			y.Mul(y, q.Add(q, big.NewFloat(1)))
			q.Sub(q, big.NewFloat(1))
			if off, _ := y.Sub(y, big.NewFloat(2)).Float64(); math.Abs(off) > 0x1p-290 {
				t.Errorf("s=%v: e^λ·(1+q) is 2 + %g", s, off)
			}
		}
		if width := new(big.Int).Sub(lift.hi, lift.lo); width.Cmp(big.NewInt(3)) != 0 {
			t.Errorf("s=%v: enclosed to %v units", s, width)
		}
	}
}
