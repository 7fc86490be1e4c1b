package dimension

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestPlacesAreThoseOfEdges checks that a number falls into the bin whose edges enclose it, at the edges and next to
// them too, in ranges of all sizes.
func TestPlacesAreThoseOfEdges(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 8))
	for range 3000 {
		from := math.Ldexp(rng.NormFloat64(), rng.IntN(20)-10)
		d := Dimension{
			Name: "x", From: from, To: from + math.Ldexp(rng.Float64()+0.01, rng.IntN(20)-10),
			Bins: 1 + rng.IntN(200),
		}
		j := rng.IntN(d.Bins + 1)
		for _, x := range []float64{
			d.Edge(j), math.Nextafter(d.Edge(j), math.Inf(1)),
			math.Nextafter(d.Edge(j), math.Inf(-1)),
		} {
			want := -1
			for k := range d.Bins {
				if x >= d.Edge(k) && (x < d.Edge(k+1) || k == d.Bins-1 && x < d.To) {
					want = k
				}
			}
			if x >= d.To {
				want = -1
			}
			if got, ok := d.Place(x); !ok || got != want {
				t.Fatalf("%+v: %v is in bin %d, want %d", d, x, got, want)
			}
		}
	}
}
