package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

// scaleLog is log₂ of the scale of all samplers, in lattice units: a plan's at ε about 1.
const scaleLog = 29

// Peers that scripts time; both versions are in requirements.txt.
const (
	opendpVersion = "0.16.0"
	opendpDraws   = 300
	osqpVersion   = "1.1.3"
)

// What is required of a draw, in times of NormFloat64 and of ours, and of a step.
const (
	drawLimit  = 1.25
	peerFactor = 500
	stepLimit  = 250
	flatLimit  = 1.1
	lifeLimit  = 1.3 // of a step that protects for life, in times of one with a window
)

func main() {
	python := flag.String("python", "python3", "a Python that has opendp "+opendpVersion+" and osqp "+osqpVersion)
	rounds := flag.Int("rounds", 40, "rounds; medians count")
	flag.Parse()
	if err := run(context.Background(), *python, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// line is one line of the table.
type line struct {
	name   string
	time   func() (float64, error) // ns a draw or step
	times  []float64               // by round
	ratios []float64               // to the first line, by round
}

func run(ctx context.Context, python string, rounds int) error {
	opendp := &peer{library: "OpenDP", version: opendpVersion, script: gaussian, args: []int{1 << scaleLog, opendpDraws}}
	if err := opendp.start(ctx, python); err != nil {
		return err
	}
	defer opendp.stop()
	lines := []*line{normal(), opendp.line("integer Gaussian")}
	for _, n := range []int{1024, 32} {
		draws, err := exact(n)
		if err != nil {
			return err
		}
		lines = append(lines, draws)
	}
	for _, log := range []int{10, 20} {
		steps, err := step(fmt.Sprintf("blt step, d=32, W=2^%d", log), protection.Window{Steps: 1 << log}, 0.3)
		if err != nil {
			return err
		}
		lines = append(lines, steps)
	}
	for _, log := range []int{10, 16, 20} {
		steps, err := step(fmt.Sprintf("blt step for life, d=32, H=2^%d", log), protection.Decay{Steps: 1 << log}, 0)
		if err != nil {
			return err
		}
		lines = append(lines, steps)
	}
	if err := measure(lines, rounds); err != nil {
		return err
	}
	return errors.Join(judge(lines[1], lines[2:4], lines[4], lines[5], lines[6:]), flows(ctx, python, rounds))
}

// measure times every line in each round, and prints medians.
func measure(lines []*line, rounds int) error {
	for round := range rounds + 1 {
		for _, l := range lines {
			took, err := l.time()
			if err != nil {
				return fmt.Errorf("%s: %w", l.name, err)
			}
			if round > 0 { // the first warms up
				l.times = append(l.times, took)
				l.ratios = append(l.ratios, took/lines[0].times[round-1])
			}
		}
	}
	for _, l := range lines {
		fmt.Printf("%-34s %10.1f ns %10.2f\n", l.name, median(l.times), median(l.ratios))
	}
	return nil
}

// judge compares medians with the limits.
func judge(opendp *line, draws []*line, short, long *line, lives []*line) error {
	var errs []error
	for _, draw := range draws {
		if ratio := median(draw.ratios); !(ratio <= drawLimit) {
			errs = append(errs, fmt.Errorf("%s: %.2f times NormFloat64, want at most %g", draw.name, ratio, drawLimit))
		}
		factor := median(quotients(opendp.times, draw.times))
		fmt.Printf("%-34s %24.0f times as fast as OpenDP\n", draw.name, factor)
		if !(factor >= peerFactor) {
			errs = append(errs, fmt.Errorf("%s: %.0f times as fast as OpenDP, want %d", draw.name, factor, peerFactor))
		}
	}
	if ratio := median(long.ratios); !(ratio <= stepLimit) {
		errs = append(errs, fmt.Errorf("%s: %.0f times NormFloat64, want at most %d", long.name, ratio, stepLimit))
	}
	flat := median(quotients(long.times, short.times))
	fmt.Printf("%-34s %24.2f times W = 2^10\n", long.name, flat)
	if !(flat <= flatLimit) {
		errs = append(errs, fmt.Errorf("%s: %.2f times W = 2^10, want at most %g", long.name, flat, flatLimit))
	}
	for _, life := range lives {
		ratio := median(quotients(life.times, short.times))
		fmt.Printf("%-34s %24.2f times W = 2^10\n", life.name, ratio)
		if !(ratio <= lifeLimit) {
			errs = append(errs, fmt.Errorf("%s: %.2f times W = 2^10, want at most %g", life.name, ratio, lifeLimit))
		}
	}
	return errors.Join(errs...)
}

// perCall times count calls of f and returns ns for each of n draws of a call.
func perCall(count, n int, f func()) float64 {
	start := time.Now()
	for range count {
		f()
	}
	return float64(time.Since(start).Nanoseconds()) / float64(count*n)
}

func normal() *line {
	const n = 1 << 16
	dst, source := make([]float64, n), rand.New(rand.NewChaCha8([32]byte{1}))
	return &line{name: "NormFloat64 on ChaCha8", time: func() (float64, error) {
		return perCall(1, n, func() {
			for i := range dst {
				dst[i] = source.NormFloat64()
			}
		}), nil
	}}
}

// exact fills vectors of n draws, each with a seed of its own.
func exact(n int) (*line, error) {
	sampler, err := noise.NewGaussian(noise.Scale{Mant: 1, Exp: scaleLog})
	if err != nil {
		return nil, err
	}
	dst, seed := make([]int64, n), noise.Seed{}
	return &line{name: fmt.Sprintf("exact Gaussian, n=%d", n), time: func() (float64, error) {
		return perCall(1<<16/n, n, func() {
			sampler.Fill(dst, seed)
			for i := range 8 {
				seed[i] = byte(dst[0] >> (8 * i))
			}
		}), nil
	}}, nil
}

// step adds records to a stream of blt with d = 32 and B = 1: quantise, absorb, seed, draw, carry, release.
func step(name string, scope protection.Scope, ageWeight float64) (*line, error) {
	const d = 32
	c := mechanisms.Config{
		Name: "blt", Batch: 1, Contribution: mechanisms.OneComponent(d, 1), Budget: dp.Budget{Epsilon: 1, Delta: 1e-6},
		AgeWeight: ageWeight,
		Terms:     protection.Terms{Scope: scope, Unit: protection.Event{Exchange: dp.Replace}},
	}
	plan, err := mechanisms.Calibrate(c)
	if err != nil {
		return nil, err
	}
	stream, err := mechanisms.Open(c, plan, [32]byte{1})
	if err != nil {
		return nil, err
	}
	gradient := make([]float64, d)
	for i := range gradient {
		gradient[i] = float64(i%7-3) / 16
	}
	id := noise.Identity{}
	return &line{name: name, time: func() (float64, error) {
		return perCall(500, 1, func() {
			id.Offset++
			stream.Add(id, gradient)
		}), nil
	}}, nil
}

func quotients(a, b []float64) []float64 {
	q := make([]float64, len(a))
	for i := range a {
		q[i] = a[i] / b[i]
	}
	return q
}

func median(x []float64) float64 {
	sorted := slices.Sorted(slices.Values(x))
	return sorted[len(sorted)/2]
}
