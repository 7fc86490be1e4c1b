package decay

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/rational"
)

var matricesFile = flag.String("matrices", "", "file to write µ by age to, for .ci/auditors/accounting.py; relative to mechanisms/decay")

// matrixClaim is this package's claim at an age, with the integers from which an accountant can build the noise matrix.
type matrixClaim struct {
	Decay    uint32   `json:"decay"` // Γ, like the filter's other numbers in units of 2⁻³⁰
	Poles    []uint32 `json:"poles"`
	Residues []uint32 `json:"residues"`
	Distance uint64   `json:"distance"` // Δ, lattice units
	N        int      `json:"coordinates"`
	Scale    float64  `json:"scale"` // s, noise scale
	Events   uint64   `json:"events"`
	Apart    uint64   `json:"apart"` // steps between consecutive events of the user
	Age      uint64   `json:"age"`
	Mu       float64  `json:"mu"`
	Delta    float64  `json:"delta"`
	Epsilon  float64  `json:"epsilon"`
}

// TestMatricesForOutsideAccountants writes the claims that .ci/auditors/accounting.py checks against dense matrices,
// with noise for (1, 10⁻⁶), for an event and for the events of a user. Here it only checks that no claim exceeds (1,
// 10⁻⁶), and that no claim is negligible.
func TestMatricesForOutsideAccountants(t *testing.T) {
	const n, delta = 32, 1e-6
	var lines strings.Builder
	encoder := json.NewEncoder(&lines)
	for _, x := range []struct{ memory, separation, window uint64 }{
		{64, 0, 0}, {256, 0, 0}, {1024, 0, 0}, {64, 10, 100}, {1024, 128, 1024}, {1024, 1, 8},
	} {
		memory, f := x.memory, fitFilter(t, x.memory)
		square := func(bits int) lattice.Int128 { return power(2 + 2*bits) }
		bits, err := f.Bits(n, square)
		if err != nil {
			t.Fatal(err)
		}
		event := Loss{Filter: f, Square: square(bits), N: n}
		scaleFor, events, apart := event.ScaleFor, uint64(1), uint64(1)
		if x.separation > 0 {
			scaleFor = UserLoss{Loss: event, Separation: x.separation, Window: x.window}.ScaleFor
			events, apart = rational.Events(x.window, x.separation), x.separation
		}
		if event.Scale, err = scaleFor(dp.GaussianMu(dp.Budget{Epsilon: 1, Delta: delta})); err != nil {
			t.Fatal(err)
		}
		muAt := event.Mu
		if x.separation > 0 {
			muAt = UserLoss{Loss: event, Separation: x.separation, Window: x.window}.Mu
		}
		for _, age := range []uint64{1, memory / 4, memory, 3 * memory} {
			mu := muAt(age)
			c := matrixClaim{
				Decay: f.Decay(), Poles: f.Poles[:f.Count], Residues: f.Residues[:f.Count], Distance: 2 << bits, N: n,
				Scale: event.Scale.Float64(), Events: events, Apart: apart, Age: age, Mu: mu, Delta: delta,
				Epsilon: dp.GaussianEpsilon(mu, delta),
			}
			if !(c.Epsilon > 0.03 && c.Epsilon <= 1+1e-9) {
				t.Errorf("H = %d: ε(%d) = %g", memory, age, c.Epsilon)
			}
			if err := encoder.Encode(c); err != nil {
				t.Fatal(err)
			}
		}
	}
	if *matricesFile != "" {
		if err := os.WriteFile(*matricesFile, []byte(lines.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
