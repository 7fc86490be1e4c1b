package elementary

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

const slowBits = 160

// slowExp computes e^x to more than 160 bits: it halves x until it is below 2^-20, sums a Taylor series, and squares
// the sum repeatedly.
func slowExp(x float64) *big.Float {
	const halvings = 32
	r := new(big.Float).SetPrec(slowBits + 64).SetFloat64(x)
	r.SetMantExp(r, -halvings)
	sum, term := bigInt(1), bigInt(1)
	for k := int64(1); k < 20; k++ {
		term.Mul(term, r)
		term.Quo(term, bigInt(k))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}

func bigInt(k int64) *big.Float { return new(big.Float).SetPrec(slowBits + 64).SetInt64(k) }

// slowLog computes log x by the iteration y + 2(x−e^y)/(x+e^y), which starts at the library's value. Each round cubes
// the error.
func slowLog(x *big.Float) *big.Float {
	f, _ := x.Float64()
	start := math.Log(f)
	e := slowExp(start)
	step := new(big.Float).SetPrec(slowBits+64).Sub(x, e)
	step.Quo(step, new(big.Float).SetPrec(slowBits+64).Add(x, e))
	step.Mul(step, bigInt(2))
	return step.Add(step, bigInt(0).SetFloat64(start))
}

// ulps returns |got − want| in units of the last place of want.
func ulps(got float64, want *big.Float) float64 {
	w, _ := want.Float64()
	ulp := math.Nextafter(math.Abs(w), math.Inf(1)) - math.Abs(w)
	diff := new(big.Float).SetPrec(slowBits+64).Sub(bigInt(0).SetFloat64(got), want)
	d, _ := diff.Quo(diff, bigInt(0).SetFloat64(ulp)).Float64()
	return math.Abs(d)
}

func TestElementary(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	// No error may exceed the bound that the package comment promises. The test logs the largest error.
	const bound = 1.0
	run := func(
		name string, got func(float64) float64, want func(float64) *big.Float, draw func() float64, fixed ...float64,
	) {
		t.Helper()
		worst, at := 0.0, 0.0
		for i := range 5000 {
			x := draw()
			if i < len(fixed) {
				x = fixed[i]
			}
			if u := ulps(got(x), want(x)); !(u <= worst) {
				worst, at = u, x
			}
		}
		t.Logf("%s: %.3f ulp at %v", name, worst, at)
		if !(worst < bound) {
			t.Errorf("%s(%v) is off by %v ulp", name, at, worst)
		}
	}
	exact := func(x float64) *big.Float { return bigInt(0).SetFloat64(x) }
	half := math.Ln2 / 2
	run("exp near", Exp, slowExp, func() float64 { return rng.Float64()*4 - 2 }, 0, half, -half, math.Nextafter(half, 1),
		1, -1, 1e-300, -5e-324)
	run("exp far", Exp, slowExp, func() float64 { return rng.Float64()*1450 - 745 }, expMax, -708.3, -708.4, -744.4,
		-745.1)
	run("exp tiny", Exp, slowExp, func() float64 { return -math.Exp(-40 * rng.Float64()) })
	log1pTwin := func(x float64) *big.Float {
		if x == 0 {
			return bigInt(0)
		}
		if x < 1e-30 { // here the series log1p(x) = x − x²/2 + … is exact enough
			return exact(x)
		}
		return slowLog(new(big.Float).SetPrec(slowBits+64).Add(bigInt(1), exact(x)))
	}
	run("log1p", Log1p, log1pTwin, rng.Float64, 0, 0.5, math.Nextafter(0.5, 0), 1, 5e-324)
	run("log1p tiny", Log1p, log1pTwin, func() float64 { return math.Exp(-60 * rng.Float64()) })
	logTwin := func(x float64) *big.Float { return slowLog(exact(x)) }
	run("log", Log, logTwin, func() float64 { return math.Exp(rng.Float64()*1300 - 650) }, 1, 2, 0.5, sqrt2,
		math.MaxFloat64, 0x1p-1022)
	run("log near 1", Log, logTwin, func() float64 { return 1 + (rng.Float64()-0.5)*math.Exp(-30*rng.Float64()) },
		math.Nextafter(1, 0), math.Nextafter(1, 2))
}

func TestExpSaturates(t *testing.T) {
	for _, c := range []struct{ x, want float64 }{
		{math.Inf(-1), 0},
		{-1e300, 0},
		{-746, 0},
		{-745, 5e-324},
		{0, 1},
		{math.Copysign(0, -1), 1},
		{710, math.Inf(1)},
		{math.Inf(1), math.Inf(1)},
	} {
		if got := Exp(c.x); got != c.want {
			t.Errorf("Exp(%v) = %v, want %v", c.x, got, c.want)
		}
	}
	if got := Exp(math.NaN()); got == got {
		t.Errorf("Exp(NaN) = %v", got)
	}
	if got := Exp(expMax); math.IsInf(got, 1) {
		t.Error("exp overflows before its largest argument")
	}
}

// TestElementaryIsMonotone checks monotonicity in steps of a few ulps across the boundaries of the reductions, and in
// large steps elsewhere.
func TestElementaryIsMonotone(t *testing.T) {
	walk := func(name string, f func(float64) float64, from, step float64, steps int) {
		t.Helper()
		last := f(from)
		for i := 1; i <= steps; i++ {
			x := from + float64(i)*step
			y := f(x)
			if !(y >= last) {
				t.Fatalf("%s decreases at %v: %v after %v", name, x, y, last)
			}
			last = y
		}
	}
	for k := -1070; k < 1000; k += 7 {
		seam := (float64(k) + 0.5) * math.Ln2
		ulp := math.Nextafter(math.Abs(seam), math.Inf(1)) - math.Abs(seam)
		walk("exp", Exp, seam-500*ulp, max(ulp, 0x1p-50), 1000)
	}
	walk("exp", Exp, -746, 1e-3, 1_456_000)
	walk("log1p", Log1p, 0, 1e-6, 1_000_000)
	walk("log1p", Log1p, 0.5-1000*0x1p-51, 0x1p-51, 2000)
	walk("log", Log, sqrt2-1000*0x1p-50, 0x1p-50, 2000)
	walk("log", Log, 1e-9, 1e-5, 1_000_000)
}
