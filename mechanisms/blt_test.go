package mechanisms_test

import (
	"bytes"
	"encoding/hex"
	"math"
	"reflect"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/blt"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

// goldenFilter is written out, because fits may differ between platforms.
var goldenFilter = blt.Filter{
	Poles:    [blt.MaxPoles]uint32{1_071_000_000, 878_000_000, 160_000_000},
	Residues: [blt.MaxPoles]int32{60_000_000, 150_000_000, 100_000_001},
	Count:    3, Shift: 13,
}

var goldenFilterPlan = mechanisms.Calibration{
	Name:       "blt",
	Grid:       lattice.Grid{Exp: -24, Lambda: 1 << 24},
	Scale:      noise.Scale{Mant: 0x1234567, Exp: 5},
	Filter:     goldenFilter,
	ErrorBound: 12.5,
}

func TestFilterCalibrationEncodingIsGolden(t *testing.T) {
	const golden = "0103626c7400030dc029d63f008793038037553480d1f0080068890901e1f50500000000" +
		"e8ffffff00000001000000006745230100000000050000000000000000002940"
	got, err := goldenFilterPlan.AppendBinary([]byte{9})
	if err != nil || hex.EncodeToString(got[1:]) != golden || got[0] != 9 {
		t.Fatalf("encoding %x, %v, want %s", got, err, golden)
	}
	b := got[1:]
	if back, err := mechanisms.ParseCalibration(b); err != nil || !reflect.DeepEqual(back, goldenFilterPlan) {
		t.Errorf("ParsePlan = %+v, %v", back, err)
	}
	with := func(i int, x byte) []byte {
		bad := bytes.Clone(b)
		bad[i] = x
		return bad
	}
	const count = 2 + 3 + 1 // byte of the filter's number of poles: it follows version, name and levels
	for _, bad := range [][]byte{
		b[:5], b[:len(b)-1], append(bytes.Clone(b), 0), with(0, 0), with(0, 2), with(count-1, 1),
		with(count, 0), with(count, 2),
		with(count, 4), with(count, 255), with(count+1, 14), with(count+5, 0x80),
	} {
		if _, err := mechanisms.ParseCalibration(bad); err == nil {
			t.Errorf("ParsePlan(%x) succeeds", bad)
		}
	}
}

// TestFilterCalibrationIsOfItsName checks that a calibration has levels or a filter, as the mechanism's name requires,
// and the configured number of poles.
func TestFilterCalibrationIsOfItsName(t *testing.T) {
	f := func(what string, change func(*mechanisms.Calibration)) {
		t.Helper()
		p := goldenFilterPlan
		change(&p)
		if _, err := p.AppendBinary(nil); err == nil {
			t.Errorf("%s: encoded", what)
		}
	}
	f("levels", func(p *mechanisms.Calibration) { p.Levels = 3 })
	f("no filter", func(p *mechanisms.Calibration) { p.Filter = blt.Filter{} })
	f("filter of a tree", func(p *mechanisms.Calibration) { p.Name, p.Levels = "tree-gaussian", 4 })
	f("filter without its signs", func(p *mechanisms.Calibration) { p.Filter.Residues[0] = 1 << 29 })
	c := config("blt", 3)
	if g, err := goldenFilterPlan.Guarantee(c); err != nil || g.Mu <= 0 {
		t.Errorf("the golden calibration: %+v, %v", g, err)
	}
	c.Poles = 2
	if _, err := goldenFilterPlan.Guarantee(c); err == nil {
		t.Error("three poles are accepted where two are configured")
	}
}

// TestFilterGuaranteeKnowsEveryAge checks that ε(age) of blt follows its filter at every age, not only at whole
// windows. ε(age) equals the claim at age W, grows with age, and stays below the ε of µ√⌈A/W⌉ at age A.
func TestFilterGuaranteeKnowsEveryAge(t *testing.T) {
	c := config("blt", 5)
	c.Scope, c.AgeWeight = protection.Window{Steps: 1000}, 0.3
	calibration := mechtest.Plan(t, c)
	g, err := calibration.Guarantee(c)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := calibration.Guarantee(c); err != nil || again != g {
		t.Errorf("two guarantees of one calibration differ: %+v, %+v", again, g)
	}
	if got := g.At(1000); got != (dp.Budget{Epsilon: 1, Delta: 1e-6}) || g.AtSpans(1) != got ||
		g.At(0) != (dp.Budget{}) {
		t.Errorf("ε(W) = %+v", got)
	}
	before := 0.0
	for _, age := range []uint64{1, 10, 999, 1000, 1001, 2000, 10_000, 100_000, 1 << 40, math.MaxUint64} {
		got := g.At(age)
		windows := dp.GaussianEpsilon(g.Mu*math.Sqrt(math.Ceil(float64(age)/1000))*(1+1e-15), 1e-6)
		if !(got.Epsilon >= before) || got.Delta != 1e-6 || age < 1<<40 && got.Epsilon > windows {
			t.Errorf("ε(%d) = %+v, before %g, by whole windows %g", age, got, before, windows)
		}
		before = got.Epsilon
	}
	if g.AtSpans(10) != g.At(10_000) || g.AtSpans(1<<60) != g.At(math.MaxUint64) {
		t.Error("AtSpans is not At of the windows' steps")
	}
	if hundred := g.Curve.Mu(100_000) / g.Mu; hundred > 2.3 {
		t.Errorf("µ(100W) is %g µ(W)", hundred)
	}
}
