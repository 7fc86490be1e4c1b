package noise

// Sampler draws a whole noise vector. Fill is a pure function of the sampler's parameters, len(dst) and the seed: equal
// on every CPU. A sampler reuses buffers and is not safe for concurrent use.
type Sampler interface {
	Fill(dst []int64, seed Seed)
}

// Gaussian draws independent coordinates round(s·Z), Z standard normal: exactly this law, if the keystream's bits are
// independent and uniform.
type Gaussian struct{ draw *perWord }

// NewGaussian returns the sampler of scale s, 2^-32 ≤ s < 2^50.
func NewGaussian(s Scale) (*Gaussian, error) {
	draw, err := newPerWord(&gaussianCurve, s)
	if err != nil {
		return nil, err
	}
	return &Gaussian{draw: draw}, nil
}

// Fill draws dst; coordinate i takes word i of the keystream.
func (g *Gaussian) Fill(dst []int64, seed Seed) { g.draw.fill(dst, seed) }

// Round returns round(Φ⁻¹(u)·s) for u = 0.word extension…, the words in base 2^64. extend returns the words after the
// first, one a call; it is asked only when the first leaves a doubt.
func (g *Gaussian) Round(word uint64, extend func() uint64) int64 { return g.draw.one(word, extend) }
