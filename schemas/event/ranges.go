package event

import (
	"fmt"
	"math"
	"strings"

	"oriel/schemas/text"
)

// Range is a public range of a numeric feature. It must come from public knowledge, never from the data.
type Range struct {
	Name      string
	Low, High float64 // Low < High, High − Low finite
	Cyclic    bool    // Low and High are the same point of a circle: hours, weekdays, directions
}

// ParseRanges reads "distance:0:5000,hour:0:24:cyclic". The empty string means no ranges. A name may contain colons but
// no comma. The bounds are as ParseNumber reads them. Errors name the range; the caller must name the setting.
func ParseRanges(list string) ([]Range, error) {
	if list == "" {
		return nil, nil
	}
	var ranges []Range
	for k, part := range strings.Split(list, ",") {
		var r Range
		rest := part
		if before, found := strings.CutSuffix(rest, ":cyclic"); found {
			r.Cyclic = true
			rest = before
		}
		rest, high, okHigh := cutLast(rest)
		name, low, okLow := cutLast(rest)
		if !okHigh || !okLow {
			return nil, fmt.Errorf("range %d: not name:low:high or name:low:high:cyclic", k+1)
		}
		var ok bool
		if r.Low, ok = parseBound(low); !ok {
			return nil, fmt.Errorf("range %d, of %s: low is not a finite decimal number", k+1, text.Shown([]byte(name)))
		}
		if r.High, ok = parseBound(high); !ok {
			return nil, fmt.Errorf("range %d, of %s: high is not a finite decimal number", k+1, text.Shown([]byte(name)))
		}
		r.Name = name
		ranges = append(ranges, r)
	}
	return ranges, FeatureConfig{Norm: "none", Ranges: ranges}.Validate()
}

func cutLast(s string) (before, after string, found bool) {
	k := strings.LastIndexByte(s, ':')
	if k < 0 {
		return s, "", false
	}
	return s[:k], s[k+1:], true
}

func parseBound(s string) (float64, bool) {
	f, err := text.ParseNumber(s)
	return f, err == nil
}

// sinCosTurn returns the sine and cosine of a turn t in [0, 1], that is of the angle 2πt, with the same bits on every
// CPU and in every language with IEEE doubles (math.Sin differs between CPUs). Each line below is one rounded
// operation:
//
//	q = ⌊4t + ½⌋, f = t − q/4 (exact, |f| ≤ 1/8), x = f·6.283185307179586, z = x·x
//	s = x·(1 − z·(1/3! − z·(1/5! − … z·(1/17!)…))), c = 1 − z·(1/2! − z·(1/4! − … z·(1/16!)…)), each 1/n! as a float64
//	and (s, c), (c, −s), (−s, −c), (−c, s) for q = 0, 1, 2, 3; q = 4 is q = 0. A zero result is +0.
//
// The first omitted terms are below 3e-19. The error stays within 2 ulp (tested against values of mpmath).
func sinCosTurn(t float64) (sine, cosine float64) {
	q := math.Floor(float64(4*t) + 0.5)
	x := float64((t - q/4) * 6.283185307179586)
	z := float64(x * x)
	s, c := inverseFactorials[17], inverseFactorials[16]
	for n := 15; n >= 1; n -= 2 {
		s = inverseFactorials[n] - float64(z*s)
	}
	for n := 14; n >= 0; n -= 2 {
		c = inverseFactorials[n] - float64(z*c)
	}
	s = float64(x * s)
	switch q {
	case 1:
		s, c = c, -s
	case 2:
		s, c = -s, -c
	case 3:
		s, c = -c, s
	}
	return s + 0, c + 0 // −0 + 0 = +0
}

var inverseFactorials = func() (inverse [18]float64) {
	factorial := 1.0 // exact, because 17! < 2^53
	for n := range inverse {
		if n > 0 {
			factorial = float64(factorial * float64(n))
		}
		inverse[n] = 1 / factorial
	}
	return inverse
}()
