package dp

// Draws is what draws of a stream's own lose (mechanisms.Stream.Choose), where no sum is released beside them: for a
// unit, of all draws there will ever be whose scores it can move, and for as many as the history has in which it moves
// most of them. Pure ε's and zCDP ρ's are in sum, both at least 0. The zero value loses nothing, as draws from releases
// do.
type Draws struct{ Pure, Rho float64 }

// Epsilon is what draws with no sums beside them lose at δ, rounded up.
func (d Draws) Epsilon(delta float64) float64 {
	total := d.Of(1)
	return total.Epsilon(delta)
}

// Of is what draws lose for so many units at once.
func (d Draws) Of(units uint64) Total {
	var total Total
	total.AddPure(d.Pure)
	total.AddRho(d.Rho)
	return total.Group(units)
}
