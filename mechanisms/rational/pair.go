package rational

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
