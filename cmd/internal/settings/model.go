package settings

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/operators"
	"oriel/operators/coco"
	"oriel/operators/convex"
	"oriel/operators/loss"
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
		Loss: s.Loss, Dimension: s.Dimension, MaxBytes: s.MaxRecordBytes,
		Features: schemas.FeatureConfig{Bias: s.FeaturesBias, Norm: s.FeaturesNorm, Ranges: ranges},
	}
	return c, c.Validate()
}

// Model gives the configured operator to the pipeline.
func (s Settings) Model() (pipeline.Model, error) {
	events, errEvents := s.EventConfig()
	mechanism, operator, errOperator := s.configs()
	if err := invalid(errEvents, errOperator); err != nil {
		return pipeline.Model{}, err
	}
	return pipeline.Model{
		Settings:  s.Canonical(),
		Events:    events,
		Users:     s.users(),
		Semantics: pipeline.Semantics,
		Plan:      sync.OnceValues(func() ([]byte, error) { return newPlan(mechanism, operator) }), // fits a filter: once for all partitions
		Open: func(plan []byte, key [32]byte) (operators.Machine, error) {
			return open(mechanism, operator, plan, key)
		},
	}, nil
}

// Guarantee is what every stream of the deployment with this model states. It fails when no plan fits the settings.
func (s Settings) Guarantee(m pipeline.Model) (dp.Guarantee, error) {
	plan, err := m.Plan()
	if err != nil {
		return dp.Guarantee{}, invalid(err)
	}
	machine, err := m.Open(plan, [32]byte{})
	if err != nil {
		return dp.Guarantee{}, err
	}
	g := machine.Guarantee()
	if math.IsInf(g.Epsilon, 1) {
		return g, invalid(fmt.Errorf("ORIEL_MECHANISM: %s proves no finite epsilon at ORIEL_DELTA=%g with these settings", s.Mechanism, s.Delta))
	}
	return g, nil
}

func (s Settings) configs() (mechanisms.Config, coco.Config, error) {
	adjacency, errAdjacency := dp.ParseAdjacency(s.Adjacency)
	l, errLoss := loss.Parse(s.Loss)
	set, errSet := convex.Parse(s.Set, s.Dimension, s.Radius)
	if err := errors.Join(errAdjacency, errLoss, errSet); err != nil {
		return mechanisms.Config{}, coco.Config{}, err
	}
	operator := coco.Config{
		Update: s.Update, Constants: s.Constants, Loss: l, Set: set,
		Clip: s.Clip, StrongConvexity: s.StrongConvexity, StartRegularizer: s.StartRegularizer, OwnConvexity: s.OwnConvexity,
		Horizon: s.Horizon, Failure: 1 - s.Confidence, EmitEvery: s.EmitEvery,
	}
	if err := operator.Validate(); err != nil {
		return mechanisms.Config{}, coco.Config{}, err
	}
	window, end := s.window()
	mechanism := mechanisms.Config{
		Name: s.Mechanism, Window: window, Horizon: end, Batch: s.Batch, Dimension: s.Dimension,
		Budget: dp.Budget{Epsilon: s.Epsilon, Delta: s.Delta}, Clip: s.Clip, Adjacency: adjacency,
		Failure: operator.StepFailure(),
	}
	if s.UserID != "" {
		mechanism.Separation = s.UserSeparation
	}
	if s.Mechanism == blt {
		mechanism.AgeWeight, mechanism.Poles = s.AgeWeight, s.Poles
	}
	if strings.HasSuffix(s.Mechanism, "-paper") {
		mechanism.PaperSensitivity = operator.PaperSensitivity()
	}
	return mechanism, operator, mechanism.Validate()
}

// newPlan freezes what calibration decides: the mechanism's plan behind its u32 length, then the operator's.
func newPlan(m mechanisms.Config, c coco.Config) ([]byte, error) {
	private, err := mechanisms.NewPlan(m)
	if err != nil {
		return nil, err
	}
	public, err := c.NewPlan(m)
	if err != nil {
		return nil, err
	}
	first, err := private.AppendBinary(nil)
	if err != nil {
		return nil, err
	}
	return public.AppendBinary(append(binary.LittleEndian.AppendUint32(nil, uint32(len(first))), first...))
}

// errPlan means that the stored plan is not one of this version's.
var errPlan = errors.New("settings: stored plan: malformed")

func open(m mechanisms.Config, c coco.Config, plan []byte, key [32]byte) (operators.Machine, error) {
	if len(plan) < 4 || uint64(binary.LittleEndian.Uint32(plan)) > uint64(len(plan)-4) {
		return nil, errPlan
	}
	split := 4 + int(binary.LittleEndian.Uint32(plan))
	private, err := mechanisms.ParsePlan(plan[4:split])
	if err != nil {
		return nil, err
	}
	public, err := coco.ParsePlan(plan[split:])
	if err != nil {
		return nil, err
	}
	stream, err := mechanisms.Open(m, private, key)
	if err != nil {
		return nil, err
	}
	return coco.New(c, public, stream)
}
