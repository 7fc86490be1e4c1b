package mechanisms_test

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/decay"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

// goldenMemory is the filter of H = 64. It is written as a literal, because fits may differ between platforms.
var goldenMemory = decay.Filter{
	Memory: 64, Count: 2,
	Poles:    [decay.MaxPoles]uint32{975_602_355, 328_632_580},
	Residues: [decay.MaxPoles]uint32{21_170_073, 487_478_718},
}

func withMemory(n int, memory uint64) mechanisms.Config {
	c := config("blt", n)
	c.Scope = protection.Decay{Steps: memory}
	return c
}

// TestTheGuaranteeOfAMemoryIsForLife checks under both adjacencies that ε rises with age for a few times H steps, and
// then stays at the configured value for ever.
func TestTheGuaranteeOfAMemoryIsForLife(t *testing.T) {
	for _, memory := range []uint64{2, 64, 1024, 65_536, 1 << 20} {
		for _, adjacency := range []dp.Adjacency{dp.Replace, dp.ZeroOut} {
			c := withMemory(32, memory)
			c.Unit = protection.Event{Exchange: adjacency}
			calibration := mechtest.Plan(t, c)
			g, err := calibration.Guarantee(c)
			if err != nil {
				t.Fatal(err)
			}
			if g.Scope != (protection.Decay{Steps: memory}) || g.Epsilon != 1 || g.Mu > dp.GaussianMu(c.Budget) ||
				g.Mu < dp.GaussianMu(c.Budget)*(1-1e-12) {
				t.Errorf("H = %d: %+v", memory, g)
			}
			before := 0.0
			for _, age := range []uint64{1, 2, memory, 10 * memory, 1000 * memory, 1_000_000 * memory, math.MaxUint64} {
				at := g.At(age)
				if !(at.Epsilon >= before) || at.Epsilon > 1 || at.Delta != 1e-6 {
					t.Errorf("H = %d: ε(%d) = %+v after %g", memory, age, at, before)
				}
				if before = at.Epsilon; age >= 10*memory && memory > 2 && math.Abs(at.Epsilon-1) > 5e-5 {
					t.Errorf("H = %d: ε(%d) = %g", memory, age, at.Epsilon)
				}
			}
			if memory > 2 && (math.Abs(g.AtSpans(10).Epsilon-1) > 5e-5 || g.AtSpans(10) != g.At(10*memory)) {
				t.Errorf("H = %d: ε at ten memories is %g", memory, g.AtSpans(10).Epsilon)
			}
			if before != 1 {
				t.Errorf("H = %d: ε for ever is %g", memory, before)
			}
		}
	}
}

func TestCalibrationsWithMemoryRoundTrip(t *testing.T) {
	for _, c := range []mechanisms.Config{
		withMemory(3, 64), withMemory(1000, 1<<20), componentsWithMemory(), withBall(3, 64), withBall(384, 1<<20),
	} {
		c.Failure = 0.01
		calibration := mechtest.Plan(t, c)
		b, err := calibration.AppendBinary([]byte{9})
		if err != nil || b[1] != 1 {
			t.Fatalf("%x, %v", b, err)
		}
		back, err := mechanisms.ParseCalibration(b[1:])
		if err != nil || !reflect.DeepEqual(back, calibration) {
			t.Errorf("%+v, %v, want %+v", back, err, calibration)
		}
		for i := range b[1:] {
			if _, err := mechanisms.ParseCalibration(b[1 : 1+i]); err == nil {
				t.Errorf("%d bytes of a calibration are one", i)
			}
		}
		if _, err := mechanisms.ParseCalibration(append(bytes.Clone(b[1:]), 0)); err == nil {
			t.Error("a byte behind a calibration is accepted")
		}
	}
	b, err := mechtest.Plan(t, withMemory(3, 64)).AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 8 { // byte by byte: the calibration ends with the 8 bytes of the error bound
		b[len(b)-1-i] = 0xff
	}
	if _, err := mechanisms.ParseCalibration(b); err == nil {
		t.Error("a calibration with an error bound of NaN is accepted")
	}
}

func withBall(n int, memory uint64) mechanisms.Config {
	c := withMemory(n, memory)
	c.Contribution = contribution.Contribution{
		Components: []contribution.Component{contribution.Ball{Size: n, Radius: 0.8, Reach: 0.7}.Component()},
	}
	return c
}

// TestDistancesBeyondAWord uses a lattice so fine that squared sensitivities exceed 64 bits. Noise must still be
// proportional to sensitivity: for a ball of radius 0.8 it is 0.8 times the noise of the default contribution of clip
// 1.
func TestDistancesBeyondAWord(t *testing.T) {
	ball, plain := withBall(384, 1<<20), withMemory(384, 1<<20)
	p, q := mechtest.Plan(t, ball), mechtest.Plan(t, plain)
	if p.Grid.Lambda>>32 == 0 || p.Components[0].Replace.Hi == 0 {
		t.Fatalf("Λ = %d and Δ² = %v are no example", p.Grid.Lambda, p.Components[0].Replace)
	}
	sd := func(p mechanisms.Calibration) float64 { return p.Scale.Float64() * p.Grid.Unit() }
	if ratio := sd(p) / sd(q); math.Abs(ratio-0.8) > 1e-4 { // rounding adds up to 2⁻¹⁴ of the variance
		t.Errorf("noise is %.9g times that of a contribution of length 1, want 0.8", ratio)
	}
	if got := p.Sensitivity(ball); math.Abs(got-1.6) > 1e-6 || got < 1.6 {
		t.Errorf("Δ = %.9g, want a bit more than 1.6", got)
	}
	stream := mechtest.ByCount(mechtest.ZeroStream(t, ball))
	long := make([]float64, 2*384)
	long[0] = 1e9
	stream.Add(noise.Identity{}, long)
	if got := stream.Sum(0)[0]; math.Abs(got-0.8) > 1e-6 {
		t.Errorf("a contribution drawn to the ball is %g long, want 0.8", got)
	}
}

