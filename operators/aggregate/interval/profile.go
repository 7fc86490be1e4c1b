package interval

import "math"

// point holds the released numbers of a cell: n, S and Q.
type point struct{ count, sum, square Noisy }

// These are the limits of profile.
const (
	// bent limits the curvature of a surface of equal variance v. It is the largest allowed gap between the surface and
	// its tangent plane, at one deviation of the sum from the point where they touch; the unit is a deviation. With 0.1
	// the interval covers 0.948 to 0.953 in simulations, with 0.2 down to 0.93.
	bent = 0.1
	// rounds is the number of rounds of profile. Each round brings the point about five times nearer to the end.
	rounds = 6
)

// profile returns an end of the profile likelihood interval of v(n, S, Q) = Q/n + ½ − (S/n)². This is the largest
// variance of all points within z deviations of the release or, if z is negative, the least one within −z deviations
// (D. J. Venzon and S. H. Moolgavkar, A method for computing profile-likelihood-based confidence intervals, Appl. Stat.
// 37 (1988)). A variance is in the interval if the surface of points with this variance is within z deviations of the
// release. If the surface is flat, this distance is normal.
//
// In units of deviations, the gradient of v at the end points away from the release. So each round moves along the
// gradient at the previous point.
func (p point) profile(z float64) (v float64) {
	n, s, q := p.count.Value, p.sum.Value, p.square.Value
	for range rounds {
		mean := s / n
		dn := float64(p.count.Deviation*(float64(2*float64(mean*mean))-q/n)) / n
		ds := -2 * float64(p.sum.Deviation*mean) / n
		dq := p.square.Deviation / n
		along := z / math.Sqrt(float64(dn*dn)+float64(ds*ds)+float64(dq*dq))
		n = p.count.Value + float64(along*float64(dn*p.count.Deviation))
		s = p.sum.Value + float64(along*float64(ds*p.sum.Deviation))
		q = p.square.Value + float64(along*float64(dq*p.square.Deviation))
		mean = s / n
		v = q/n + 0.5 - float64(mean*mean)
	}
	return v
}

// flat reports whether the surfaces of equal variance v are flat enough for profile. On such a surface Q − S²/n + n(½ −
// v) = 0. One deviation s_S of S away, the surface and its tangent plane differ by s_S²/n.
func (p point) flat() bool {
	mean := p.sum.Value / p.count.Value
	ds := float64(2 * float64(mean*p.sum.Deviation))
	dn := float64(p.count.Deviation * (float64(2*float64(mean*mean)) - p.square.Value/p.count.Value))
	slope := math.Sqrt(float64(dn*dn) + float64(ds*ds) + float64(p.square.Deviation*p.square.Deviation))
	return float64(p.sum.Deviation*p.sum.Deviation)/p.count.Value <= float64(bent*slope)
}
