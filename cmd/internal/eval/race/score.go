package race

import (
	"math"

	"oriel/operators"
	"oriel/schemas/event"
)

// Stretches is the number of parts into which curves divide each stream.
const Stretches = 60

// reliable is the number of equal intervals of [0, 1] by which predicted probabilities are compared with shares.
const reliable = 20

// score accumulates the score of one predictor.
type score struct {
	rule      *operators.Score
	stretches [Stretches]tally
	halves    [2]ranks
	right     float64 // weight of events whose class was predicted
	bins      [reliable]bin
	labels    spread
	squares   float64 // Σ w·(y − prediction)²
	covered   float64 // weight of labels at or below the prediction
	bands     [Stretches]bandTally
	undefined int // number of events whose loss is undefined at the decision
}

// tally is a weighted sum of losses.
type tally struct {
	weight, loss float64
	count        int
}

func (t *tally) add(o tally) {
	t.weight, t.loss, t.count = t.weight+o.weight, t.loss+o.loss, t.count+o.count
}

// mean returns the mean loss. It is NaN without events.
func (t tally) mean() float64 { return t.loss / t.weight }

// bin is an interval of the reliability table: the weight of its events, and the weighted sums of predictions and of
// labels 1.
type bin struct{ weight, predicted, ones float64 }

// spread is the weighted mean and variance of added values, by the update of West, "Updating mean and variance
// estimates" (1979).
type spread struct{ weight, mean, squares float64 }

func (s *spread) add(x, weight float64) {
	if weight == 0 {
		return
	}
	s.weight += weight
	step := x - s.mean
	s.mean += step * weight / s.weight
	s.squares += weight * step * (x - s.mean)
}

// add counts an event: its loss, weight included, and its prediction.
func (s *score) add(stretch int, e *event.Event, loss, prediction float64) {
	if math.IsNaN(loss) || math.IsInf(loss, 0) {
		s.undefined++
		return
	}
	s.stretches[stretch].add(tally{e.Weight, loss, 1})
	half := &s.halves[2*stretch/Stretches]
	switch s.rule.Predicts {
	case operators.LogOdds:
		s.sides(half, e, prediction)
		b := &s.bins[min(int(reliable*probability(prediction)), reliable-1)]
		b.weight += e.Weight
		b.predicted += e.Weight * probability(prediction)
		if e.Label > 0 {
			b.ones += e.Weight
		}
	case operators.Side:
		s.sides(half, e, prediction)
	case operators.Mean, operators.Quantile:
		s.labels.add(e.Label, e.Weight)
		s.squares += e.Weight * (e.Label - prediction) * (e.Label - prediction)
		if e.Label <= prediction {
			s.covered += e.Weight
		}
	case operators.Nothing, operators.Growth:
	}
}

// sides counts a prediction of one of two classes. A prediction of 0 counts as half right.
func (s *score) sides(half *ranks, e *event.Event, prediction float64) {
	half.add(prediction, e.Label > 0, e.Weight)
	switch {
	case prediction == 0:
		s.right += e.Weight / 2
	case (prediction > 0) == (e.Label > 0):
		s.right += e.Weight
	}
}

// probability converts log-odds to a probability.
func probability(odds float64) float64 { return 1 / (1 + math.Exp(-odds)) }

func (s *score) total() tally {
	var all tally
	for _, t := range s.stretches {
		all.add(t)
	}
	return all
}

// calibration is the expected calibration error (Naeini, Cooper and Hauskrecht, "Obtaining well calibrated
// probabilities using Bayesian binning", 2015): the weighted mean, over the bins, of the distance between share and
// prediction.
func (s *score) calibration() float64 {
	var weight, distance float64
	for _, b := range s.bins {
		weight += b.weight
		distance += math.Abs(b.ones - b.predicted)
	}
	return distance / weight
}
