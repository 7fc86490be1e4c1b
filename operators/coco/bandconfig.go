package coco

import (
	"errors"
	"fmt"
	"math"

	"oriel/mechanisms"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/loss"
	"oriel/schemas"
)

// Band is a band around predictions within which a share of all events is to be; of the logistic loss, a set of labels.
type Band struct {
	Level  float64         // share of events within, in [0.5, 0.999]; 0: there is no band
	Labels operators.Range // public; a label beyond counts as its end. Zero for the logistic loss
	Weight float64         // w: how far one miss moves the sums, where gradients are in a ball of radius 1. In [0.01, 10]
	Step   float64         // η, how far one miss moves an end, as a share of it. In [1e-6, 0.1]
}

// bandComponent is the component of a band's columns.
const bandComponent = 1

// predictsSets reports whether a band is a set of labels.
func (c Config) predictsSets() bool {
	_, logistic := c.Loss.(loss.Logistic)
	return logistic
}

// bandColumns is how many columns a contribution has for a band.
func (c Config) bandColumns() int {
	switch {
	case c.Band.Level == 0:
		return 0
	case c.predictsSets():
		return 1
	}
	return 2
}

func (c Config) validateBand() []error {
	b := c.Band
	if b == (Band{}) {
		return nil
	}
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf("coco: band: "+format, args...)) }
	if !(b.Level >= 0.5 && b.Level <= 0.999) {
		fail("level %g: not in [0.5, 0.999]", b.Level)
	}
	if !(b.Weight >= 0.01 && b.Weight <= 10) {
		fail("weight %g: not in [0.01, 10]", b.Weight)
	}
	if !(b.Step >= 1e-6 && b.Step <= 0.1) {
		fail("step %g: not in [1e-6, 0.1]", b.Step)
	}
	switch c.Loss.(type) {
	case loss.Logistic:
		if b.Labels != (operators.Range{}) {
			fail("range %g:%g: labels of the logistic loss are two classes", b.Labels.Low, b.Labels.High)
		}
	case loss.Squared, loss.Absolute, loss.Quantile:
		if !(b.Labels.Low < b.Labels.High && -maxConvexity <= b.Labels.Low && b.Labels.High <= maxConvexity) {
			fail("range %g:%g: not ends up to 1e12 in size, the first below the second", b.Labels.Low, b.Labels.High)
		}
	default:
		fail("loss %T: predicts no label; squared, absolute, quantile and logistic do", c.Loss)
	}
	if !(c.FeaturesMax > 0) {
		fail("features max 0: not known how far a prediction can be from a label")
	}
	if c.Update != Projection && !c.searches() {
		fail("update %s: only projection, and llo with constants search, have one", c.Update)
	}
	return errs
}

// Columns are those of a band's misses in a contribution.
type Columns struct {
	Number int    // 1 or 2
	Share  uint32 // of the budget µ², beside gradientShare of gradients
}

// gradientShare is the share of gradients beside a band: 2²⁴, so that the least weight is met to a thousandth.
const gradientShare = 1 << 24

// columns are those of a band. A contribution is a gradient in a ball of radius 1, say, and a mark of length w. What an
// exchange moves it by, and a band costs:
//
//	replace   √(4 + 2w²) of two columns, √(4 + w²) of one, against 2      zero-out  √(1 + w²), against 1
//
// Gaussian noise of one size for such a vector is that of two components, each calibrated to its own distance, whose
// shares of µ² are as the squares of these (PROOF.md, claim 6).
func (c Config) columns(unit protection.Unit) Columns {
	n := c.bandColumns()
	if n == 0 {
		return Columns{}
	}
	square := float64(c.Band.Weight * c.Band.Weight)
	switch {
	case unit.AgainstNull():
	case n == 1:
		square /= 4
	default:
		square /= 2
	}
	return Columns{Number: n, Share: uint32(float64(square*gradientShare) + 0.5)}
}

// noiseFactor is how many times the noise of gradients is as large as without the columns.
func (x Columns) noiseFactor() float64 { return math.Sqrt(1 + float64(x.Share)/gradientShare) }

func (x Columns) validate() error {
	if x != (Columns{}) && (x.Number < 1 || x.Number > 2 || x.Share == 0) {
		return errors.New("coco: plan: columns of a band that are not 1 or 2 with a share")
	}
	return nil
}

// components is how many a contribution has.
func (p Params) components() int {
	if p.Band == (Columns{}) {
		return 1
	}
	return 2
}

// wantsGaussian reports whether a mechanism can carry a band: the deviation of its noise is known.
func wantsGaussian(name string) bool {
	facts, _ := mechanisms.FactsOf(name)
	return facts.Law == mechanisms.Gaussian && !facts.Paper && !facts.PerStep
}

// beyondBand moves labels of canaries so far that one is above each band and the other below, where labels are numbers.
func (c Config) beyondBand(events ...*schemas.Event) {
	if c.bandColumns() < 2 {
		return
	}
	far := float64(operators.CanaryFactor * (math.Abs(c.Band.Labels.Low) + math.Abs(c.Band.Labels.High)))
	for _, e := range events {
		e.Label = math.Copysign(far+math.Abs(e.Label), e.Label)
	}
}

// describeBand is what `oriel plan` tells of a band.
func (c operator) describeBand(m mechanisms.Config) *operators.Band {
	if c.Band.Level == 0 {
		return nil
	}
	rule, batch := newBandRule(c.Config, true), m.Batch
	return &operators.Band{
		Level: c.Band.Level, Noise: c.columns(m.Unit).noiseFactor(),
		ErrorMost: func(opened *mechanisms.Mechanism) (func(step uint64) float64, error) {
			noise, err := newTotalNoise(opened, bandComponent)
			return func(step uint64) float64 { return rule.errorMost(step, batch, noise) }, err
		},
	}
}
