package score

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"oriel/operators"
	"oriel/operators/loss"
	"oriel/schemas/event"
	"oriel/schemas/mapping"
)

// Descriptor is what a scorer needs besides decisions. The operator publishes it as a record of the descriptor topic.
// It contains only public settings.
type Descriptor struct {
	Operator string    `json:"operator"`
	Vector   Vector    `json:"vector"`
	Predicts string    `json:"predicts,omitempty"` // meaning of a score: one of the constants LogOdds to Reward
	Level    float64   `json:"level,omitempty"`    // level, if scores are quantiles
	Offset   float64   `json:"offset,omitempty"`   // constant that a score adds to ⟨features, weights⟩
	Bounds   []float64 `json:"bounds,omitempty"`   // smallest and largest score; nil: unbounded
	Arms     []string  `json:"arms,omitempty"`     // arms whose weights are concatenated; nil: a single weight vector
	Names    []Name    `json:"names,omitempty"`    // names of coordinates, as far as public settings define them
	Noise    *Noise    `json:"noise,omitempty"`    // noise of weights; nil: published in decisions, or unknown

	// Map is the document of ORIEL_MAP: where records have their features, under which names and of which types. nil:
	// events have the operator's own form, in which any name is a feature.
	Map json.RawMessage `json:"map,omitempty"`
}

// Meanings of the inner product of features and weights.
const (
	LogOdds  = "log-odds" // log-odds of label 1
	Class    = "class"    // a class, by the sign of the score
	Mean     = "mean"     // mean of the label
	Quantile = "quantile" // quantile of the label at Descriptor.Level
	Reward   = "reward"   // reward of each arm
)

var predictions = map[operators.Prediction]string{
	operators.LogOdds: LogOdds, operators.Side: Class, operators.Mean: Mean, operators.Quantile: Quantile,
}

// Vector describes how named features become a vector: event.FeatureConfig, version 1.
type Vector struct {
	Version   int     `json:"version"`
	Dimension int     `json:"dimension"`
	Bias      bool    `json:"bias"`
	Norm      string  `json:"norm"`
	Ranges    []Range `json:"ranges,omitempty"`
}

