package mechanisms_test

import (
	"bytes"
	"encoding/hex"
	"math"
	"reflect"
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

// Units of privacy for tests: an event exchanged for another, or for the null event.
var (
	oneEvent = protection.Event{Exchange: dp.Replace}
	zeroOut  = protection.Event{Exchange: dp.ZeroOut}
)

// separated returns the unit of users whose accepted events are at least separation steps apart.
func separated(separation uint64) protection.User {
	return protection.User{Exchange: dp.Replace, Separation: separation}
}

// scope returns a window of this many steps, or for a mechanism without a window the mechanism's own scope.
func scope(name string, window uint64) protection.Scope {
	if strings.HasPrefix(name, "once-") {
		return protection.PerStep{}
	}
	return protection.Window{Steps: window}
}

// config returns mechtest.Config with the given name, and with a window if the name takes one.
func config(name string, n int) mechanisms.Config {
	c := mechtest.Config(n)
	c.Name, c.Scope = name, scope(name, 8)
	return c
}

func TestConfigValidateNamesEachProblem(t *testing.T) {
	f := func(want string, change func(*mechanisms.Config)) {
		t.Helper()
		c := config("tree-gaussian", 3)
		change(&c)
		err := c.Validate()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
		if _, planErr := mechanisms.Calibrate(c); planErr == nil {
			t.Errorf("NewPlan accepts what Validate refuses with %v", err)
		}
	}
	under := func(name string, s protection.Scope) func(*mechanisms.Config) {
		return func(c *mechanisms.Config) { c.Name, c.Scope = name, s }
	}
	window := func(steps uint64) protection.Window { return protection.Window{Steps: steps} }
	life := func(steps, within uint64) protection.Lifetime {
		return protection.Lifetime{Steps: steps, Within: within}
	}
	f("window 0", under("tree-gaussian", window(0)))
	f("window 1000: not a power of two, the next is 1024", under("tree-gaussian", window(1000)))
	f("window 9223372036854775808: above", under("tree-gaussian", window(1<<63)))
	f("name \"blub\"", func(c *mechanisms.Config) { c.Name = "blub" })
	f("batch 0", func(c *mechanisms.Config) { c.Batch = 0 })
	f("age weight 0.5, poles 0: tree-gaussian has no filter", func(c *mechanisms.Config) { c.AgeWeight = 0.5 })
	f("poles 3: tree-gaussian has no filter", func(c *mechanisms.Config) { c.Poles = 3 })
	f("age weight NaN", func(c *mechanisms.Config) { c.Name, c.AgeWeight = "blt", math.NaN() })
	f("poles 5", func(c *mechanisms.Config) { c.Name, c.Poles = "blt", 5 })
	f("window 0", under("blt", window(0)))
	f("window 4194305", under("blt", window(1<<22+1)))
	f("dimension 0", func(c *mechanisms.Config) { c.Contribution = contribution.OneComponent(0, c.Clip()) })
	f("clip 0", func(c *mechanisms.Config) { c.Contribution = contribution.OneComponent(c.Dimension(), 0) })
	f("epsilon NaN", func(c *mechanisms.Config) { c.Budget.Epsilon = math.NaN() })
	f("delta 0: tree-gaussian", func(c *mechanisms.Config) { c.Budget.Delta = 0 })
	f("adjacency 0", func(c *mechanisms.Config) { c.Unit = protection.Event{} })
	f("failure 1", func(c *mechanisms.Config) { c.Failure = 1 })
	f("horizon 9: not in [1, 8], the window", under("tree-gaussian", life(9, 8)))
	f("horizon 0: not in [1, 8], the window", under("tree-gaussian", life(0, 8)))
	f("window 12: not a power of two, the next is 16", under("tree-gaussian", life(9, 12)))
	f("window 4194305", under("blt", life(9, 1<<22+1)))
	f("no scope", under("tree-gaussian", nil))
	f("no unit", func(c *mechanisms.Config) { c.Unit = nil })
	f("separation 0", func(c *mechanisms.Config) { c.Unit = separated(0) })
	f("scope window (W = 8 steps): once-gaussian takes per-step release", under("once-gaussian", window(8)))
	f("unit user: under per-step release a user's events over a whole life have no bound", func(c *mechanisms.Config) {
		c.Name, c.Scope, c.Unit = "once-gamma", protection.PerStep{}, separated(1)
	})
	f("scope lifetime (a stream of T = 1 step): once-gamma takes per-step release", under("once-gamma", life(1, 1)))
	f("poles 3: once-gamma has no filter", func(c *mechanisms.Config) {
		c.Name, c.Scope, c.Poles = "once-gamma", protection.PerStep{}, 3
	})
	c := mechanisms.Config{Terms: protection.Terms{Scope: protection.Window{Steps: 3}}}
	if lines := strings.Count(c.Validate().Error(), "\n") + 1; lines < 5 {
		t.Errorf("an empty configuration has %d problems, want all", lines)
	}
	for _, name := range mechanisms.Names() {
		if err := config(name, 3).Validate(); err != nil {
			t.Error(err)
		}
	}
}

// TestScaleIsThePapersOrSmallerAndProved uses the reference values of [WDP]: W = 128, L = 1, Δ = 2, ε = 1, δ = 1e-6.
// The tight Gaussian scale must be below the scale that zCDP gives, 30.2641.
func TestScaleIsThePapersOrSmallerAndProved(t *testing.T) {
	f := func(name string, low, high float64) {
		t.Helper()
		c := config(name, 5)
		c.Scope = scope(name, 128)
		calibration := mechtest.Plan(t, c)
		if got := calibration.Scale.Float64() * calibration.Grid.Unit(); got < low || got > high {
			t.Errorf("%s: scale %.10g, want in [%g, %g]", name, got, low, high)
		}
	}
	mu := dp.GaussianMu(dp.Budget{Epsilon: 1, Delta: 1e-6})
	f("tree-gaussian", 2*math.Sqrt(8)/mu*(1-1e-15), 2*math.Sqrt(8)/mu*(1+1e-15))
	f("tree-gaussian", 20, 30.2641)
	f("tree-gamma", 16, 16*(1+1e-15))
	f("tree-laplace", 16*math.Sqrt(5)*(1-1e-15), 16*math.Sqrt(5)*(1+1e-15))
}

// TestErrorBoundHolds checks that E is exceeded with probability at most β = 0.05 at a step with h active nodes, and is
// at most 4 times the typical error. Over 2 000 keys, more than 155 excesses have probability below 1e-7.
func TestErrorBoundHolds(t *testing.T) {
	const keys = 2000
	for _, name := range []string{"tree-gaussian", "tree-gamma", "tree-laplace", "blt"} {
		c := config(name, 20)
		c.Failure = 0.05
		stream := mechtest.ByCount(mechtest.Open(t, c, [32]byte{5}))
		start := stream.AppendState(nil)
		gradient := make([]float64, 20)
		excesses, mean := 0, 0.0
		for key := range keys {
			if err := stream.Restore(start); err != nil {
				t.Fatal(err)
			}
			for range 15 { // at p = 7 a release has h nodes: three of the prefix and one of the suffix
				stream.Add(noise.Identity{Offset: int64(key)}, gradient)
			}
			norm := lattice.Norm(stream.Sum(0))
			mean += norm / keys
			if norm > stream.ErrorBound() {
				excesses++
			}
		}
		if excesses > 155 || mean*4 < stream.ErrorBound() {
			t.Errorf("%s: bound %g, mean %g, exceeded %d times of %d", name, stream.ErrorBound(), mean, excesses, keys)
		}
	}
}

var goldenPlan = mechanisms.Calibration{
	Name:       "tree-gaussian",
	Grid:       lattice.Grid{Exp: -24, Lambda: 1 << 24},
	Scale:      noise.Scale{Mant: 0x1234567, Exp: -3},
	Levels:     11,
	ErrorBound: 12.5,
}

func TestCalibrationEncodingIsGolden(t *testing.T) {
	const golden = "010d747265652d676175737369616e0b000000000000e8ffffff00000001000000006745230100000000fdffffff0000000000002940"
	got, err := goldenPlan.AppendBinary([]byte{9})
	if err != nil || hex.EncodeToString(got[1:]) != golden || got[0] != 9 {
		t.Errorf("encoding %x, %v, want %s", got, err, golden)
	}
	if back, err := mechanisms.ParseCalibration(got[1:]); err != nil || !reflect.DeepEqual(back, goldenPlan) {
		t.Errorf("ParsePlan = %+v, %v", back, err)
	}
}

func TestCalibrationEncodingRefuses(t *testing.T) {
	f := func(what string, change func(*mechanisms.Calibration)) {
		t.Helper()
		p := goldenPlan
		change(&p)
		if b, err := p.AppendBinary(nil); err == nil || b != nil {
			t.Errorf("%s: encoded", what)
		}
	}
	f("name", func(p *mechanisms.Calibration) { p.Name = "tree" })
	f("grid", func(p *mechanisms.Calibration) { p.Grid.Lambda = 5 })
	f("no scale", func(p *mechanisms.Calibration) { p.Scale.Mant = 0 })
	f("even scale", func(p *mechanisms.Calibration) { p.Scale.Mant = 6 })
	f("scale exponent", func(p *mechanisms.Calibration) { p.Scale.Exp = 1 << 40 })
	f("levels", func(p *mechanisms.Calibration) { p.Levels = 64 })
	f("levels of single steps", func(p *mechanisms.Calibration) { p.Name, p.Levels = "once-gaussian", 2 })
	f("filter of single steps", func(p *mechanisms.Calibration) { p.Name, p.Levels, p.Filter = "once-gaussian", 1, goldenFilter })
	f("error bound", func(p *mechanisms.Calibration) { p.ErrorBound = math.NaN() })
	f("signed zero", func(p *mechanisms.Calibration) { p.ErrorBound = math.Copysign(0, -1) })
	b, err := goldenPlan.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range [][]byte{nil, b[:1], b[:len(b)-1], append(bytes.Clone(b), 0), append([]byte{2}, b[1:]...)} {
		if _, err := mechanisms.ParseCalibration(bad); err == nil {
			t.Errorf("ParsePlan(%x) succeeds", bad)
		}
	}
}

func FuzzParseCalibration(f *testing.F) {
	b, err := goldenPlan.AppendBinary(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	if b, err = goldenFilterPlan.AppendBinary(nil); err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	if b, err = goldenComponents().AppendBinary(nil); err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	single := goldenPlan
	single.Name, single.Levels = "once-gaussian", 1
	if b, err = single.AppendBinary(nil); err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := mechanisms.ParseCalibration(b)
		if err != nil {
			return
		}
		if again, err := p.AppendBinary(nil); err != nil || !bytes.Equal(again, b) {
			t.Errorf("ParsePlan(%x) encodes as %x, %v", b, again, err)
		}
		for _, name := range mechanisms.Names() {
			_, _ = p.Guarantee(config(name, 3)) // must not panic
		}
	})
}
