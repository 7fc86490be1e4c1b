package event

import (
	"errors"
	"fmt"
	"math"

	"oriel/schemas/text"
)

// MaxDimension bounds Dimension, because a JSONDecoder holds 12 bytes for each coordinate.
const MaxDimension = 1 << 24

// Config defines which events a JSONDecoder accepts. It holds public settings only.
type Config struct {
	Body Body // members of the events. Required.
	// Dimension is the number of coordinates of the vector, 1 to MaxDimension. It is required for a body with a vector,
	// and otherwise ignored.
	Dimension int
	MaxBytes  int           // longest valid record, bytes, ≥ 1. Required.
	Features  FeatureConfig // hashing of named features. Required by a body with features; others ignore it.

	Operator string // name of the operator; only JSONDecoder.Explain uses it

	// Unlabelled allows the label to be left out. It is for scoring, when the label is not known yet; a learner's
	// events always have a label.
	Unlabelled bool

	// Unknown decides what happens to a record with a member that the body does not have.
	Unknown Unknown

	// Foreign opens decoders of records in another form than the body's own: in another encoding, or with other
	// members, as named by a mapping. nil means the body's own form.
	Foreign func(Config) (Decoder, error)
}

// Unknown is the treatment of members that the body does not have.
type Unknown uint8

// The treatments.
const (
	UnknownIsNull Unknown = iota // the record becomes a null event
	UnknownIsFree                // the decoder skips the member, whatever it contains
)

// Decoder turns values of records in any form into events. It is not safe for concurrent use.
type Decoder interface {
	// Decode turns the value of a record into dst, which stays valid until the next Decode. With any code except OK,
	// dst is unspecified and the record is a null event.
	Decode(dst *Event, value []byte) text.Code

	// Problem explains the code that the last Decode returned for this value, for people who may read the input. It has
	// the member, if a single member is at fault, the code, and a text that names members and rules.
	Problem(value []byte, code text.Code) string
}

// PlacedDecoder is a decoder whose result depends on the offset of the record, for example because a schema is known
// only from some offset on.
type PlacedDecoder interface {
	Decoder

	// At sets the partition and offset, in the input, of the next value to Decode.
	At(partition int32, offset int64)
}

// OpenDecoder returns the decoder of the configured form, or every problem of the configuration.
func OpenDecoder(c Config) (Decoder, error) {
	if c.Foreign != nil {
		return c.Foreign(c)
	}
	return NewJSONDecoder(c)
}

// FeatureConfig is the public part of feature hashing, version 1, which must never change: named features become a
// sparse vector. Programs that score with a decision must hash the same way. testdata/hashing.json holds test vectors,
// and testdata/hashing.py a second implementation.
//
// Each feature, in order of appearance, contributes values v under tokens:
//
//	string            1 under name ‖ 0x00 ‖ text
//	number            the number under name
//	number in a range (number − low) / (high − low), clamped to [0, 1], under name
//	the same, cyclic  u = (number − low) / (high − low), t = u − ⌊u⌋ (0 if u is not finite): sin 2πt under name ‖ 0x00 ‖ "sin", then cos 2πt
//	                  under name ‖ 0x00 ‖ "cos", both as sinCosTurn says
//	true              1 under name, range or not; false nothing
//
// and at the end, if Bias, 1 under the empty token. With h = XXH64(token, seed 0), v goes to index ⌊h·d / 2^64⌋,
// negated if h is odd. Indices are in the order of their first appearance. Its value starts at +0, and contributions
// are added one by one in order. With Norm unit, s = Σ value² is added in that order, each product rounded separately;
// if s > 0 each value is divided by √s. The code is FeatureOverflow if a value or, with Norm unit, s is not finite.
type FeatureConfig struct {
	Bias   bool    // add a constant 1 at the index of the empty token
	Norm   string  // unit: scale the hashed vector to norm 1; none: leave it. Required.
	Ranges []Range // public ranges of numeric features; names are unique
}

// Validate reports every problem at once.
func (c Config) Validate() error {
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
			errs = append(errs, fmt.Errorf("range of %s: given twice", text.Shown([]byte(r.Name))))
		}
		seen[r.Name] = true
		if width := r.High - r.Low; !(width > 0) || math.IsInf(width, 0) {
			errs = append(errs, fmt.Errorf("range of %s: not low < high with a finite width", text.Shown([]byte(r.Name))))
		}
	}
	return errors.Join(errs...)
}
