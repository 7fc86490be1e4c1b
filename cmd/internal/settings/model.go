package settings

import (
	"fmt"
	"math"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/pipeline/streams"
	"oriel/schemas/decision"
	"oriel/schemas/event"
)

// EventConfig returns the configuration of the decoder of events. The settings must have been loaded with the group
// Events or Operator.
func (s Settings) EventConfig() event.Config { return s.decoding }

func (s Settings) newDecoding() (event.Config, error) {
	ranges, err := event.ParseRanges(s.FeaturesRange)
	if err != nil {
		return event.Config{}, fmt.Errorf("ORIEL_FEATURES_RANGE: %w", err)
	}
	c := event.Config{
		Body: s.events.Body, Dimension: s.events.Dimension, MaxBytes: s.MaxRecordBytes,
		Features: event.FeatureConfig{Bias: s.FeaturesBias, Norm: s.FeaturesNorm, Ranges: ranges},
		Operator: s.eventsOf, Unknown: event.UnknownIsNull,
	}
	if s.passesUnknown() {
		c.Unknown = event.UnknownIsFree
	}
	if c.Foreign, err = s.foreign(c); err != nil {
		return c, err
	}
	return c, c.Validate()
}

// Encoding returns the encoding of decisions.
func (s Settings) Encoding() decision.Encoding {
	e, _ := decision.ParseEncoding(s.DecisionsFormat) // ParseEncoding cannot fail, because check has validated the text
	return e
}

// Model returns the configured operator for the pipeline. The settings must have been loaded with the group Operator.
func (s Settings) Model() streams.Model {
	return streams.Model{
		Settings: s.Canonical(), Texts: s.texts(),
		Events: s.decoding, Users: s.users(), Keyed: s.events.Keyed, Encoding: s.Encoding(),
		SchemaID:  uint32(s.DecisionsSchemaID),
		Semantics: streams.Semantics, Learner: s.learner, Writers: s.Writers(),
	}
}

// Guarantee returns the guarantee that every stream of the deployment states with this model. It fails if no
// calibration fits the settings.
func (s Settings) Guarantee(m streams.Model) (protection.Guarantee, error) {
	params, err := m.Learner.Params()
	if err != nil {
		return protection.Guarantee{}, invalid(err)
	}
	opened, err := streams.OpenModel(m, params)
	if err != nil {
		return protection.Guarantee{}, err
	}
	g := opened.Guarantee()
	if math.IsInf(g.Epsilon, 1) {
		return g, invalid(fmt.Errorf("ORIEL_MECHANISM: %s proves no finite epsilon at ORIEL_DELTA=%g with these settings", s.Mechanism, s.Delta))
	}
	return g, nil
}

// Learner returns the operator and its mechanism. The settings must have been loaded with the group Operator.
func (s Settings) Learner() streams.Learner { return s.learner }

func (s Settings) newLearner(operator operators.Operator) (streams.Learner, error) {
	m := mechanisms.Config{
		Name: s.Mechanism, Batch: s.Batch, Terms: s.Terms(), Budget: dp.Budget{Epsilon: s.Epsilon, Delta: s.Delta},
	}
	if s.facts().Structure == mechanisms.Filter {
		m.AgeWeight, m.Poles = s.AgeWeight, s.Poles
	}
	learner, err := streams.NewLearner(operator, m)
	if err == nil {
		m = learner.Mechanism()
		if s.facts().Structure == mechanisms.Selection && m.Draws == (mechanisms.Draws{}) {
			return learner, fmt.Errorf("ORIEL_MECHANISM: %s: releases nothing but draws, and ORIEL_OPERATOR=%s makes no draws by sums; set ORIEL_MECHANISM=blt",
				s.Mechanism, s.Operator)
		}
		err = m.Validate()
	}
	if err != nil {
		return learner, fmt.Errorf("ORIEL_MECHANISM=%s: %w", s.Mechanism, err)
	}
	return learner, nil
}
