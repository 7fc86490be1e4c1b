package page

import (
	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/score"
)

// bandMembers are the members of decisions that bandText puts into words.
var bandMembers = []string{"band_low", "band_high", "band_level", "band_error_most"}

// bandText describes in words the band of a decision, and the guaranteed coverage of all events so far.
func bandText(b *score.Band, predicts string) string {
	level := digits.Four(100*b.Level) + " %"
	text := "A band from prediction " + signed(b.Low) + " to prediction " + signed(b.High) + " must hold the labels of " +
		level + " of all events in the long run. "
	if predicts == score.LogOdds {
		text = "A set of labels must hold the label of " + level + " of all events in the long run. It has each label to " +
			"which the model gives a probability of at least " + digits.Four(1-b.High) + ". "
	}
	if b.MaxError >= max(b.Level, 1-b.Level) {
		text += "There are too few events yet to bound the share that was within"
	} else {
		text += "The share of all events so far that was within differs from " + level + " by at most " +
			digits.Upper(100*b.MaxError) + " percentage points, whatever the events were, with probability 95 % over the noise; null events count as within, and many of them raise it further"
	}
	return text + ". This is not a probability for one event."
}

func signed(x float64) string {
	if x < 0 {
		return "− " + digits.Four(-x)
	}
	return "+ " + digits.Four(x)
}
