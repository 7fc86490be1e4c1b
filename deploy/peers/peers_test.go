//go:build peers

package peers

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

// scaleLog is log₂ of the scale of all samplers, in lattice units, as in a calibration at ε about 1.
const scaleLog = 29

// These are the scripts that time the peers; requirements.txt has the versions of both.
const (
	opendpVersion = "0.16.0"
	opendpDraws   = 300
	osqpVersion   = "1.1.3"
)

// These are the limits on draws and steps. The package comment states each of them.
const (
	drawLimit  = 1.25
	peerFactor = 500
	stepLimit  = 320
	flatLimit  = 1.1
	lifeLimit  = 1.3 // a step under a lifetime guarantee may take this multiple of the time of a step with a window
)

// These are the flags. The testing package parses them before the tests.
var (
	python = flag.String("python", "python3", "a Python that has opendp "+opendpVersion+" and osqp "+osqpVersion)
	rounds = flag.Int("rounds", 200, "rounds; the fastest counts")
)

// TestPeers measures every table, one after the other.
func TestPeers(t *testing.T) {
	t.Run("Steps", steps)
	t.Run("Flows", flows)
}

// steps measures draws and the steps of blt that use them.
func steps(t *testing.T) {
	t.Helper()
	opendp := &peer{library: "OpenDP", version: opendpVersion, script: gaussian, args: []int{1 << scaleLog, opendpDraws}}
	opendp.start(t)
	err := hold(*rounds, func() ([]*line, []claim) {
		first, theirs := normal(), opendp.line("integer Gaussian")
		lines, claims := []*line{first, theirs}, []claim(nil)
		for _, n := range []int{1024, 32} {
			draws := exact(t, n)
			lines = append(lines, draws)
			claims = append(claims,
				claim{of: draws, to: first, atMost: drawLimit}, claim{of: theirs, to: draws, atLeast: peerFactor})
		}
		short := step(t, "blt step, d=32, W=2^10", protection.Window{Steps: 1 << 10}, 0.3)
		long := step(t, "blt step, d=32, W=2^20", protection.Window{Steps: 1 << 20}, 0.3)
		lines = append(lines, short, long)
		claims = append(claims, claim{of: long, to: first, atMost: stepLimit}, claim{of: long, to: short, atMost: flatLimit})
		for _, log := range []int{10, 16, 20} {
			life := step(t, fmt.Sprintf("blt step for life, d=32, H=2^%d", log), protection.Decay{Steps: 1 << log}, 0)
			lines = append(lines, life)
			claims = append(claims, claim{of: life, to: short, atMost: lifeLimit})
		}
		return lines, claims
	})
	if err != nil {
		t.Error(err)
	}
}

func normal() *line {
	const n = 1 << 16
	dst, source := make([]float64, n), rand.New(rand.NewChaCha8([32]byte{1}))
	return &line{name: "NormFloat64 on ChaCha8", time: func() float64 {
		return perCall(1, n, func() {
			for i := range dst {
				dst[i] = source.NormFloat64()
			}
		})
	}}
}

// exact returns a line that fills vectors of n draws, each with its own seed.
func exact(t *testing.T, n int) *line {
	t.Helper()
	sampler, err := noise.NewGaussian(noise.Scale{Mant: 1, Exp: scaleLog})
	if err != nil {
		t.Fatal(err)
	}
	dst, seed := make([]int64, n), noise.Seed{}
	return &line{name: fmt.Sprintf("exact Gaussian, n=%d", n), time: func() float64 {
		return perCall(1<<16/n, n, func() {
			sampler.Fill(dst, seed)
			for i := range 8 {
				seed[i] = byte(dst[0] >> (8 * i))
			}
		})
	}}
}

// step returns a line that adds records to a stream of blt with d = 32 and B = 1: quantise, absorb, seed, draw, carry,
// release.
func step(t *testing.T, name string, scope protection.Scope, ageWeight float64) *line {
	t.Helper()
	const d = 32
	c := mechanisms.Config{
		Name: "blt", Batch: 1, Contribution: contribution.OneComponent(d, 1), Budget: dp.Budget{Epsilon: 1, Delta: 1e-6},
		AgeWeight: ageWeight,
		Terms:     protection.Terms{Scope: scope, Unit: protection.Event{Exchange: dp.Replace}},
	}
	plan, err := mechanisms.Calibrate(c)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := mechanisms.Open(c, plan, [32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	gradient := make([]float64, d)
	for i := range gradient {
		gradient[i] = float64(i%7-3) / 16
	}
	id := noise.Identity{}
	return &line{name: name, time: func() float64 {
		return perCall(500, 1, func() {
			id.Offset++
			stream.Add(id, gradient)
			stream.Close()
		})
	}}
}

// perCall measures count calls of f and returns the time in ns of one draw; a call makes n draws.
func perCall(count, n int, f func()) float64 {
	start := time.Now()
	for range count {
		f()
	}
	return float64(time.Since(start).Nanoseconds()) / float64(count*n)
}
