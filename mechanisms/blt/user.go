package blt

// MuAll returns µ of all releases of age steps, rounded up, among all of which a user's events are exchanged. It panics at event level.
func (l Loss) MuAll(age uint64) float64 {
	r, err := NewResponse(l.Filter)
	if err != nil || l.Separation == 0 {
		panic("BUG: blt: loss of an invalid filter or of no user")
	}
	if age == 0 {
		return 0
	}
	return l.mu(r.userShift(l.Delta, l.N, age, l.Separation, events(age, l.Separation)))
}

// events returns ⌈steps/separation⌉, the most events of one user in so many steps; steps ≥ 1.
func events(steps, separation uint64) uint64 { return (steps-1)/separation + 1 }

// userShift returns, in lattice units, how far count ≥ 1 events of one user move the means of the step noises of age steps, at the worst places,
// 0, s, 2s, … (mechanisms/PROOF.md, Theorem 1):
//
//	Δ·√(Σ_{j<age} (Σ_{r<count} d_{j−rs})²) + 2η√n·√(Σ_{j<age} (Σ_{l<j}|β_l|)²),    d_j = 0 for j < 0,
//
// with d_j + E in the place of d_j, j ≥ 0, when d rises by E.
func (r *Response) userShift(delta int64, n int, age, separation, count uint64) interval {
	return whole(uint64(delta)).mul(r.train(age, separation, count).root()).add(r.shift(0, n, age))
}

// train returns Σ_{j<age} (Σ_{r<count} d_{j−rs})². With d_j + E = Σ_i D_i·p_i^j it is Σ_{i,k} D_iD_k·t_ik, and with P = p_i^s, Q = p_k^s,
// z_a = Σ_{r≤a} P^r, y_a = Σ_{r≤a} Q^r and x = p_ip_k, by rows of s steps,
//
//	t_ik = Σ_{a<rows} z_ay_a·Σ_{b<s} x^b + the rest,    rows = min(⌊age/s⌋, count),
//
// where the rest is z_ay_a·Σ_b x^b of an incomplete row, or x^s·z_ay_a·Σ_b x^b of all steps after the last event's row. Every term is positive.
func (r *Response) train(age, separation, count uint64) interval {
	rows := min(age/separation, count)
	rest := age - rows*separation
	sum := whole(0)
	for i := range r.rates {
		for k := range i + 1 {
			x := r.rates[i].mul(r.rates[k])
			one := pair{p: r.rates[i].power(separation), q: r.rates[k].power(separation)}.first()
			past := one.times(rows)
			last, ahead := past, x.power(separation)
			if rows < count {
				last, ahead = past.then(one), whole(1)
			}
			t := past.both.mul(geometric(x, separation, i == 0)).
				add(last.z.mul(last.y).mul(ahead).mul(geometric(x, rest, i == 0)))
			t = t.mul(r.majorant[i]).mul(r.majorant[k])
			if k < i {
				t = t.add(t)
			}
			sum = sum.add(t)
		}
	}
	return sum
}

// pair is what n rows of two rates come to, with p = Pⁿ, q = Qⁿ and z_a, y_a as in train: sums of positive terms, which two pairs give for the rows
// of both, so that n rows take log n steps and nothing cancels, however near 1 the rates are.
type pair struct {
	p, q interval
	z, y interval // Σ_{r<n} P^r, Σ_{r<n} Q^r
	both interval // Σ_{a<n} z_ay_a
	zq   interval // Σ_{a<n} z_aQ^{a+1}
	yp   interval // Σ_{a<n} y_aP^{a+1}
	pq   interval // Σ_{a<n} (PQ)^{a+1}
}

// first returns the pair of one row.
func (a pair) first() pair {
	one := whole(1)
	return pair{p: a.p, q: a.q, z: one, y: one, both: one, zq: a.q, yp: a.p, pq: a.p.mul(a.q)}
}

// then returns the pair of a's rows and, after them, b's: their z is b's z_a + P^{a+1}·z of a, and so for y.
func (a pair) then(b pair) pair {
	return pair{
		p:    a.p.mul(b.p).floored(),
		q:    a.q.mul(b.q).floored(),
		z:    a.z.add(a.p.mul(b.z)),
		y:    a.y.add(a.q.mul(b.y)),
		both: a.both.add(b.both).add(a.y.mul(b.zq)).add(a.z.mul(b.yp)).add(a.z.mul(a.y).mul(b.pq)),
		zq:   a.zq.add(a.q.mul(b.zq.add(a.z.mul(b.pq)))),
		yp:   a.yp.add(a.p.mul(b.yp.add(a.y.mul(b.pq)))),
		pq:   a.pq.add(a.p.mul(a.q).mul(b.pq)),
	}
}

// times returns the pair of n times a's rows.
func (a pair) times(n uint64) pair {
	zero := whole(0)
	sum := pair{p: whole(1), q: whole(1), z: zero, y: zero, both: zero, zq: zero, yp: zero, pq: zero}
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			sum = sum.then(a)
		}
		a = a.then(a)
	}
	return sum
}
