package residual_test

import (
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/audit/residual"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

// alpha is the error probability of each battery here. Seeds are fixed, so results do not change between runs.
const alpha = 1e-4

func config(name string, n int, window uint64) mechanisms.Config {
	c := mechtest.Config(n)
	c.Name, c.Scope = name, protection.Window{Steps: window}
	if strings.HasPrefix(name, "once-") {
		c.Scope = protection.PerStep{}
	}
	return c
}

func newNoise(t *testing.T, c mechanisms.Config, p mechanisms.Calibration, steps int) *residual.Noise {
	t.Helper()
	x, err := residual.New(c, p, steps)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// play adds runs of a stream to a battery. Contributions are adaptive: the sign of the last release determines the next
// contribution.
func play(t *testing.T, stream *mechanisms.Stream, x *residual.Noise, runs int) *residual.Battery {
	t.Helper()
	battery, observer := residual.NewBattery(x), x.Observe()
	start, n := stream.AppendState(nil), stream.Dimension()
	contribution, sum := make([]float64, n), make([]float64, n)
	for run := range runs {
		if err := stream.Restore(start); err != nil {
			t.Fatal(err)
		}
		observer.Start(uint64(run))
		id := noise.Identity{Partition: int32(run)}
		for step := range x.Steps() {
			clear(sum)
			for range stream.Batch() {
				clear(contribution)
				if stream.Sum(0)[0] > 0 || step%3 == 0 {
					contribution[step%n] = 1
				}
				stream.Add(id, contribution)
				id.Offset++
				for i, v := range contribution {
					sum[i] += v
				}
			}
			stream.Close()
			observer.Release(stream.Sum(0), sum)
		}
		battery.Add(observer.Result())
	}
	return battery
}

// alarms returns the tests that fail.
func alarms(b *residual.Battery) (failed []residual.Test) {
	tests := b.Tests()
	for _, test := range tests {
		if test.P < alpha/float64(len(tests)) {
			failed = append(failed, test)
		}
	}
	return failed
}

func TestTrueNoisePasses(t *testing.T) {
	for row, name := range mechanisms.Names() {
		for i, n := range []int{1, 3, 8} {
			for k, window := range []uint64{1, 2, 16} {
				if tiertest.Runs((i+k+row)%3 > 0, false) {
					continue // the short form tries each n and each window once per mechanism
				}
				c := config(name, n, window)
				c.Batch = uint64(n%2 + 1)
				c.Unit = protection.Event{Exchange: []dp.Adjacency{dp.Replace, dp.ZeroOut}[n%2]}
				b := play(t, mechtest.Open(t, c, [32]byte{byte(n), byte(window)}), newNoise(t, c, mechtest.Plan(t, c), 41), 300)
				for _, test := range alarms(b) {
					t.Errorf("%s, n = %d, W = %d: %+v", name, n, window, test)
				}
			}
		}
	}
}
