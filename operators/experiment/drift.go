package experiment

// The known part c of an origin (noise.go) changes the sum B of every statistic by s'c, because a filter takes it to be
// 0. The vector s is public. In the filter's innovations the known part is r'Ψc, where
//
//	Ψ = I at the start,    Ψ⁺ = (Q − K·r'/F)Ψ,    s = Σ_l g_l·(r'Ψ)/F.
//
// After a reset of the noise s keeps its value, because new draws do not contain c.

// driftLen returns how many numbers of a filter describe the drift: s, then Ψ by columns.
func driftLen(poles int) int { return poles + poles*poles }

// driftOf returns s and Ψ of a filter.
func driftOf(f []float64, poles int) (s, psi []float64) {
	d := f[heads+3*poles:][:driftLen(poles)]
	return d[:poles], d[poles:]
}

// startDrift sets Ψ at a start or at a reset, and keeps s.
func startDrift(f []float64, poles int, seen bool) {
	_, psi := driftOf(f, poles)
	clear(psi)
	f[drifting] = 0
	if seen {
		f[drifting] = 1
		for k := range poles {
			psi[k*poles+k] = 1
		}
	}
}

// faded is the sum of the squares of Ψ below which a filter leaves out the rest of s: about 2⁻³⁰ of it, which the
// rounding of priceOfClock covers.
const faded = 0x1p-60

// drift advances s and Ψ by a step. weight is g/F, and inverse is 1/F.
func drift(f, poles, residues []float64, weight, inverse float64) {
	m := len(poles)
	gain := f[heads:][:m]
	s, psi := driftOf(f, m)
	residues, size := residues[:m], 0.0
	for k := range s {
		column := psi[:m]
		psi = psi[m:]
		e := 0.0
		for l, x := range column {
			e += float64(residues[l] * x)
		}
		s[k] += float64(weight * e)
		e = float64(e * inverse)
		for l, x := range column {
			x = float64(poles[l]*x) - float64(gain[l]*e)
			column[l] = x
			size += float64(x * x)
		}
	}
	if size < faded {
		f[drifting] = 0
	}
}

// driftSquare returns s'Σs in the filter of the i-th ratio, where Σ is the covariance of the known part: the variance
// of s'c if nobody looks.
func (b *bank) driftSquare(i int, known *covariances) float64 {
	s, _ := driftOf(b.filter(i), len(b.noise.Poles))
	return known.square(s)
}
