package noise

// Laplace draws independent coordinates round(s·Y), Y with density e^-|y|/2: exactly this law, if the keystream's bits
// are independent and uniform. Its sensitivity is measured in ℓ1.
type Laplace struct{ draw *perWord }

// NewLaplace returns the sampler of scale s, 2^-32 ≤ s < 2^50.
func NewLaplace(s Scale) (*Laplace, error) {
	draw, err := newPerWord(&laplaceCurve, s)
	if err != nil {
		return nil, err
	}
	return &Laplace{draw: draw}, nil
}

// Fill draws dst; coordinate i takes word i of the keystream.
func (l *Laplace) Fill(dst []int64, seed Seed) { l.draw.fill(dst, seed) }
