package coco

import (
	"bytes"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"oriel/mechanisms/mechtest"
	"oriel/operators/convex"
)

// TestPrintedConstantsAreFrozen checks that the plan stores C_W of a paper's constants, and no C_W with other
// constants.
func TestPrintedConstantsAreFrozen(t *testing.T) {
	c := sample(t, "simplex", 8)
	c.Update, c.Constants, c.Printed = LLO, Paper, product{}
	m := mechanism(c, 128, 1)
	if p, err := c.NewParams(m); err != nil || p.CW != 7 {
		t.Errorf("printed constants: plan %v, %v", p, err)
	}
	c.Constants = Proved
	if p, err := c.NewParams(m); err != nil || p.CW != 0 {
		t.Errorf("proved constants: plan %v, %v", p, err)
	}
	c.Constants, c.Printed = Paper, nil
	if _, err := c.NewParams(m); err == nil || !strings.Contains(err.Error(), `constants "paper"`) {
		t.Errorf("constants of no paper: %v", err)
	}
}

func TestPlanBytes(t *testing.T) {
	golden := []byte{1, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f}
	stored, err := Params{CW: 1.5}.AppendBinary([]byte("x"))
	if err != nil || !bytes.Equal(stored[1:], golden) {
		t.Fatalf("stored plan %v, %v, want %v", stored, err, golden)
	}
	if p, err := ParseParams(golden); err != nil || p.CW != 1.5 {
		t.Errorf("parsed %v, %v", p, err)
	}
	for name, bad := range map[string][]byte{
		"empty": nil, "short": golden[:8], "long": append(golden[:9:9], 0), "other version": append([]byte{2}, golden[1:]...),
		"infinite": {1, 0, 0, 0, 0, 0, 0, 0xf0, 0x7f}, "NaN": {1, 1, 0, 0, 0, 0, 0, 0xf0, 0x7f},
		"negative": {1, 0, 0, 0, 0, 0, 0, 0xf8, 0xbf},
	} {
		if _, err := ParseParams(bad); err == nil {
			t.Errorf("plan %s accepted", name)
		}
	}
	if _, err := (Params{CW: math.NaN()}).AppendBinary(nil); err == nil {
		t.Error("a plan that is not a number is stored")
	}
}

func FuzzParsePlan(f *testing.F) {
	f.Add([]byte{1, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f})
	f.Add([]byte{})
	past, _ := Params{Past: Inherited{Point: []float64{-0.5, 2}, Weight: 1.5}}.AppendBinary(nil)
	f.Add(past)
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := ParseParams(b)
		if err != nil {
			return
		}
		if again, err := p.AppendBinary(nil); err != nil || !bytes.Equal(again, b) {
			t.Errorf("plan %v is stored as %v, %v", b, again, err)
		}
	})
}

// TestPlanBytesOfTheFullTangentSpace checks that a plan with FullTangent has version 4, both for a new stream and for
// one that continues an earlier stream.
func TestPlanBytesOfTheFullTangentSpace(t *testing.T) {
	golden := append([]byte{4, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f}, make([]byte, 1+4*8)...)
	past := append(bytes.Clone(golden), 0, 0, 0, 0, 0, 0, 0xf8, 0x3f, 0, 0, 0, 0, 0, 0, 0xe0, 0xbf)
	for _, c := range []struct {
		plan  Params
		bytes []byte
	}{
		{Params{CW: 1.5, FullTangent: true}, golden},
		{Params{CW: 1.5, FullTangent: true, Past: Inherited{Weight: 1.5, Point: []float64{-0.5}}}, past},
	} {
		stored, err := c.plan.AppendBinary(nil)
		if err != nil || !bytes.Equal(stored, c.bytes) {
			t.Fatalf("%+v is stored as %v, %v, want %v", c.plan, stored, err, c.bytes)
		}
		if p, err := ParseParams(stored); err != nil || !reflect.DeepEqual(p, c.plan) {
			t.Errorf("%v is %+v, %v", stored, p, err)
		}
	}
	for name, bad := range map[string][]byte{
		"short": golden[:40], "half a past": past[:len(past)-8], "half a coordinate": past[:len(past)-4],
		"rule": append(append([]byte{4}, make([]byte, 8)...), append([]byte{9}, make([]byte, 32)...)...),
	} {
		if p, err := ParseParams(bad); err == nil {
			t.Errorf("%s: read as %+v", name, p)
		}
	}
}