// Range is a event.Range in JSON.
type Range struct {
	Name   string  `json:"name"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Cyclic bool    `json:"cyclic,omitempty"`
}

// Name is a feature whose coordinate is known: Sign times the feature's value is added at Index.
type Name struct {
	Name  string  `json:"name"`
	Index int     `json:"index"`
	Sign  float64 `json:"sign"`
}

// Noise is the standard deviation of privacy's noise in each weight, as a function of the decision's step; the noise is
// independent between weights. After Steps[i] it is Deviations[i]; between entries it is linear in the logarithms of
// both, and after the last entry it is constant. If weights are projected into their set, it is an upper bound.
type Noise struct {
	Steps      []uint64  `json:"steps"`
	Deviations []float64 `json:"deviations"`
}

// Hashes reports whether events of a body have hashed features.
func Hashes(b event.Body) bool {
	v, some := b.Vector()
	return some && v.Kind == event.KindFeatures && !v.Optional
}

// Describe returns the descriptor of an operator and its events. deviation returns the standard deviation of a released
// number after a step. It is nil if the deviation is not known.
func Describe(
	o operators.Operator, c event.Config, deviation func(step uint64) float64, batch uint64,
) (Descriptor, error) {
	d := Descriptor{Operator: c.Operator, Vector: Vector{
		Version: 1, Dimension: c.Dimension, Bias: c.Features.Bias, Norm: c.Features.Norm,
	}}
	for _, r := range c.Features.Ranges {
		d.Vector.Ranges = append(d.Vector.Ranges, Range(r))
	}
	if own := operators.DescriptorOf(o); own != nil {
		if err := json.Unmarshal(own, &d); err != nil {
			return d, fmt.Errorf("score: descriptor: %w", err)
		}
	}
	if len(d.Arms) > 0 {
		d.Predicts = Reward
	}
	if s := operators.ScoreOf(o); s != nil {
		d.Predicts, d.Level, d.Offset = predictions[s.Predicts], s.Level, s.Offset
		if s.Low != s.High {
			d.Bounds = []float64{s.Low, s.High}
		}
		if s.Noise != nil && deviation != nil {
			d.Noise = table(func(step uint64) float64 { return s.Noise(deviation(step), batch, step) })
		}
	}
	d.Names = d.Vector.names()
	return d, nil
}

const (
	everyStep = 32      // the table has each of the first everyStep steps
	perOctave = 8       // number of rows of the table from one power of two to the next
	lastStep  = 1 << 36 // no stream reaches this step
)

// table tabulates a function of the step. It adds rows until the function no longer changes.
func table(at func(step uint64) float64) *Noise {
	var n Noise
	add := func(step uint64) {
		n.Steps, n.Deviations = append(n.Steps, step), append(n.Deviations, at(step))
	}
	for step := uint64(1); step <= everyStep; step++ {
		add(step)
	}
	for octave := uint64(everyStep); octave < lastStep; octave *= 2 {
		for i := uint64(1); i <= perOctave; i++ {
			add(octave + octave/perOctave*i)
		}
		if k := len(n.Steps) - 1; octave > 1<<20 && n.Deviations[k] == n.Deviations[k-perOctave] {
			break
		}
	}
	return &n
}

// At returns the deviation after a step, counted from 1.
func (n *Noise) At(step uint64) float64 {
	i, found := slices.BinarySearch(n.Steps, step)
	switch {
	case found:
		return n.Deviations[i]
	case i == len(n.Steps):
		return n.Deviations[i-1]
	case i == 0:
		return n.Deviations[0]
	}
	low, high := math.Log(n.Deviations[i-1]), math.Log(n.Deviations[i])
	share := (math.Log(float64(step)) - math.Log(float64(n.Steps[i-1]))) /
		(math.Log(float64(n.Steps[i])) - math.Log(float64(n.Steps[i-1])))
	return math.Exp(low + share*(high-low))
}

// Constant is the name of the feature that is 1 in each event.
const Constant = "(constant)"

// names returns the names of the constant and of features with a range.
func (v Vector) names() []Name {
	var names []Name
	if v.Bias {
		names = append(names, v.name(Constant, ""))
	}
	for _, r := range v.Ranges {
		if !r.Cyclic {
			names = append(names, v.name(r.Name, r.Name))
			continue
		}
		names = append(names, v.name(r.Name+" (sin)", r.Name+"\x00sin"), v.name(r.Name+" (cos)", r.Name+"\x00cos"))
	}
	return names
}

func (v Vector) name(name, token string) Name {
	index, sign := event.Place(token, v.Dimension)
	return Name{name, index, sign}
}

// Features returns the decoder's configuration of features.
func (v Vector) Features() event.FeatureConfig {
	c := event.FeatureConfig{Bias: v.Bias, Norm: v.Norm}
	for _, r := range v.Ranges {
		c.Ranges = append(c.Ranges, event.Range(r))
	}
	return c
}

// Same reports whether a configuration turns events into the same vectors.
func (v Vector) Same(c event.Config) bool {
	f := c.Features
	ranges := slices.EqualFunc(v.Ranges, f.Ranges, func(a Range, b event.Range) bool { return event.Range(a) == b })
	return v.Dimension == c.Dimension && v.Bias == f.Bias && v.Norm == f.Norm && ranges
}

// ErrDescriptor reports a text that is not the descriptor of an operator with feature vectors.
var ErrDescriptor = errors.New("not a descriptor of an operator with features")

// ParseDescriptor parses a published descriptor. It skips unknown members, because a later version may have added them.
func ParseDescriptor(text []byte) (Descriptor, error) {
	var d Descriptor
	if err := json.Unmarshal(bytes.TrimSpace(text), &d); err != nil {
		return d, ErrDescriptor
	}
	v := d.Vector
	switch {
	case v.Version == 0 || v.Dimension < 1 || v.Dimension > event.MaxDimension:
		return d, ErrDescriptor
	case v.Version != 1:
		return d, fmt.Errorf("a descriptor of vectors of version %d: this program knows version 1", v.Version)
	case d.Noise != nil && (len(d.Noise.Steps) == 0 || len(d.Noise.Steps) != len(d.Noise.Deviations)):
		return d, ErrDescriptor
	case len(d.Bounds) != 0 && len(d.Bounds) != 2:
		return d, ErrDescriptor
	}
	_, err := d.Events(1)
	return d, err
}

// Events returns the configuration of events to score: JSON records as the deployment maps them, without their label
// and other members.
func (d *Descriptor) Events(maxBytes int) (event.Config, error) {
	body, _ := loss.Body("squared", d.Vector.Dimension)
	c := event.Config{
		Body: body, Dimension: d.Vector.Dimension, MaxBytes: maxBytes, Features: d.Vector.Features(), Unlabelled: true,
	}
	if d.Map != nil {
		m, err := mapping.Parse(d.Map)
		if err != nil {
			return c, fmt.Errorf("the descriptor's mapping: %w", err)
		}
		c.Foreign = m.Scoring(body).Opener(mapping.JSON(event.UnknownIsFree))
	}
	return c, c.Validate()
}
