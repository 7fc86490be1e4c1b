package audit

import (
	"errors"
	"fmt"
	"math"

	"oriel/mechanisms"
	"oriel/mechanisms/audit/definition"
	"oriel/mechanisms/noise"
)

// ErrFar is a draw that does not reach the release as it was drawn: clamped, dropped or changed on the way, which shows
// what is beside it.
var ErrFar = errors.New("audit: a draw does not reach the release as it was drawn")

// farthest draws, in scales: what noise.Gaussian can draw, and so what a mechanism has to take.
const farthest = 29

// What CheckFar plays is bounded: steps, records and numbers.
const (
	farSteps   = 1 << 12
	farRecords = 1 << 20
	farNumbers = 1 << 26
)

// farSampler draws size at even coordinates and −size at odd ones.
type farSampler struct{ size int64 }

func (s *farSampler) Fill(dst []int64, _ noise.Seed) {
	for i := range dst {
		dst[i] = s.size
		if i%2 == 1 {
			dst[i] = -s.size
		}
	}
}

// CheckFar plays streams of null events whose draws are all of one size, from 1 to 29 scales of either sign, even and
// odd, and wants each release to hold exactly these: far draws, which no number of runs would see, must pass between
// sampler and release as near ones do. over opens the stream's sum over a sampler, as mechanisms.Plan.SumOver does. It
// returns how many draws it saw.
func CheckFar(c mechanisms.Config, p mechanisms.Plan, over func(noise.Sampler) (mechanisms.Sum, error)) (draws uint64, err error) {
	sizes := 4 * farthest
	records, numbers := farRecords/c.Batch/uint64(sizes), farNumbers/uint64(c.Dimension*sizes)
	steps := int(min(farSteps, max(8, 2*c.Window+c.Window/2), max(2, records), max(2, numbers)))
	if c.Horizon > 0 {
		steps = min(steps, int(c.Horizon))
	}
	sampler := &farSampler{}
	sum, err := over(sampler)
	if err != nil {
		return 0, err
	}
	stream, err := mechanisms.NewStream(c, p, [32]byte{}, sum)
	if err != nil {
		return 0, err
	}
	start, held := stream.AppendState(nil), definition.Held(c, p, steps)
	for k := range sizes {
		sampler.size = int64(float64(1+k/4)*p.Scale.Float64()) - int64(k%2)
		if k/2%2 == 1 {
			sampler.size = -sampler.size
		}
		if err := stream.Restore(start); err != nil {
			return draws, err
		}
		id := noise.Identity{}
		for t, times := range held {
			for range c.Batch {
				id.Offset++
				stream.Add(id, nil)
			}
			draws += uint64(c.Dimension)
			for i, y := range stream.Sum() {
				want := times * float64(sampler.size*int64(1-2*(i%2)))
				if !(math.Abs(y/p.Grid.Unit()-want) <= 4+math.Abs(want)*0x1p-40) {
					return draws, fmt.Errorf("%w: of %.4g scales, at step %d", ErrFar, float64(sampler.size)/p.Scale.Float64(), t+1)
				}
			}
		}
	}
	return draws, nil
}
