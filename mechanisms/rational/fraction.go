package rational

// Fraction bits of poles and residues.
const (
	Bits = 30
	Unit = 1 << Bits
)

// Fraction is F(z) = 1 + Σ R_k/(z − q_k) for dyadics q_k = Poles[k]/2³⁰ in (0, 1), falling, and R_k = Residues[k]/2³⁰.
// As a power series in 1/z it is the filter 1, ΣR_k, ΣR_kq_k, ΣR_kq_k², …
type Fraction struct {
	Poles    []uint32
	Residues []int64
}

func (f Fraction) pole(k int) Interval    { return Dyadic(int64(f.Poles[k]), -Bits) }
func (f Fraction) residue(k int) Interval { return Dyadic(f.Residues[k], -Bits) }

// At returns F(z), and false if an interval is too wide to separate z from a pole.
func (f Fraction) At(z Interval) (sum Interval, ok bool) {
	sum = Whole(1)
	for k := range f.Poles {
		distance := z.Sub(f.pole(k))
		if distance.Sign() == 0 {
			return sum, false
		}
		sum = sum.Add(f.residue(k).Mul(distance.Inverse()))
	}
	return sum, true
}

// Inverse returns the poles p_i of 1/F in (0, 1), falling, and its residues,
//
//	1/F = 1 + Σ T_i/(z − p_i),    T_i = 1/F′(p_i) = −1/Σ_k R_k/(p_i − q_k)².
//
// ok means a proof that these are all its poles, that they are simple, and that each residue has one sign.
func (f Fraction) Inverse() (poles, residues []Interval, ok bool) {
	poles, ok = f.zeros()
	for _, p := range poles {
		slope := Whole(0)
		for k := range f.Poles {
			distance := p.Sub(f.pole(k))
			if distance.Sign() == 0 {
				return nil, nil, false
			}
			slope = slope.Sub(f.residue(k).Mul(distance.Mul(distance).Inverse()))
		}
		if slope.Sign() == 0 {
			return nil, nil, false
		}
		residues = append(residues, slope.Inverse())
	}
	return poles, residues, ok
}

// Energy returns the sum of the squares of the filter: 1 + Σ R_kR_l/(1 − q_kq_l).
func (f Fraction) Energy() Interval {
	sum := Whole(1)
	for k := range f.Poles {
		for l := range f.Poles {
			rest := Whole(1).Sub(f.pole(k).Mul(f.pole(l)))
			sum = sum.Add(f.residue(k).Mul(f.residue(l)).Mul(rest.Inverse()))
		}
	}
	return sum
}
