package settings

import (
	"fmt"
	"math"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/pipeline/streams"
)

// Model returns the configured operator for the pipeline. The settings must have been loaded with the group Operator.
func (s Settings) Model() streams.Model {
	return streams.Model{
		Settings: s.Canonical(), Texts: s.texts(),
		Events: s.EventConfig(), Users: s.Users(), Keyed: s.events.Keyed, Encoding: s.Encoding(),
		SchemaID: uint32(s.DecisionsSchemaID), Clock: s.Clock(),
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
	if s.Facts().Filters() {
		m.AgeWeight, m.Poles = s.AgeWeight, s.Poles
	}
	learner, err := streams.NewLearner(operator, m)
	if err == nil {
		m = learner.Mechanism()
		if !s.Facts().ReleasesSums() && m.Draws == (mechanisms.Draws{}) {
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
