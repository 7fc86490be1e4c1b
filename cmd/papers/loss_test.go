package papers

import "gonum.org/v1/gonum/floats"

// Loss is f(x) = ½(y − ⟨v, x⟩)² + (µ/2)|x|² if it has features v. Otherwise it is (µ/2)|x − z|² with a target z in the
// set. The caller owns its slices.
type Loss struct {
	Features []float64 // v: features of the event
	Label    float64   // y: label of the event
	Target   []float64 // z: target; nil if the loss has features
}

// Value returns f(x).
func (f Loss) Value(x []float64, convexity float64) float64 {
	if f.Features == nil {
		d := floats.Distance(x, f.Target, 2)
		return convexity / 2 * d * d
	}
	residual := f.Label - floats.Dot(f.Features, x)
	return residual*residual/2 + convexity/2*floats.Dot(x, x)
}

// Gradient writes the gradient of f at x without the regulariser: the gradient of the term that depends on the event.
func (f Loss) Gradient(dst, x []float64, convexity float64) {
	if f.Features == nil {
		floats.SubTo(dst, x, f.Target)
		floats.Scale(convexity, dst)
		return
	}
	floats.ScaleTo(dst, floats.Dot(f.Features, x)-f.Label, f.Features)
}
