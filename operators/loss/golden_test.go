package loss

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"oriel/operators"
)

var rewrite = flag.Bool("rewrite", false, "write testdata/golden.txt")

const goldenFile = "testdata/golden.txt"

// TestGoldenGradients pins every bit of gradients and values, dense and sparse, small and saturated. Points and events come from
// integers, so the same bits are due on every CPU and build.
func TestGoldenGradients(t *testing.T) {
	const n, events = 5, 24
	var lines []string
	for _, name := range Names() {
		l := mustParse(t, name)
		rng := rand.New(rand.NewPCG(21, 4))
		for i := range events {
			x, dst := make([]float64, n), make([]float64, n)
			e := operators.Event{Label: float64(1 - 2*rng.IntN(2)), Weight: float64(1+rng.IntN(8)) / 3}
			size := []float64{300, 7, 1e5, 3e8}[i%4] // margins near 1, 1e3, 1e-5, 1e-12
			for k := range n {
				x[k] = float64(1+rng.IntN(1000)) / size
				e.Vector.Values = append(e.Vector.Values, float64(1+rng.IntN(1000))/300)
				if name != "portfolio" && rng.IntN(2) == 0 {
					x[k] = -x[k]
				}
			}
			if i%3 == 2 {
				e.Vector = operators.Vector{Indices: []int32{4, 0, 2}, Values: e.Vector.Values[:3]}
			}
			if !l.Gradient(dst, x, e) {
				t.Errorf("%s: event %d has no gradient", name, i)
			}
			line := fmt.Sprintf("%s %d value %016x gradient", name, i, math.Float64bits(l.Value(x, e)))
			for _, g := range dst {
				line += fmt.Sprintf(" %016x", math.Float64bits(g))
			}
			lines = append(lines, line)
		}
	}
	if *rewrite {
		if err := os.WriteFile(goldenFile, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stored, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSuffix(string(stored), "\n"), "\n")
	if len(lines) != len(want) {
		t.Errorf("%d lines, stored are %d", len(lines), len(want))
	}
	for i := range min(len(lines), len(want)) {
		if lines[i] != want[i] {
			t.Errorf("got %q, stored %q", lines[i], want[i])
		}
	}
}