func componentsWithMemory() mechanisms.Config {
	c, _ := withComponents("blt")
	c.Scope = protection.Decay{Steps: 64}
	return c
}

// TestGuaranteeRefusesCalibrationOfAnotherMemory checks that a calibration for one memory is refused for another memory
// and for a window. A lattice coarser than required and a too small scale must be refused too.
func TestGuaranteeRefusesCalibrationOfAnotherMemory(t *testing.T) {
	c := withMemory(32, 65_536)
	calibration := mechtest.Plan(t, c)
	if bits := calibration.Grid.Bits(); bits < 27 || bits > 31 {
		t.Errorf("a lattice of %d bits", bits)
	}
	f := func(want string, p mechanisms.Calibration, c mechanisms.Config) {
		t.Helper()
		if _, err := p.Guarantee(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	f("memory 65536, configured is 64", calibration, withMemory(32, 64))
	f("memory 65536, configured is a window", calibration, config("blt", 32))
	f("memory 0, configured is 64", mechtest.Plan(t, config("blt", 32)), withMemory(32, 64))
	coarse := calibration
	coarse.Grid, _ = lattice.NewGrid(c.Clip())
	f("too coarse for the memory", coarse, c)
	short := calibration
	short.Scale.Mant -= 2
	f("proves less", short, c)
	fine := mechtest.Plan(t, config("blt", 32))
	fine.Grid = calibration.Grid
	f("lambda", fine, config("blt", 32))
	both := calibration
	both.Filter = goldenFilter
	f("exactly one of", both, c)
}

func TestConfigurationsWithMemoryAreChecked(t *testing.T) {
	f := func(want string, change func(*mechanisms.Config)) {
		t.Helper()
		c := withMemory(3, 64)
		change(&c)
		if _, err := mechanisms.Calibrate(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	user := func(separation, steps uint64) protection.User {
		return protection.User{Exchange: dp.Replace, Separation: separation, Steps: steps}
	}
	f("memory 0:", func(c *mechanisms.Config) { c.Scope = protection.Decay{} })
	f("memory 1:", func(c *mechanisms.Config) { c.Scope = protection.Decay{Steps: 1} })
	f("memory 1048577:", func(c *mechanisms.Config) { c.Scope = protection.Decay{Steps: 1<<20 + 1} })
	f("user window 0: not in [1, 2^40]; with a memory", func(c *mechanisms.Config) { c.Unit = user(3, 0) })
	f("user window 1099511627777: not in [1, 2^40]", func(c *mechanisms.Config) { c.Unit = user(3, 1<<40+1) })
	f("separation 0", func(c *mechanisms.Config) { c.Unit = user(0, 3) })
	f("user window 3: without a memory", func(c *mechanisms.Config) {
		c.Scope, c.Unit = protection.Window{Steps: 8}, user(2, 3)
	})
	f("user window 3: without a memory", func(c *mechanisms.Config) {
		c.Scope, c.Unit = protection.Lifetime{Steps: 6, Within: 8}, user(2, 3)
	})
	f("poles 3: with a memory", func(c *mechanisms.Config) { c.Poles = 3 })
	f("scope decay (for life, memory H = 64 steps): tree-gaussian takes window or lifetime", func(c *mechanisms.Config) {
		c.Name = "tree-gaussian"
	})
	f("once-gaussian takes per-step release", func(c *mechanisms.Config) { c.Name = "once-gaussian" })
	f("batch 2147483648: above", func(c *mechanisms.Config) { c.Scope, c.Batch = protection.Decay{Steps: 1 << 20}, 1<<31 })
}

// TestErrorBoundOfAMemoryCoversTheBump checks that the error bound exceeds the noise of a release at every age, even
// right after a reset, where the variance is largest.
func TestErrorBoundOfAMemoryCoversTheBump(t *testing.T) {
	c := withMemory(3, 64)
	c.Failure = 1e-3
	calibration := mechtest.Plan(t, c)
	unit := calibration.Scale.Float64() * calibration.Grid.Unit()
	chi := math.Sqrt(3) + math.Sqrt(2*math.Log(1e3))
	for _, step := range []uint64{1, 1000, 1 << 16, 1<<16 + 2, 1<<16 + 10, 1<<16 + 1000} {
		if e := unit * math.Sqrt(calibration.Decay.VarianceAt(step)) * chi; calibration.ErrorBound < e ||
			calibration.ErrorBound > 2*unit*math.Sqrt(calibration.Decay.Variance())*chi {
			t.Errorf("step %d: noise %g, bound %g", step, e, calibration.ErrorBound)
		}
	}
}
