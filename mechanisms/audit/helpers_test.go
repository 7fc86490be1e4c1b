package audit_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/audit"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

// alpha is the error probability of the audits here. Seeds are fixed, so results do not change between runs.
const alpha = 1e-4

// config returns a configuration of two coordinates and ε = 20: µ is near 2.9, which some thousand runs bound within a
// tenth.
func config(name string) mechanisms.Config {
	c := mechtest.Config(2)
	c.Name, c.Budget.Epsilon = name, 20
	if strings.HasPrefix(name, "once-") {
		c.Scope = protection.PerStep{}
	}
	return c
}

// canary returns an event whose contribution has the largest norm, in a slanted direction. It is exchanged for its
// opposite, or for the null event.
func canary(t *testing.T, c mechanisms.Config, step, age uint64) audit.Canary {
	t.Helper()
	k, err := audit.NewCanary(c, step, age)
	if err != nil {
		t.Fatal(err)
	}
	contribution := []float64{0.6 * c.Clip(), -0.8 * c.Clip()}
	if c.Dimension() == 1 {
		contribution = []float64{c.Clip()}
	}
	k.With, k.Without = make([]float64, c.Dimension()), make([]float64, c.Dimension())
	for i, x := range contribution {
		k.With[i] = x
		if !c.Unit.AgainstNull() {
			k.Without[i] = -x
		}
	}
	return k
}

// keyOf returns the key of a run, which has its own noise.
func keyOf(run uint64) (key [32]byte) {
	binary.LittleEndian.PutUint64(key[1:], run)
	return key
}

// player plays a canary on a stream whose other events are null. It sends each contribution as a gradient of a norm far
// above the clip.
func player(stream *mechanisms.Stream, c mechanisms.Config, k audit.Canary) audit.Play {
	start := stream.AppendState(nil)
	far := func(contribution []float64) []float64 {
		var gradient []float64
		for _, x := range contribution {
			gradient = append(gradient, 1e3*x)
		}
		return gradient
	}
	with, without := far(k.With), far(k.Without)
	if c.Unit.AgainstNull() {
		without = nil
	}
	return func(run uint64, canary bool, observe func([]float64)) error {
		if err := stream.Restore(start); err != nil {
			return err
		}
		id := noise.Identity{Partition: int32(run), Offset: 0}
		stream.Rekey(keyOf(run))
		for t := uint64(1); t <= k.Releases; t++ {
			for place := range c.Batch {
				var gradient []float64
				if k.At(t) && place == c.Batch/2 {
					if gradient = without; canary {
						gradient = with
					}
				}
				stream.Add(id, gradient)
				id.Offset++
			}
			stream.Close()
			observe(stream.Sum(0))
		}
		return nil
	}
}

// run audits a play against the guarantee of its stream.
func run(t *testing.T, play audit.Play, law *audit.Law, g protection.Guarantee, runs int) audit.Report {
	t.Helper()
	a, err := audit.New(law, g, runs, alpha)
	if err != nil {
		t.Fatal(err)
	}
	observer := law.Observe()
	for i := range uint64(runs) {
		coin := audit.Coin([32]byte{5}, i)
		if err := play(i, coin, observer.Release); err != nil {
			t.Fatal(err)
		}
		a.Add(observer.Result(coin))
	}
	return a.Report()
}

// enough times the number of runs from audit.Law.RunsFor bound a share of a loss with probability 0.999. Right guesses
// are binomial. So a bound at confidence 1 − α is about (z_α + z)·s below the loss, where s is proportional to 1/√runs
// and z is the number of standard deviations allowed for bad luck. RunsFor takes z = 1, and probability 0.999 needs z =
// 3.1. z_α is 3.8 for two bounds and 4 for three: ((3.8 + 3.1)/(3.8 + 1))² < 2.1.
const enough = 2.1

// runsFor returns how many runs bound a share of the loss that the law lets a canary show, with probability 0.999.
func runsFor(t *testing.T, what string, law *audit.Law, share, delta float64) int {
	t.Helper()
	runs, ok := law.RunsFor(share, delta, alpha)
	if !ok {
		t.Fatalf("%s: no number of runs is enough", what)
	}
	return int(enough * float64(runs))
}

func newLaw(t *testing.T, c mechanisms.Config, p mechanisms.Calibration, k audit.Canary) *audit.Law {
	t.Helper()
	law, err := audit.NewLaw(c, p, k)
	if err != nil {
		t.Fatal(err)
	}
	return law
}
