package dp

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
)

var gridFile = flag.String("grid", "", "file to write what this package says to, for .ci/auditors/accounting.py; relative to mechanisms/dp")

// claim is a question for an independent accountant: losses with ε and δ. Solved says which of the two this package
// computed.
type claim struct {
	Mu      []float64 `json:"mu"`
	Rho     []float64 `json:"rho"`
	Pure    []float64 `json:"pure"`
	Epsilon float64   `json:"epsilon"`
	Delta   float64   `json:"delta"`
	Solved  string    `json:"solved"`
}

func claims() []claim {
	var all []claim
	ask := func(mus, rhos, pures []float64) {
		t := total(mus, rhos, pures)
		for _, delta := range []float64{1e-12, 1e-6, 1e-3} {
			all = append(all, claim{mus, rhos, pures, t.Epsilon(delta), delta, "epsilon"})
		}
		for _, epsilon := range []float64{0.1, 1, 5} {
			// An accountant that works with float64 probabilities cannot check a δ below 10⁻¹⁴.
			if delta := t.Delta(epsilon); delta > 1e-14 {
				all = append(all, claim{mus, rhos, pures, epsilon, delta, "delta"})
			}
		}
	}
	one := func(x float64) []float64 { return []float64{x} }
	for _, mu := range []float64{0.01, 0.05, 0.2064, 0.5, 1, 2, 5} {
		ask(one(mu), nil, nil)
		ask(nil, one(gaussianRho(mu)), nil)
	}
	ask([]float64{1, 1, 1, 1}, nil, nil)
	ask([]float64{0.1, 0.2, 0.3, 0.4, 0.5}, nil, nil)
	ask([]float64{2, 0.01, 0.5}, nil, nil)
	ask(nil, []float64{0.01, 0.02, 0.005}, nil)
	ask(nil, nil, one(0.25))
	ask(nil, nil, one(1))
	ask(nil, nil, []float64{0.5, 1})
	ask(nil, nil, []float64{0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1})
	ask(one(1), nil, one(0.1))
	ask(one(1), nil, one(1))
	ask(one(0.2), nil, one(2))
	ask([]float64{0.5, 0.5}, nil, []float64{0.1, 0.2, 0.1, 0.2})
	ask(one(1), one(0.001), nil)
	ask(one(0.5), one(0.125), nil)
	ask(nil, one(0.125), one(0.5))
	ask(one(0.5), one(0.01), []float64{0.25, 0.25})
	for _, b := range []Budget{{0.1, 1e-9}, {0.5, 1e-6}, {1, 1e-6}, {3, 1e-5}, {10, 1e-12}} {
		all = append(all,
			claim{one(GaussianMu(b)), nil, nil, b.Epsilon, b.Delta, "mu"},
			claim{nil, one(ZCDPRho(b)), nil, b.Epsilon, b.Delta, "rho"})
	}
	return all
}

// TestClaimsForOutsideAccountants writes the claims that .ci/auditors/accounting.py checks. Here it only checks that
// there are claims of each kind.
func TestClaimsForOutsideAccountants(t *testing.T) {
	var lines strings.Builder
	kinds := make(map[string]int)
	encoder := json.NewEncoder(&lines)
	for _, c := range claims() {
		kinds[c.Solved]++
		if err := encoder.Encode(c); err != nil { // fails for an infinite figure, which JSON cannot hold
			t.Fatalf("%+v: %v", c, err)
		}
	}
	if kinds["epsilon"] < 60 || kinds["delta"] < 40 || kinds["mu"] < 5 || kinds["rho"] < 5 {
		t.Errorf("claims: %v", kinds)
	}
	if *gridFile != "" {
		if err := os.WriteFile(*gridFile, []byte(lines.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
