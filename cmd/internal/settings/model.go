package settings

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/operators"
	"oriel/pipeline"
	"oriel/schemas"
)

// EventConfig says how events are decoded.
func (s Settings) EventConfig() (schemas.EventConfig, error) {
	ranges, err := schemas.ParseRanges(s.FeaturesRange)
	if err != nil {
		return schemas.EventConfig{}, fmt.Errorf("ORIEL_FEATURES_RANGE: %w", err)
	}
	c := schemas.EventConfig{
		Body: s.events.Body, Dimension: s.events.Dimension, MaxBytes: s.MaxRecordBytes,
		Features: schemas.FeatureConfig{Bias: s.FeaturesBias, Norm: s.FeaturesNorm, Ranges: ranges},
		Operator: s.eventsOf,
	}
	return c, c.Validate()
}

// Model gives the configured operator to the pipeline.
func (s Settings) Model() (pipeline.Model, error) {
	events, errEvents := s.EventConfig()
	mechanism, operator, errOperator := s.Parts()
	if err := invalid(errEvents, errOperator); err != nil {
		return pipeline.Model{}, err
	}
	// fits a filter: once for all partitions
	private := sync.OnceValues(func() ([]byte, error) { return newPlan(mechanism) })
	model := pipeline.Model{
		Settings:   s.Canonical(),
		Events:     events,
		Users:      s.users(),
		Form:       operator.Form(),
		Extras:     operator.Extras(),
		Keyed:      s.events.Keyed,
		Output:     operator.Output(),
		Descriptor: operator.Descriptor(),
		Semantics:  pipeline.Semantics,
		Plan: func() ([]byte, error) {
			return plan(private, func() ([]byte, error) { return operator.Plan(mechanism) })
		},
		Seat: func(plan []byte) (func([32]byte) (operators.Machine, error), error) {
			return seat(mechanism, operator, plan)
		},
	}
	if following, ok := operator.(operators.Following); ok {
		model.PlanAfter = func(last operators.Decision) ([]byte, error) {
			return plan(private, func() ([]byte, error) { return following.PlanAfter(mechanism, last) })
		}
	}
	return model, nil
}

// Guarantee is what every stream of the deployment with this model states. It fails when no plan fits the settings.
func (s Settings) Guarantee(m pipeline.Model) (dp.Guarantee, error) {
	plan, err := m.Plan()
	if err != nil {
		return dp.Guarantee{}, invalid(err)
	}
	seat, err := pipeline.NewSeat(m, plan)
	if err != nil {
		return dp.Guarantee{}, err
	}
	g := seat.Guarantee()
	if math.IsInf(g.Epsilon, 1) {
		return g, invalid(fmt.Errorf("ORIEL_MECHANISM: %s proves no finite epsilon at ORIEL_DELTA=%g with these settings", s.Mechanism, s.Delta))
	}
	return g, nil
}

// Parts returns the mechanism and the operator that Model wires, for commands that look at one of them alone.
func (s Settings) Parts() (mechanisms.Config, operators.Configured, error) {
	adjacency, err := dp.ParseAdjacency(s.Adjacency)
	if err != nil {
		return mechanisms.Config{}, nil, err
	}
	window, end := s.window()
	m := mechanisms.Config{
		Name: s.Mechanism, Window: window, Horizon: end, Memory: s.memory(), Batch: s.Batch,
		Budget: dp.Budget{Epsilon: s.Epsilon, Delta: s.Delta}, Adjacency: adjacency,
	}
	if s.UserID != "" {
		m.Separation, m.UserWindow = s.UserSeparation, s.userWindow()
	}
	if s.facts().Filter {
		m.AgeWeight, m.Poles = s.AgeWeight, s.Poles
	}
	if err := s.operator.Mechanism(&m, nil); err != nil {
		return m, nil, err
	}
	if s.facts().Draws && m.Draws == (mechanisms.Draws{}) {
		return m, nil, invalid(fmt.Errorf("ORIEL_MECHANISM: %s: releases nothing but draws, and ORIEL_OPERATOR=%s draws nothing by sums; take blt",
			s.Mechanism, s.Operator))
	}
	return m, s.operator, m.Validate()
}

// newPlan freezes what calibration decides.
func newPlan(m mechanisms.Config) ([]byte, error) {
	p, err := mechanisms.NewPlan(m)
	if err != nil {
		return nil, err
	}
	return p.AppendBinary(nil)
}

// plan is what an incarnation freezes: the mechanism's plan behind its u32 length, then the operator's.
func plan(private, public func() ([]byte, error)) ([]byte, error) {
	first, err := private()
	if err != nil {
		return nil, err
	}
	second, err := public()
	if err != nil {
		return nil, err
	}
	return slices.Concat(binary.LittleEndian.AppendUint32(nil, uint32(len(first))), first, second), nil
}

// errPlan means that the stored plan is not one of this version's.
var errPlan = errors.New("settings: stored plan: malformed")

// seat opens what machines have in common, and returns what opens one of them. The leaf is that of the stored plan.
func seat(
	m mechanisms.Config, c operators.Configured, plan []byte,
) (func(key [32]byte) (operators.Machine, error), error) {
	if len(plan) < 4 || uint64(binary.LittleEndian.Uint32(plan)) > uint64(len(plan)-4) {
		return nil, errPlan
	}
	split := 4 + int(binary.LittleEndian.Uint32(plan))
	private, err := mechanisms.ParsePlan(plan[4:split])
	if err != nil {
		return nil, err
	}
	if err := c.Mechanism(&m, plan[split:]); err != nil {
		return nil, err
	}
	streams, err := mechanisms.NewSeat(m, private)
	if err != nil {
		return nil, err
	}
	return func(key [32]byte) (operators.Machine, error) { return c.Open(plan[split:], streams.Open(key)) }, nil
}
