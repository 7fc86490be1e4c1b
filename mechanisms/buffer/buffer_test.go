package buffer_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"oriel/mechanisms/buffer"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest/sumtest"
	"oriel/mechanisms/noise"
)

// two returns 2^n.
func two(n uint) *big.Int { return new(big.Int).Lsh(big.NewInt(1), n) }

// wrapped returns x modulo 2¹²⁸, in the range from −2¹²⁷.
func wrapped(x *big.Int) *big.Int {
	x = new(big.Int).Add(x, two(127))
	return x.Mod(x, two(128)).Sub(x, two(127))
}

// random returns an integer of either sign and of random length, up to most bits.
func random(rng *rand.Rand, most int) lattice.Int128 {
	x := lattice.Int128{Hi: int64(rng.Uint64()), Lo: rng.Uint64()}
	for range 128 - most + rng.IntN(most) {
		x.Lo = x.Lo>>1 | uint64(x.Hi)<<63
		x.Hi >>= 1
	}
	return x
}

// TestArithmeticIsThatOfIntegers compares Plus and Decayed with sum + r·c and ⌊q·c/2³⁰⌋ + x in unbounded integers, in
// which the test wraps Plus to two's complement.
func TestArithmeticIsThatOfIntegers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		sum, c, r := random(rng, 128), random(rng, 128), int64(rng.Uint64())>>rng.IntN(64)
		want := new(big.Int).Mul(sumtest.Integer(c), big.NewInt(r))
		want = wrapped(want.Add(want, sumtest.Integer(sum)))
		if got := sumtest.Integer(buffer.Plus(sum, c, r)); got.Cmp(want) != 0 {
			t.Fatalf("Plus(%v, %v, %d) = %d, want %d", sum, c, r, got, want)
		}
		c, x, q := random(rng, 97), random(rng, 125), rng.Uint32N(1<<buffer.FractionBits)
		want = new(big.Int).Mul(sumtest.Integer(c), big.NewInt(int64(q)))
		want.Rsh(want, buffer.FractionBits).Add(want, sumtest.Integer(x)) // Rsh rounds towards −∞, also below zero
		if got := sumtest.Integer(buffer.Decayed(c, q, x)); got.Cmp(want) != 0 {
			t.Fatalf("Decayed(%v, %d, %v) = %d, want %d", c, q, x, got, want)
		}
	}
}

// TestWithinIsInclusive checks |x| ≤ limit at the limit and beside it, also for the x whose |x| overflows.
func TestWithinIsInclusive(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	check := func(x, limit lattice.Int128) {
		t.Helper()
		want := new(big.Int).Abs(sumtest.Integer(x)).Cmp(sumtest.Integer(limit)) <= 0
		if got := buffer.Within(x, limit); got != want {
			t.Fatalf("Within(%v, %v) = %v", x, limit, got)
		}
	}
	for range 100_000 {
		limit := random(rng, 128)
		if limit.Hi < 0 {
			limit = lattice.Int128{Hi: ^limit.Hi, Lo: ^limit.Lo}
		}
		minus := lattice.Int128{Hi: ^limit.Hi, Lo: ^limit.Lo}.AddInt64(1)
		for _, x := range []lattice.Int128{
			limit, limit.AddInt64(-1), minus, minus.AddInt64(1), random(rng, 128), {Hi: -1 << 63},
		} {
			check(x, limit)
		}
		if limit.Hi != 1<<63-1 {
			check(limit.AddInt64(1), limit)
			check(minus.AddInt64(-1), limit)
		}
	}
}

// TestLimitsHoldAndAreReached checks that a buffer fed for ever with draws at the reach stays within its limit and
// comes close to the limit.
func TestLimitsHoldAndAreReached(t *testing.T) {
	poles := []uint32{1 << 28, 1 << 29, 1<<30 - 1<<22}
	residue := func(k int) int64 { return int64(k+1) << 20 }
	for _, scale := range []uint64{1, 1000, 1 << 40} {
		for _, fraction := range []uint{8, 20, 33} {
			limits := make([]lattice.Int128, len(poles))
			if err := buffer.Limits(limits, poles, residue, fraction, noise.Scale{Mant: scale}); err != nil {
				t.Fatalf("scale %d, %d fraction bits: %v", scale, fraction, err)
			}
			for _, top := range []int64{buffer.Reach * int64(scale), -buffer.Reach * int64(scale)} {
				x := lattice.Int128{Hi: top >> (64 - fraction), Lo: uint64(top) << fraction}
				for k, q := range poles {
					c := lattice.Int128{}
					for range 1 << 13 {
						if c = buffer.Decayed(c, q, x); !buffer.Within(c, limits[k]) {
							t.Fatalf("scale %d: buffer %d leaves its limit", scale, k)
						}
					}
					reached := new(big.Rat).SetFrac(sumtest.Integer(c), sumtest.Integer(limits[k]))
					if part, _ := reached.Abs(reached).Float64(); part < 0.9 {
						t.Errorf("scale %d: buffer %d reaches %g of its limit", scale, k, part)
					}
				}
			}
		}
	}
}

