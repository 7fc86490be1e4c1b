package dp

// Draws is what draws of a stream's own lose beside its sums (mechanisms.Stream.Choose): for a unit, of all draws there
// will ever be whose scores it can move, and for as many as the history has in which it moves most of them. Pure ε's
// and zCDP ρ's are in sum, both at least 0. The zero value loses nothing, as draws from releases do.
type Draws struct{ Pure, Rho float64 }

// WithDraws returns the guarantee of sums that g is of and of draws beside them. Draws count in full at every age but
// 0, and for each unit of a Group and each window of AtAll: the loss is that of the composition, rounded up (PROOF.md,
// Theorems 3 and 4). Beside pure sums, whose δ is 0, a ρ leaves no finite ε. It panics when g has draws already.
func (g Guarantee) WithDraws(d Draws) Guarantee {
	if g.Draws != (Draws{}) {
		panic("BUG: dp: a guarantee has its draws twice")
	}
	if d == (Draws{}) {
		return g
	}
	total := d.of(1)
	if g.Mu > 0 {
		total.AddMu(g.Mu)
	} else {
		total.AddPure(g.Epsilon)
	}
	g.Draws, g.Epsilon = d, total.Epsilon(g.Delta)
	return g
}

// Epsilon is what draws with no sums beside them lose at δ, rounded up.
func (d Draws) Epsilon(delta float64) float64 {
	total := d.of(1)
	return total.Epsilon(delta)
}

// of is what draws lose for so many units at once.
func (d Draws) of(units uint64) Total {
	var total Total
	total.AddPure(d.Pure)
	total.AddRho(d.Rho)
	return total.Group(units)
}
