package mechanisms_test

import (
	"math"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/protection"
)

// TestNoiseLawIsThatOfReleases checks that the law of increments follows from the filter: adding its responses up must
// give the standard deviations of the releases.
func TestNoiseLawIsThatOfReleases(t *testing.T) {
	for name, scope := range map[string]protection.Scope{
		"horizon": protection.Lifetime{Steps: 100, Within: 100}, "window": protection.Window{Steps: 64},
		"decay": protection.Decay{Steps: 16},
	} {
		c := mechanisms.Config{
			Name: "blt", Batch: 10, Budget: dp.Budget{Epsilon: 1, Delta: 1e-6}, Contribution: contribution.OneComponent(3, 1),
			Terms: protection.Terms{Scope: scope, Unit: protection.Event{Exchange: dp.Replace}},
		}
		stream := mechtest.ByCount(mechtest.ZeroStream(t, c))
		law, err := stream.NoiseLaw(0)
		if err != nil {
			t.Fatal(err)
		}
		const steps = 90
		response := func(j int) float64 { // the filter's response in increments
			b := 0.0
			for k, q := range law.Poles {
				b += law.Residues[k] * math.Pow(q, float64(j-1))
			}
			return b
		}
		variance, sum := 0.0, 0.0 // predicted variance of the sum of all increments
		gamma := 1.0
		memory, decays := stream.Memory()
		if decays {
			gamma = 1 - 1/float64(memory)
		}
		for j := range steps {
			b := 1.0
			if j > 0 {
				b = response(j)
			}
			sum = gamma*sum + b
			variance += sum * sum
		}
		deviation, err := stream.Deviation(0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if want := deviation.At(steps); math.Abs(law.Draw*math.Sqrt(variance)/want-1) > 1e-5 {
			t.Errorf("%s: %g, want %g", name, law.Draw*math.Sqrt(variance), want)
		}
	}
}
