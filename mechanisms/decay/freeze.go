package decay

import (
	"fmt"
	"math"

	"oriel/mechanisms/rational/fit"
)

// enough bounds the ratio of the variance to the optimum, at equal guarantee, for which Fit accepts fewer poles: one
// per cent more. Each pole saved is n integers of state and a fifth of the filter's time.
const enough = 1.01

// Fit returns the filter of a memory with the fewest poles whose certificate, Ratio, is at most 1.01. Results may
// differ between platforms: store the filter, and use Fit once.
func Fit(memory uint64) (Filter, error) {
	if err := checkMemory(memory); err != nil {
		return Filter{}, err
	}
	for m := 1; m <= MaxPoles; m++ {
		if f, ok := fitted(memory, m); ok && f.Ratio() <= enough {
			return f, nil
		}
	}
	return Filter{}, fmt.Errorf("decay: memory %d: no filter of %d poles is within %g of the optimum", memory, MaxPoles, enough)
}

// fitted returns the best filter of m poles that the search finds, in dyadics.
func fitted(memory uint64, m int) (f Filter, ok bool) {
	rates, _, ok := fit.Decay(1-float64(Decay(memory))/unit, m)
	if !ok {
		return f, false
	}
	f = Filter{Memory: memory, Count: uint8(m)}
	below := uint32(unit)
	for k, r := range rates.Residues() {
		f.Poles[k] = min(uint32(math.Round(unit*(1-rates.Poles[k]))), below-1)
		below = f.Poles[k]
		f.Residues[k] = max(1, uint32(math.Round(-unit*r)))
	}
	return f, f.Validate() == nil
}
