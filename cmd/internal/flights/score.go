package flights

import (
	"math"
	"slices"
)

// Score is progressive validation of a stream of predictions: each is made before its flight is learned from.
type Score struct {
	loss  float64
	count int
	pairs []prediction
}

type prediction struct {
	margin float64
	late   bool
}

// Add counts the prediction of the weights x (length Dimension, or nil for all zero) for a flight.
func (s *Score) Add(x []float64, f *Flight) {
	margin := 0.0
	for i, w := range x {
		margin += w * f.Features[i]
	}
	z := -f.Label() * margin
	s.loss += max(z, 0) + math.Log1p(math.Exp(-math.Abs(z)))
	s.count++
	s.pairs = append(s.pairs, prediction{margin, f.Late})
}

// Count is the number of predictions.
func (s *Score) Count() int { return s.count }

// LogLoss is the mean logistic loss in nats.
func (s *Score) LogLoss() float64 { return s.loss / float64(s.count) }

// AUC is the area under the ROC curve of the predictions from a share of the stream on (0 all, 0.5 the second half); ties
// count half.
func (s *Score) AUC(from float64) float64 {
	pairs := slices.Clone(s.pairs[int(from*float64(len(s.pairs))):])
	slices.SortFunc(pairs, func(a, b prediction) int {
		switch {
		case a.margin < b.margin:
			return -1
		case a.margin > b.margin:
			return 1
		}
		return 0
	})
	var wins, late, punctual float64
	for i := 0; i < len(pairs); {
		j := i
		var l, p float64
		for ; j < len(pairs) && pairs[j].margin == pairs[i].margin; j++ {
			if pairs[j].late {
				l++
			} else {
				p++
			}
		}
		wins += l * (punctual + p/2)
		late, punctual = late+l, punctual+p
		i = j
	}
	return wins / (late * punctual)
}

// Merge adds the predictions of another stream behind this one's.
func (s *Score) Merge(o *Score) {
	s.loss += o.loss
	s.count += o.count
	s.pairs = append(s.pairs, o.pairs...)
}
