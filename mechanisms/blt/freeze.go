package blt

import (
	"errors"
	"fmt"
	"math"

	"oriel/mechanisms/buffer"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/rational/fit"
)

// Limits of Fit.
const (
	MinPoles = 2

	// MaxWindow keeps the slowest pole of a fit, about 1 − 1/4W, more than 2⁻²⁵ away from 1, so that 30 bits still
	// resolve it.
	MaxWindow = 1 << 22

	// enough is the relative loss in variance, at equal guarantee, for which the automatic choice accepts fewer than
	// MaxPoles poles: half a per cent. Each pole saved is n integers of state and a fifth of the filter's time.
	enough = 0.005

	// short is the largest window that gains less than 0.1 % by a third pole. A fit of three poles is degenerate and
	// slow there.
	short = 8
)

// Fit returns the filter of a window and an age weight w in [0, 1], a compromise between the guarantee of one window
// (0) and of ten or more (1). It minimises log Σb² + (1−w)·log Σ_{j<W}d² + w·(0.96·log Σ_{j<10W}d² + 0.04·log
// Σ_{j<100W}d²). poles is m, or 0 for the smallest m that is as good as MaxPoles. Residues are positive, except that
// they have both signs if four poles are asked for at weight 0 and W ≤ 512. Residues of both signs have the least
// variance for events but not for users, so the automatic choice avoids them. Results may differ between platforms: use
// Fit once, and store the filter.
func Fit(window uint64, weight float64, poles int) (Filter, error) {
	if window < 1 || window > MaxWindow {
		return Filter{}, fmt.Errorf("blt: window %d: not in [1, 2^22]", window)
	}
	if !(weight >= 0 && weight <= 1) || math.Signbit(weight) {
		return Filter{}, fmt.Errorf("blt: age weight %g: not in [0, 1]", weight)
	}
	if poles != 0 && (poles < MinPoles || poles > MaxPoles) {
		return Filter{}, fmt.Errorf("blt: %d poles: not in [%d, %d], nor 0 for automatic", poles, MinPoles, MaxPoles)
	}
	fewest, most := poles, poles
	if poles == 0 {
		fewest, most = MinPoles, MaxPoles
		if window <= short {
			most = MinPoles
		}
	}
	var best Filter
	bound, err := math.Inf(1), errors.New("blt: no filter fits")
	take := func(rates fit.Rates, loss float64, ok bool) {
		if !ok || loss > bound {
			return
		}
		f, e := freeze(rates)
		if e != nil {
			err = fmt.Errorf("blt: window %d, age weight %g, %d poles: %w", window, weight, len(rates.Poles), e)
			return
		}
		best, bound = f, min(bound, loss+enough)
	}
	for m := most; m >= fewest; m-- { // prefers fewer poles if their objective is nearly as good
		take(fit.Fit(float64(window), weight, m))
	}
	if poles == fit.MixedPoles && weight == 0 {
		take(fit.Mixed(float64(window)))
	}
	if best.Count == 0 {
		return Filter{}, err
	}
	return best, nil
}

// freeze rounds poles and residues to dyadics and certifies them. It separates equal poles, and replaces residues near
// zero by small ones. Such residues occur where fewer poles suffice.
func freeze(rates fit.Rates) (Filter, error) {
	f := Filter{Count: uint8(len(rates.Poles))}
	below := uint32(unit)
	for k, r := range rates.Residues() {
		f.Poles[k] = min(uint32(math.Round(unit*(1-rates.Poles[k]))), below-1)
		below = f.Poles[k]
		if r = math.Round(unit * r); math.Abs(r) > math.MaxInt32 {
			return Filter{}, errShape
		}
		f.Residues[k] = int32(r)
		if r == 0 {
			f.Residues[k] = 1
		}
	}
	f.Shift, _ = f.shift()
	return f, f.Validate()
}

// StateLen returns the length of every state of this sum.
func (c *Sum) StateLen() int { return buffer.StateLen(len(c.total), int(c.filter.Count)) }

// AppendState appends the state in the format of package buffer, with totals as its sums. It holds the clean total and
// past noise, so it is private and must only ever be stored sealed.
func (c *Sum) AppendState(dst []byte) []byte {
	return buffer.AppendState(dst, c.steps, c.total, c.row)
}

// row returns the buffers of coordinate i, one per pole.
func (c *Sum) row(i int) []lattice.Int128 { return c.buffers[i][:c.filter.Count] }

// Restore restores a state that AppendState wrote. It refuses, and leaves the sum unchanged, if the length is wrong, a
// buffer exceeds its limit, or anything before the first step is not zero. A total has no limit, because a step may
// have any number of records.
func (c *Sum) Restore(state []byte) error {
	s, err := buffer.ParseState(state, len(c.total), int(c.filter.Count))
	if err == nil {
		const neverReset = math.MaxUint64
		anyTotal := lattice.Int128{Hi: math.MaxInt64, Lo: math.MaxUint64}
		err = s.Check(anyTotal, c.limit[:], neverReset)
	}
	if err != nil {
		return fmt.Errorf("blt: %w", err)
	}
	c.steps = s.Steps()
	s.Write(c.total, c.row)
	return nil
}

// limits returns bounds on the buffers, and refuses a scale at which a product in carry could exceed 2¹²⁶.
func (f Filter) limits(s noise.Scale) (limit [MaxPoles]lattice.Int128, err error) {
	residue := func(k int) int64 { return int64(f.Residues[k]) }
	if err := buffer.Limits(limit[:], f.Poles[:f.Count], residue, uint(f.Shift), s); err != nil {
		return limit, fmt.Errorf("blt: %w", err)
	}
	return limit, nil
}
