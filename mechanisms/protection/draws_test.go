package protection

import (
	"testing"

	"oriel/mechanisms/dp"
)

// TestDrawsOfAGroup checks a stream that releases no sum. At each age, the loss of one unit is the loss of its draws,
// and the loss of a group of k units is the ε of kε and k²ρ.
func TestDrawsOfAGroup(t *testing.T) {
	const delta, life = 1e-6, 64
	composed := func(pure, rho float64) float64 {
		var total dp.Total
		total.AddPure(pure)
		total.AddRho(rho)
		return total.Epsilon(delta)
	}
	for _, d := range []dp.Draws{{Pure: 0.25}, {Rho: 0.125}, {Pure: 0.5, Rho: 0.25}} {
		g := Guarantee{
			Terms: Terms{Lifetime{life, life}, event}, Mechanism: "draws", Batch: 1, Epsilon: d.Epsilon(delta), Delta: delta,
			Draws: d,
		}
		for what, losses := range map[string][2]float64{
			"none":             {g.Group(0).Epsilon, 0},
			"one":              {g.Group(1).Epsilon, composed(d.Pure, d.Rho)},
			"two":              {g.Group(2).Epsilon, composed(2*d.Pure, 4*d.Rho)},
			"three":            {g.Group(3).Epsilon, composed(3*d.Pure, 9*d.Rho)},
			"one, for life":    {g.At(life).Epsilon, composed(d.Pure, d.Rho)},
			"one, behind life": {g.At(9 * life).Epsilon, composed(d.Pure, d.Rho)},
			"one, at age 0":    {g.At(0).Epsilon, 0},
		} {
			if losses[0] != losses[1] {
				t.Errorf("%+v, %s: ε %v, want %v", d, what, losses[0], losses[1])
			}
		}
	}
}
