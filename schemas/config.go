package schemas

import (
	"errors"
	"fmt"
	"math"
)

const (
	// MaxDimension bounds Dimension: a Decoder holds 12 bytes for each coordinate.
	MaxDimension = 1 << 24
	// MaxNames bounds the named features of one event. Real events have tens; the bound keeps the duplicate check of
	// a hostile one small.
	MaxNames = 4096

	maxDepth = 8
)

// EventConfig says which events a Decoder takes. It holds public settings only.
type EventConfig struct {
	Body Body // which members they have. Required.
	// coordinates of the vector, 1 to MaxDimension. Required by a body with a vector, else not read.
	Dimension int
	MaxBytes  int           // longest valid record, bytes, ≥ 1. Required.
	Features  FeatureConfig // how named features are hashed. Required by a body with features, else not read.

	Operator string // whose events they are, for Decoder.Explain; it decides nothing

	// Unlabelled lets a label be left out: for scoring, where nobody has one yet. What is learned from always has one.
	Unlabelled bool
}

// FeatureConfig is the public part of feature hashing, see HashFeatures.
type FeatureConfig struct {
	Bias   bool    // add a constant 1 at the index of the empty token
	Norm   string  // unit: scale the hashed vector to norm 1; none: leave it. Required.
	Ranges []Range // public ranges of numeric features; no name twice
}

// Validate reports every problem at once.
func (c EventConfig) Validate() error {
	errs := []error{c.Body.Validate()}
	vector, some := c.Body.Vector()
	if some && (c.Dimension < 1 || c.Dimension > MaxDimension) {
		errs = append(errs, fmt.Errorf("schemas: dimension %d: not from 1 to %d", c.Dimension, MaxDimension))
	}
	if c.MaxBytes < 1 {
		errs = append(errs, fmt.Errorf("schemas: max bytes %d: not positive", c.MaxBytes))
	}
	if vector.Kind == KindFeatures {
		errs = append(errs, c.Features.Validate())
	}
	return errors.Join(errs...)
}

// Validate reports every problem at once.
func (c FeatureConfig) Validate() error {
	var errs []error
	if c.Norm != "unit" && c.Norm != "none" {
		errs = append(errs, fmt.Errorf("schemas: norm %q: not unit or none", c.Norm))
	}
	seen := map[string]bool{}
	for _, r := range c.Ranges {
		if seen[r.Name] {
			errs = append(errs, fmt.Errorf("schemas: range of %q: given twice", r.Name))
		}
		seen[r.Name] = true
		if width := r.High - r.Low; !(width > 0) || math.IsInf(width, 0) {
			errs = append(errs, fmt.Errorf("schemas: range of %q: not low < high with a finite width", r.Name))
		}
	}
	return errors.Join(errs...)
}
