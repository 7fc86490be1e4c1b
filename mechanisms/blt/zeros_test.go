package blt

import (
	"errors"
	"testing"
)

// TestZerosAtTheEdges checks that two unusual filters are enclosed like any other: one with a zero that is a dyadic,
// which bisection meets exactly, and one with rates of 2⁻³⁰.
func TestZerosAtTheEdges(t *testing.T) {
	for _, f := range []Filter{
		{Poles: [MaxPoles]uint32{3 << 28}, Residues: [MaxPoles]int32{1 << 28}, Count: 1},
		{Poles: [MaxPoles]uint32{3 << 28, 1 << 28}, Residues: [MaxPoles]int32{1<<27 + 1<<26, 1 << 26}, Count: 2},
		{Poles: [MaxPoles]uint32{unit - 1, unit - 2, unit - 3, unit - 4}, Residues: [MaxPoles]int32{1, 1, 1, 1}, Count: 4},
		{Poles: [MaxPoles]uint32{9, 8, 7, 6}, Residues: [MaxPoles]int32{1, 1, 1, 1}, Count: 4},
	} {
		f.Shift, _ = f.shift()
		if err := f.Validate(); err != nil {
			t.Error(err)
			continue
		}
		r, err := NewResponse(f)
		if err != nil {
			t.Errorf("%v: %v", f, err)
		} else if !(r.Noise() >= 1 && r.Noise() < 100) {
			t.Errorf("%v: Σb² = %g", f, r.Noise())
		}
	}
}

// TestValidateRefusesOtherSigns checks each condition of PROOF.md, Lemma 1: each filter here has a valid shape and
// violates one condition.
func TestValidateRefusesOtherSigns(t *testing.T) {
	f := func(name string, poles [MaxPoles]uint32, residues [MaxPoles]int32, count uint8) {
		t.Helper()
		bad := Filter{Poles: poles, Residues: residues, Count: count}
		bad.Shift, _ = bad.shift()
		if err := bad.shape(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := bad.Validate(); !errors.Is(err, errSigns) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := NewResponse(bad); !errors.Is(err, errSigns) {
			t.Errorf("%s: NewResponse: %v", name, err)
		}
	}
	f("a zero below 0", [MaxPoles]uint32{1 << 29}, [MaxPoles]int32{1 << 29}, 1)
	f("a zero above 1", [MaxPoles]uint32{1 << 29}, [MaxPoles]int32{-1 << 30}, 1)
	f("complex zeros", [MaxPoles]uint32{1_052_400_000, 1_045_700_000, 1_037_300_000, 741_700_000},
		[MaxPoles]int32{-599_600_000, 1_593_700_000, -791_400_000, 325_200_000}, 4)
	f("d rises at once", [MaxPoles]uint32{1 << 29}, [MaxPoles]int32{-1 << 28}, 1)
	f("d falls, rises and falls", [MaxPoles]uint32{1_069_400_057, 973_068_930, 657_901_436},
		[MaxPoles]int32{62_432_899, 1_184_616_662, -304_083_150}, 3)
	f("d falls below 0", [MaxPoles]uint32{1_064_733_853, 379_092_139}, [MaxPoles]int32{1_214_916_363, -72_804_599}, 2)
	f("d rises above 1", [MaxPoles]uint32{616_166_819, 457_343_848}, [MaxPoles]int32{-316_100_806, 411_681_119}, 2)
	good := mixed(t)
	good.Poles[0] -= 1 << 22
	good.Shift, _ = good.shift()
	f("not quite a fitted one", good.Poles, good.Residues, good.Count)
}
