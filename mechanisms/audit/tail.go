package audit

import (
	"errors"
	"fmt"
	"math"

	"oriel/mechanisms"
	"oriel/mechanisms/audit/definition"
	"oriel/mechanisms/noise"
)

// ErrTail means that a draw was clamped, dropped or changed on its way to the release, which exposes the data that the
// draw should hide.
var ErrTail = errors.New("audit: a draw does not reach the release as it was drawn")

// tailDraw is the largest draw, in scales, that noise.Gaussian can make, so a mechanism must accept it.
const tailDraw = 29

// Bounds on the steps, records and numbers that CheckTail plays.
const (
	tailSteps   = 1 << 12
	tailRecords = 1 << 20
	tailNumbers = 1 << 26
)

// tailSampler draws size at even coordinates and −size at odd ones.
type tailSampler struct{ size int64 }

func (s *tailSampler) Fill(dst []int64, _ noise.Seed) {
	for i := range dst {
		dst[i] = s.size
		if i%2 == 1 {
			dst[i] = -s.size
		}
	}
}

// CheckTail plays streams of null events whose draws all have one size, from 1 to 29 scales, positive at even and
// negative at odd coordinates. Each release must hold exactly these draws. So draws in the far tail, which are too rare
// for any number of runs, must also pass from sampler to release unchanged. over opens the stream's sums with a given
// sampler, as mechanisms.Calibration.SumsOver does. CheckTail returns how many draws it compared. The contribution must
// have one component.
func CheckTail(
	c mechanisms.Config, p mechanisms.Calibration, over func(noise.Sampler) ([]mechanisms.Sum, error),
) (draws uint64, err error) {
	sizes := 4 * tailDraw
	records, numbers := tailRecords/perStep(c)/uint64(sizes), tailNumbers/uint64(c.Dimension()*sizes)
	span := c.Scope.Span()
	steps := int(min(tailSteps, max(8, 2*span+span/2), max(2, records), max(2, numbers), c.Scope.End()))
	memory, _ := c.Scope.Memory()
	sampler := &tailSampler{}
	sums, err := over(sampler)
	if err != nil {
		return 0, err
	}
	stream, err := mechanisms.NewStream(c, p, [32]byte{}, sums...)
	if err != nil {
		return 0, err
	}
	start, integers := stream.AppendState(nil), definition.Integers(c, p)
	weights := definition.NoiseOf(c, p, steps).Weights(steps)
	for k := range sizes {
		sampler.size = int64(float64(1+k/4)*p.Scale.Float64()) - int64(k%2)
		if k/2%2 == 1 {
			sampler.size = -sampler.size
		}
		if err := stream.Restore(start); err != nil {
			return draws, err
		}
		id := noise.Identity{}
		for t, weight := range weights {
			addLast(stream, perStep(c), &id, nil)
			draws += uint64(c.Dimension())
			for i, y := range stream.Sum(0) {
				want := weight * float64(sampler.size*int64(1-2*(i%2)))
				rounding := 4 + float64(min(uint64(t), memory)) // decaying sums keep the rounding of earlier steps
				if !(math.Abs(y/integers[i]-want) <= rounding+math.Abs(want)*0x1p-40) {
					return draws, fmt.Errorf("%w: of %.4g scales, at step %d", ErrTail, float64(sampler.size)/p.Scale.Float64(), t+1)
				}
			}
		}
	}
	return draws, nil
}
