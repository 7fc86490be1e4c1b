package setting

import "testing"

// TestBounds checks which numbers bounds allow, and how they are written.
func TestBounds(t *testing.T) {
	for _, c := range []struct {
		bounds  Bounds
		text    string
		allowed []float64
		not     []float64
	}{
		{Bounds{}, "", []float64{-1, 0, 1e300}, nil},
		{From(1, 1<<31), "1 to 2^31", []float64{1, 1 << 31}, []float64{0, 1<<31 + 1, -1}},
		{From(1.0/1024, 1e12), "1/1024 to 1e12", []float64{1. / 1024, 1e12}, []float64{0, 1.1e12}},
		{From(1e-6, 1048576), "1e-6 to 1048576", []float64{1e-6}, []float64{0}},
		{Above(0, 0.5), "above 0, at most 0.5", []float64{1e-300, 0.5}, []float64{0, 0.6}},
		{Between(0, 1), "above 0, below 1", []float64{0.5}, []float64{0, 1}},
		{From(2, 20100).OrZero(), "0, or 2 to 20100", []float64{0, 2}, []float64{1, -1}},
	} {
		if got := c.bounds.String(); got != c.text {
			t.Errorf("%q, want %q", got, c.text)
		}
		for _, x := range c.allowed {
			if !c.bounds.Allow(x) {
				t.Errorf("%s: %g is refused", c.text, x)
			}
		}
		for _, x := range c.not {
			if c.bounds.Allow(x) {
				t.Errorf("%s: %g is allowed", c.text, x)
			}
		}
	}
}
