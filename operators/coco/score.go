package coco

import (
	"oriel/operators"
	"oriel/operators/loss"
)

// Score returns the configured loss, without the public regulariser, for scoring decisions.
func (c operator) Score() *operators.Score {
	s := &operators.Score{Start: make([]float64, c.Set.Dimension()), Loss: c.Loss.Value, Predict: loss.Predict}
	c.start(s.Start, Inherited{})
	if c.Update == Projection {
		s.Noise = func(release float64, batch, step uint64) float64 {
			o := objective{
				convexity: float64(c.StrongConvexity * float64(batch)), start: c.StartRegularizer, scope: c.terms.Scope,
			}
			return min(release/o.curvature(step), c.Set.MaxNorm()) // a number within ±R cannot deviate by more than R
		}
	}
	s.Band = c.bandScore()
	switch l := c.Loss.(type) {
	case loss.Logistic:
		s.Predicts = operators.LogOdds
	case loss.Hinge:
		s.Predicts = operators.Side
	case loss.Squared:
		s.Predicts = operators.Mean
	case loss.Absolute:
		s.Predicts, s.Level = operators.Quantile, 0.5
	case loss.Quantile:
		s.Predicts, s.Level, s.Predict = operators.Quantile, l.Tau, l.Predict
	case loss.Portfolio:
		s.Predicts = operators.Growth
	}
	return s
}