// TestPlanBytesOfMeans checks that a plan with Means has version 5 on every set, both for a new stream and for one that
// continues an earlier stream. Updates other than searched steps must refuse Means.
func TestPlanBytesOfMeans(t *testing.T) {
	golden := append([]byte{5, 0, 0, 0, 0, 0, 0, 0, 0}, make([]byte, 1+4*8+1)...)
	whole := bytes.Clone(golden)
	whole[contributionsLen] = 1
	past := append(bytes.Clone(whole), 0, 0, 0, 0, 0, 0, 0xf8, 0x3f, 0, 0, 0, 0, 0, 0, 0xe0, 0xbf)
	for _, c := range []struct {
		plan  Params
		bytes []byte
	}{
		{Params{Means: true}, golden},
		{Params{Means: true, FullTangent: true}, whole},
		{Params{Means: true, FullTangent: true, Past: Inherited{Weight: 1.5, Point: []float64{-0.5}}}, past},
	} {
		stored, err := c.plan.AppendBinary(nil)
		if err != nil || !bytes.Equal(stored, c.bytes) {
			t.Fatalf("%+v is stored as %v, %v, want %v", c.plan, stored, err, c.bytes)
		}
		if p, err := ParseParams(stored); err != nil || !reflect.DeepEqual(p, c.plan) {
			t.Errorf("%v is %+v, %v", stored, p, err)
		}
	}
	neither := bytes.Clone(golden)
	neither[contributionsLen] = 2
	for name, bad := range map[string][]byte{
		"short": golden[:contributionsLen], "half a past": past[:len(past)-8], "half a coordinate": past[:len(past)-4],
		"neither": neither, "version": append([]byte{6}, golden[1:]...),
	} {
		if p, err := ParseParams(bad); err == nil {
			t.Errorf("%s: read as %+v", name, p)
		}
	}
	for _, constants := range []string{Proved, Search} {
		c := sample(t, "box", 3)
		c.Update, c.Constants = LLO, constants
		m := mechanism(c, 4, 1)
		if p := mustPlan(t, c, m); p.Means != (constants == Search) {
			t.Errorf("%s: %+v", constants, p)
		}
		_, err := New(c, Params{Means: true}, mechtest.Open(t, m, [32]byte{1}))
		if (err == nil) != (constants == Search) || err != nil && !strings.Contains(err.Error(), "means of sums") {
			t.Errorf("%s: means: %v", constants, err)
		}
	}
}

// TestSetsWithTheFullTangentSpace checks that new plans keep their earlier version, and so their bytes, for sets whose
// complete tangent space was already used before version 4.
func TestSetsWithTheFullTangentSpace(t *testing.T) {
	for _, set := range convex.Names() {
		c := sample(t, set, 4)
		if slices.Contains(byOracle, set) || slices.Contains(searched, set) {
			c.Update, c.Constants = LLO, Search
		}
		want := set == "flow"
		if p := mustPlan(t, c, mechanism(c, 8, 1)); p.FullTangent != want {
			t.Errorf("%s: whole %v, want %v", set, p.FullTangent, want)
		}
	}
}

// TestStoredPlansKeepTheirTangentSpace checks that a machine with an earlier plan projects contributions only to the
// space of the plan's version.
func TestStoredPlansKeepTheirTangentSpace(t *testing.T) {
	c := sample(t, "flow", 3)
	c.Update, c.Constants = LLO, Search
	for _, plan := range []struct {
		stored []byte
		want   []float64
	}{
		{[]byte{1, 0, 0, 0, 0, 0, 0, 0, 0}, []float64{0.5, 0, 0}},
		{append([]byte{4}, make([]byte, 8+1+4*8)...), []float64{1. / 3, -1. / 6, -1. / 6}},
	} {
		p, err := ParseParams(plan.stored)
		if err != nil {
			t.Fatal(err)
		}
		m := mechanism(c, 4, 1)
		machine, err := build(c, p, mechtest.Planted(t, m, mechtest.Plan(t, m), mechtest.Zero{}), 0)
		if err != nil {
			t.Fatal(err)
		}
		machine.Add(nil, record(0, linear([]float64{0.5, 0, 0})))
		if sum := machine.Stream.Sum(0); !floats.EqualApprox(sum, plan.want, 1e-7) {
			t.Errorf("version %d adds %v, want %v", plan.stored[0], sum, plan.want)
		}
	}
}
