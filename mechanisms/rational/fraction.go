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

// pair holds the sums over n rows of two rates, with p = Pⁿ, q = Qⁿ and z_a, y_a as in Train. All are sums of positive
// terms. Two pairs combine into the pair of all their rows, so n rows take log n steps, and no terms cancel, even for
// rates near 1.
type pair struct {
	p, q Interval
	z, y Interval // Σ_{r<n} P^r, Σ_{r<n} Q^r
	both Interval // Σ_{a<n} z_ay_a
	zq   Interval // Σ_{a<n} z_aQ^{a+1}
	yp   Interval // Σ_{a<n} y_aP^{a+1}
	pq   Interval // Σ_{a<n} (PQ)^{a+1}
}

// first returns the pair of one row.
func (a pair) first() pair {
	one := Whole(1)
	return pair{p: a.p, q: a.q, z: one, y: one, both: one, zq: a.q, yp: a.p, pq: a.p.Mul(a.q)}
}

// then returns the pair of a's rows followed by b's. In b's rows, each z_a becomes z + p·z_a with the z and p of pair
// a, and y_a likewise.
func (a pair) then(b pair) pair {
	return pair{
		p:    a.p.Mul(b.p).floored(),
		q:    a.q.Mul(b.q).floored(),
		z:    a.z.Add(a.p.Mul(b.z)),
		y:    a.y.Add(a.q.Mul(b.y)),
		both: a.both.Add(b.both).Add(a.y.Mul(b.zq)).Add(a.z.Mul(b.yp)).Add(a.z.Mul(a.y).Mul(b.pq)),
		zq:   a.zq.Add(a.q.Mul(b.zq.Add(a.z.Mul(b.pq)))),
		yp:   a.yp.Add(a.p.Mul(b.yp.Add(a.y.Mul(b.pq)))),
		pq:   a.pq.Add(a.p.Mul(a.q).Mul(b.pq)),
	}
}

// times returns the pair of n times a's rows.
func (a pair) times(n uint64) pair {
	if n == 0 {
		zero := Whole(0)
		return pair{p: Whole(1), q: Whole(1), z: zero, y: zero, both: zero, zq: zero, yp: zero, pq: zero}
	}
	for ; n&1 == 0; n >>= 1 {
		a = a.then(a)
	}
	sum := a
	for n >>= 1; n > 0; n >>= 1 {
		a = a.then(a)
		if n&1 == 1 {
			sum = sum.then(a)
		}
	}
	return sum
}
