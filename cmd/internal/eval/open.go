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
	"oriel/pipeline"
	"oriel/state"
)

// open opens a stream with the noise of a numbered seed. Cluster and topic are zero, so that its noise is never that of
// a service; and since everybody can compute it, it hides nothing.
func open(m pipeline.Model, plan []byte, seat *pipeline.Seat, partition int32, seed int) (*pipeline.Stream, error) {
	secret := sha256.Sum256(fmt.Appendf(nil, "oriel eval, seed %d", seed))
	inc := state.Incarnation{
		ID: state.SeededID(secret), Stream: strconv.Itoa(int(partition)), Partition: partition, Config: m.Settings,
		Plan: plan,
	}
	return seat.Open(inc.InitialKey(secret), [32]byte{}, inc.Stream, inc.ID)
}

// silent is the sampler of no noise.
type silent struct{}

// Fill writes zeros.
func (silent) Fill(dst []int64, _ noise.Seed) { clear(dst) }

// withoutNoise is the configured model over sums to which nothing is added: the same decoding, leaves, clip, lattice
// and update. It makes its streams itself and has no plan to freeze, so that no service can open it:
// pipeline.WriteManifests and takeovers need one.
func withoutNoise(s settings.Settings) (pipeline.Model, error) {
	_, operator, err := s.Parts()
	if err != nil {
		return pipeline.Model{}, err
	}
	if rule := operator.Score(); rule != nil && rule.Exact != nil {
		operator = rule.Exact
	}
	return silenced(s, operator)
}

// best is the element that is drawn where nothing is left to chance: the first of the largest score.
func best(d mechanisms.Draw, _ int) int { return slices.Index(d.Scores, slices.Max(d.Scores)) }

// silenced is withoutNoise with another operator of the same leaf and decisions.
func silenced(s settings.Settings, operator operators.Configured) (pipeline.Model, error) {
	model, err := s.Model()
	if err != nil {
		return model, err
	}
	config, _, err := s.Parts()
	if err != nil {
		return model, err
	}
	private, err := mechanisms.NewPlan(config)
	if err != nil {
		return model, err
	}
	public, err := operator.Plan(config)
	if err != nil {
		return model, err
	}
	model.Plan = func() ([]byte, error) { return nil, nil }
	model.Seat = func([]byte) (func([32]byte) (operators.Machine, error), error) {
		return func(key [32]byte) (operators.Machine, error) {
			sums, err := private.SumsOver(config, silent{})
			if err != nil {
				return nil, err
			}
			stream, err := mechanisms.NewStream(config, private, key, sums...)
			if err != nil {
				return nil, err
			}
			if facts, _ := mechanisms.FactsOf(config.Name); facts.Draws {
				stream.DrawBy(best)
			}
			return operator.Open(public, stream)
		}, nil
	}
	return model, nil
}
