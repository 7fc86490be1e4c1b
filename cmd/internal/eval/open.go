package eval

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"

	"oriel/cmd/internal/settings"
	"oriel/mechanisms"
	"oriel/mechanisms/noise"
	"oriel/operators"
	"oriel/pipeline/streams"
	"oriel/state"
)

// open opens a stream with the noise of a numbered seed.
func open(m streams.Model, params []byte, opened *streams.Opened, partition int32, seed int) (*streams.Stream, error) {
	inc, key := seeded(m, params, partition, seed)
	return opened.Open(key, [32]byte{}, inc.Stream, inc.ID)
}

// seeded returns the identity and key from which a stream's noise is derived. Cluster and topic are zero, so that no
// service can have the same noise. Anyone can compute the key, so it hides nothing.
func seeded(m streams.Model, params []byte, partition int32, seed int) (inc state.Incarnation, key [32]byte) {
	secret := sha256.Sum256(fmt.Appendf(nil, "oriel eval, seed %d", seed))
	inc = state.Incarnation{
		ID: state.SeededID(secret), Stream: strconv.Itoa(int(partition)), Partition: partition, Config: m.Settings,
		Params: params,
	}
	return inc, inc.InitialKey(secret)
}

// silent is a sampler without noise.
type silent struct{}

// Fill writes zeros.
func (silent) Fill(dst []int64, _ noise.Seed) { clear(dst) }

// withoutNoise returns the configured model over sums without noise: with the same decoding, contributions, clip,
// lattice and update. It has no params to freeze, so that no service can open it: changelog.WriteManifests and
// take-overs require params.
func withoutNoise(s settings.Settings) (streams.Model, error) {
	model := s.Model()
	learner := s.Learner()
	var err error
	l := silentLearner{Opener: model.Learner, operator: learner.Operator(), mechanism: learner.Mechanism()}
	if numbers := operators.NumbersOf(l.operator); numbers != nil {
		l.operator = numbers.Exact
	} else if rule := operators.ScoreOf(l.operator); rule != nil && rule.Exact != nil {
		l.operator = rule.Exact
	}
	if l.calibration, err = mechanisms.Calibrate(l.mechanism); err != nil {
		return model, err
	}
	if l.params, err = l.operator.Params(l.mechanism); err != nil {
		return model, err
	}
	model.Learner = l
	return model, nil
}

// best returns the element that is drawn without randomness: the first element with the largest score.
func best(d mechanisms.Draw, _ int) int { return slices.Index(d.Scores, slices.Max(d.Scores)) }

// silentLearner opens machines over sums without noise.
type silentLearner struct {
	streams.Opener
	operator    operators.Operator
	mechanism   mechanisms.Config
	calibration mechanisms.Calibration
	params      []byte
}

func (l silentLearner) Params() ([]byte, error) { return nil, nil }

func (l silentLearner) Open([]byte) (func([32]byte) (operators.Machine, error), error) {
	return func(key [32]byte) (operators.Machine, error) {
		sums, err := l.calibration.SumsOver(l.mechanism, silent{})
		if err != nil {
			return nil, err
		}
		stream, err := mechanisms.NewStream(l.mechanism, l.calibration, key, sums...)
		if err != nil {
			return nil, err
		}
		if facts, _ := mechanisms.FactsOf(l.mechanism.Name); !facts.ReleasesSums() {
			stream.DrawBy(best)
		}
		return l.operator.Open(l.params, stream)
	}, nil
}