// TestLimitsAreTheFormula checks that a limit is (2^f·N + 1)/(1 − q), rounded down, N = ⌈29s⌉ + 1.
func TestLimitsAreTheFormula(t *testing.T) {
	limit := make([]lattice.Int128, 1)
	for _, c := range []struct {
		scale noise.Scale
		n     int64
	}{
		{noise.Scale{Mant: 1}, 30},
		{noise.Scale{Mant: 3, Exp: 2}, 349},
		{noise.Scale{Mant: 1, Exp: -1}, 16}, // the bound is ⌈14.5⌉ + 1
	} {
		if err := buffer.Limits(limit, []uint32{3 << 28}, func(int) int64 { return 1 }, 10, c.scale); err != nil {
			t.Fatal(err)
		}
		if got, want := sumtest.Integer(limit[0]), big.NewInt((c.n<<10+1)*4); got.Cmp(want) != 0 {
			t.Errorf("scale %v: limit %d, want %d", c.scale, got, want)
		}
	}
}

func TestLimitsRefuse(t *testing.T) {
	one := func(int) int64 { return 1 }
	for what, c := range map[string]struct {
		pole    uint32
		residue func(int) int64
		scale   noise.Scale
	}{
		"no scale":                {1 << 29, one, noise.Scale{}},
		"a scale of 2^65":         {1 << 29, one, noise.Scale{Mant: 1, Exp: 65}},
		"a draw beyond 62 bits":   {1 << 29, one, noise.Scale{Mant: 1, Exp: 58}},
		"a buffer beyond 96 bits": {1<<30 - 1, one, noise.Scale{Mant: 1, Exp: 50}},
		"products beyond 2^126": {
			1<<30 - 1<<14, func(int) int64 { return -1 << 62 }, noise.Scale{Mant: 1, Exp: 40},
		},
	} {
		if buffer.Limits(make([]lattice.Int128, 1), []uint32{c.pole}, c.residue, 20, c.scale) == nil {
			t.Errorf("%s: accepted", what)
		}
	}
}

// TestStateReadsBack checks that a state is read as it was written, and that every other length is refused.
func TestStateReadsBack(t *testing.T) {
	const n, m = 3, 2
	rng := rand.New(rand.NewPCG(5, 6))
	sums, buffers := make([]lattice.Int128, n), make([][]lattice.Int128, n)
	for i := range sums {
		sums[i], buffers[i] = random(rng, 128), []lattice.Int128{random(rng, 128), random(rng, 128)}
	}
	state := buffer.AppendState(nil, 7, sums, func(i int) []lattice.Int128 { return buffers[i] })
	s, err := buffer.ParseState(state, n, m)
	if err != nil || len(state) != buffer.StateLen(n, m) || s.Steps() != 7 {
		t.Fatalf("%d bytes, step %d: %v", len(state), s.Steps(), err)
	}
	for i := range sums {
		if s.Sum(i) != sums[i] || s.Buffer(i, 0) != buffers[i][0] || s.Buffer(i, 1) != buffers[i][1] {
			t.Errorf("coordinate %d is not what was written", i)
		}
	}
	if _, err := buffer.ParseState(state[1:], n, m); err == nil {
		t.Error("a state that is too short")
	}
}

// TestLimitsAreOfSizes checks that only the sizes of residues matter: a scale is refused for both signs or for neither.
func TestLimitsAreOfSizes(t *testing.T) {
	poles, limits := []uint32{1<<30 - 1<<8, 1<<30 - 1<<9}, make([]lattice.Int128, 2)
	refused := 0
	for exp := range 60 {
		var errs [2]error
		for i, second := range []int64{1 << 40, -1 << 40} {
			residue := func(k int) int64 { return []int64{1 << 40, second}[k] }
			errs[i] = buffer.Limits(limits, poles, residue, 20, noise.Scale{Mant: 1, Exp: exp})
		}
		if (errs[0] == nil) != (errs[1] == nil) {
			t.Errorf("scale 2^%d: %v, and with a negative residue %v", exp, errs[0], errs[1])
		}
		if errs[0] != nil {
			refused++
		}
	}
	if refused == 0 || refused == 60 {
		t.Errorf("%d of 60 scales are refused", refused)
	}
}
