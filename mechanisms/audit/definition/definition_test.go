package definition_test

import (
	"math"
	"math/bits"
	"slices"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/audit/definition"
	"oriel/mechanisms/blt"
)

// TestForest checks the nodes in each release. At position p of a block, a release contains the nodes of p's binary
// digits, and after the first block also the nodes of W − p. The releases of a node are consecutive, and every step
// adds one node that no earlier release contains.
func TestForest(t *testing.T) {
	for _, window := range []uint64{1, 2, 8, 64} {
		f := definition.NewForest(window, 200)
		last, seen := map[int32]int{}, 0
		for step, active := range f.Active {
			p := uint64(step)%window + 1
			want := bits.OnesCount64(p)
			if uint64(step) >= window {
				want += bits.OnesCount64(window - p)
			}
			if len(active) != want {
				t.Errorf("W = %d, step %d: %d nodes, want %d", window, step+1, len(active), want)
			}
			fresh := 0
			for _, node := range active {
				before, known := last[node]
				if last[node] = step; !known {
					fresh++
				} else if before != step-1 {
					t.Errorf("W = %d: node %d returns at step %d", window, node, step+1)
				}
			}
			if seen += fresh; fresh == 0 || step < int(window) && fresh != 1 {
				t.Errorf("W = %d, step %d: %d nodes are new", window, step+1, fresh)
			}
		}
		if f.Nodes != seen {
			t.Errorf("W = %d: %d nodes, counted %d", window, f.Nodes, seen)
		}
		for step, active := range f.Active { // at p = W there is one node, the root of the block; no entry stays −1
			if p := uint64(step)%window + 1; p == window && len(active) != 1 || slices.Contains(active, -1) {
				t.Errorf("W = %d, step %d: %v", window, step+1, active)
			}
		}
	}
}

// TestFilterCarriesItsResponse compares the carry with the sum of b_j·n_{t−j}, computed from the definition of b.
func TestFilterCarriesItsResponse(t *testing.T) {
	dyadics, err := blt.Fit(64, 0.3, 3)
	if err != nil {
		t.Fatal(err)
	}
	f := definition.NoiseOf(mechanisms.Config{}, mechanisms.Calibration{Name: "blt", Filter: dyadics}, 0)
	states := make([]float64, 3)
	var drawn []float64
	for step := range 200 {
		want := 0.0
		for i, n := range drawn {
			for k, q := range f.Poles {
				want += f.Residues[k] * math.Pow(q, float64(step-i-1)) * n
			}
		}
		if got := f.Carry(states); math.Abs(got-want) > 1e-9 {
			t.Fatalf("step %d: %g, want %g", step+1, got, want)
		}
		drawn = append(drawn, math.Sin(float64(step*step)))
		f.Take(states, drawn[step])
	}
}
