package score

import (
	"encoding/json"
	"fmt"
	"math"

	"oriel/schemas/decision"
)

// Band is the band around predictions in a decision, or the decision's rule for sets of labels.
type Band struct {
	Low, High float64 // ends relative to a prediction; for a set of labels, High bounds 1 − the label's probability
	Level     float64 // target share of events within the band in the long run
	MaxError  float64 // bound on the distance between Level and the share of events so far
}

// BandOf returns the band in a decision's members, or nil if there is none.
func BandOf(members []decision.ExtraMember) (*Band, error) {
	var b Band
	found := 0
	for _, member := range members {
		at := map[string]*float64{
			"band_low": &b.Low, "band_high": &b.High, "band_level": &b.Level, "band_error_most": &b.MaxError,
		}[member.Name]
		if at == nil {
			continue
		}
		if json.Unmarshal([]byte(member.JSON), at) != nil {
			return nil, fmt.Errorf("%s: not a number", member.Name)
		}
		found++
	}
	if found < 4 {
		return nil, nil
	}
	return &b, nil
}

// append appends where the label is expected for a value ⟨features, weights⟩: the labels of a set, or the ends of a
// band.
func (b *Band) append(dst []byte, predicts string, value float64) []byte {
	switch {
	case b == nil:
		return dst
	case predicts == LogOdds:
		dst = append(dst, `,"labels":[`...)
		first := true
		for _, label := range []float64{-1, 1} {
			if 1/(1+math.Exp(label*value)) > b.High {
				continue
			}
			if !first {
				dst = append(dst, ',')
			}
			dst, first = appendNumber(dst, label), false
		}
		dst = append(dst, ']')
	default:
		dst = appendNumber(append(dst, `,"band":[`...), value+b.Low)
		dst = append(appendNumber(append(dst, ','), value+b.High), ']')
	}
	return appendNumber(append(dst, `,"band_level":`...), b.Level)
}
