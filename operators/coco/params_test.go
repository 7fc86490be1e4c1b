package coco

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

// TestPaperCW compares with 25-digit values of SPEC.md §6, reading A: n = 8 on the simplex (ρ = 2, a = 1/8), W = 128,
// ε = 2, δ = 1e-6, β = 0.01.
func TestPaperCW(t *testing.T) {
	c := sample(t, "simplex", 8)
	c.Update, c.Constants = LLO, Paper
	m := mechanism(c, 128, 1)
	m.Budget.Epsilon = 2
	for name, want := range map[string]float64{
		"tree-gamma": 123.8007416970460964489894, "tree-gamma-paper": 123.8007416970460964489894,
		"tree-gaussian": 194.1296393816765068316703, "tree-gaussian-paper": 194.1296393816765068316703,
	} {
		m.Name = name
		p, err := c.NewParams(m)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(p.CW-want) > 1e-12*want {
			t.Errorf("%s: C_W = %v, want %v", name, p.CW, want)
		}
	}
	m.Name = "tree-laplace"
	if _, err := c.NewParams(m); err == nil || !strings.Contains(err.Error(), "tree-laplace") {
		t.Errorf("error %v: the paper has no constants for Laplace", err)
	}
	c.Constants = Proved
	if p, err := c.NewParams(m); err != nil || p.CW != 0 {
		t.Errorf("proved constants: plan %v, %v", p, err)
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
