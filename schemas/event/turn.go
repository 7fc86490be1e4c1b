package event

import "math"

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
