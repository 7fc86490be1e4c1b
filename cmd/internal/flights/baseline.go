package flights

import "math"

// Baseline learns the same way without privacy: follow the approximate leader over exact sums (window-coco §5.1 with
// ĝ = g), logistic loss, Euclidean ball. It is what privacy is compared with.
type Baseline struct {
	sum, x     [Dimension]float64
	convexity  float64
	radius     float64
	regularise float64
	steps      float64
}

// NewBaseline starts at 0 with strong convexity µ, start regulariser λ₀ and ball radius R.
func NewBaseline(convexity, start, radius float64) *Baseline {
	return &Baseline{convexity: convexity, regularise: start, radius: radius}
}

// Weights are what the next flight is predicted with.
func (b *Baseline) Weights() []float64 { return b.x[:] }

// Learn takes one step.
func (b *Baseline) Learn(f *Flight) {
	margin := 0.0
	for i, w := range b.x {
		margin += w * f.Features[i]
	}
	slope := -f.Label() / (1 + math.Exp(f.Label()*margin))
	b.steps++
	norm := 0.0
	for i := range b.sum {
		b.sum[i] += slope * f.Features[i]
		b.x[i] = -b.sum[i] / (b.convexity*b.steps + b.regularise)
		norm += b.x[i] * b.x[i]
	}
	if norm = math.Sqrt(norm); norm > b.radius {
		for i := range b.x {
			b.x[i] *= b.radius / norm
		}
	}
}
