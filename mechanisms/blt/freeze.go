package blt

import (
	"errors"
	"fmt"
	"math"

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
