package coco

import (
	"errors"
	"fmt"
	"math"

	"oriel/mechanisms"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/loss"
	"oriel/schemas/event"
)

// Band is a band around predictions that must contain a given share of all labels. With the logistic loss it is a set
// of labels.
type Band struct {
	Level  float64         // share of labels within the band, in [0.5, 0.999]; 0: there is no band
	Labels operators.Range // public range, to which labels are clamped; zero with the logistic loss
	Weight float64         // w, the size of a miss relative to gradients in a ball of radius 1, in [0.01, 10]
	Step   float64         // η, the relative change of an end by one miss, in [1e-6, 0.1]
}

// bandComponent is the index of the band's component in a contribution.
const bandComponent = 1

// predictsSets reports whether a band is a set of labels.
func (c Config) predictsSets() bool {
	_, logistic := c.Loss.(loss.Logistic)
	return logistic
}

// bandColumns returns the number of columns that a contribution has for a band.
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

// Columns describes the columns of a contribution that count misses of a band.
type Columns struct {
	Number int    // number of columns, 1 or 2
	Share  uint32 // share of the budget µ²; the gradients' share is gradientShare
}

// gradientShare is the gradients' share of the budget beside a band. It is 2²⁴, so that Columns.Share rounds the least
// weight by less than a thousandth.
const gradientShare = 1 << 24

// columns returns the columns of the configured band. Consider a contribution of a gradient in a ball of radius 1 and a
// mark of length w. Its sensitivity, and for comparison the sensitivity without a band, is:
//
//	replace   √(4 + 2w²) with two columns, √(4 + w²) with one; 2 without a band
//	zero-out  √(1 + w²); 1 without a band
//
// Gaussian noise of one size for this vector equals the noise of two components, each calibrated to its own
// sensitivity, whose shares of µ² are proportional to the squares of the sensitivities (PROOF.md, claim 6).
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

// noiseFactor returns the factor by which the columns increase the noise of gradients.
func (x Columns) noiseFactor() float64 { return math.Sqrt(1 + float64(x.Share)/gradientShare) }

func (x Columns) validate() error {
	if x != (Columns{}) && (x.Number < 1 || x.Number > 2 || x.Share == 0) {
		return errors.New("coco: plan: columns of a band that are not 1 or 2 with a share")
	}
	return nil
}

// components returns the number of components of a contribution.
func (p Params) components() int {
	if p.Band == (Columns{}) {
		return 1
	}
	return 2
}

// wantsGaussian reports whether a mechanism supports a band, which needs noise of known deviation in totals.
func wantsGaussian(name string) bool {
	facts, _ := mechanisms.FactsOf(name)
	return facts.Law == mechanisms.Gaussian && !facts.Paper && facts.Structure != mechanisms.PerStep
}

// beyondBand changes the labels of canaries so that one is above every band and the other below every band. It does
// nothing if labels are classes.
func (c Config) beyondBand(events ...*event.Event) {
	if c.bandColumns() < 2 {
		return
	}
	far := float64(operators.CanaryFactor * (math.Abs(c.Band.Labels.Low) + math.Abs(c.Band.Labels.High)))
	for _, e := range events {
		e.Label = math.Copysign(far+math.Abs(e.Label), e.Label)
	}
}

// describeBand returns the description of the band for `oriel plan`.
func (c operator) describeBand(m mechanisms.Config) *operators.Band {
	if c.Band.Level == 0 {
		return nil
	}
	rule, batch := newBandRule(c.Config), m.Batch
	return &operators.Band{
		Level: c.Band.Level, Noise: c.columns(m.Unit).noiseFactor(),
		MaxError: func(opened *mechanisms.Mechanism) (func(step uint64) float64, error) {
			noise, err := newTotalNoise(opened, bandComponent)
			return func(step uint64) float64 { return rule.maxError(step, batch, noise) }, err
		},
	}
}
