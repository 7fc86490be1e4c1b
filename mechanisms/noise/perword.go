package noise

import "math/bits"

// Sampler draws a whole noise vector. Fill is a pure function of the sampler's parameters, len(dst) and the seed, equal
// on every CPU. A sampler reuses buffers and is not safe for concurrent use.
type Sampler interface {
	Fill(dst []int64, seed Seed)
}

// Gaussian draws independent coordinates round(s·Z), Z standard normal. The law is exact if the keystream's bits are
// independent and uniform.
type Gaussian struct{ *perWord }

// NewGaussian returns the sampler of scale s, 2^-32 ≤ s < 2^50.
func NewGaussian(s Scale) (*Gaussian, error) {
	draw, err := newPerWord(&gaussianCurve, s)
	if err != nil {
		return nil, err
	}
	return &Gaussian{draw}, nil
}

// Round returns round(Φ⁻¹(u)·s) for u = 0.word extension…, the words in base 2^64. extend must return the words after
// the first, one a call; it is called only if the first word leaves a doubt.
func (g *Gaussian) Round(word uint64, extend func() uint64) int64 { return g.one(word, extend) }

// Laplace draws independent coordinates round(s·Y), Y with density e^-|y|/2. The law is exact if the keystream's bits
// are independent and uniform. Its sensitivity is measured in ℓ1.
type Laplace struct{ *perWord }

// NewLaplace returns the sampler of scale s, 2^-32 ≤ s < 2^50.
func NewLaplace(s Scale) (*Laplace, error) {
	draw, err := newPerWord(&laplaceCurve, s)
	if err != nil {
		return nil, err
	}
	return &Laplace{draw}, nil
}

// chunkWords is how many words are made at a time: so few that they fit the first-level cache together with a table,
// and so many that the cipher's cost per call is small.
const chunkWords = 128

// perWord draws each coordinate from one word: round(F⁻¹(u)·s), u = 0.word extension….
type perWord struct {
	curve   *curve
	scale   Scale
	lift    *interval // nil: draws are rounded
	factor  factor
	rounder rounder
	keys    keystream
}

func newPerWord(c *curve, s Scale) (*perWord, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	up := bits.LeadingZeros64(s.Mant)
	f, ok := c.times(s.Mant<<up, s.Exp-up, 0)
	if !ok {
		panic("BUG: noise: a valid scale has no factor")
	}
	return &perWord{curve: c, scale: s, factor: f, rounder: c.rounder(f)}, nil
}

// Fill draws dst. Coordinate i takes word i of the keystream and, if the word leaves a doubt, its extension.
func (g *perWord) Fill(dst []int64, seed Seed) {
	g.keys.open(seed)
	for done := 0; done < len(dst); {
		chunk := dst[done:min(len(dst), done+chunkWords)]
		g.keys.read(chunk)
		g.draw(chunk, &g.keys, done)
		done += len(chunk)
	}
}

// draw replaces words of a keystream by their draws. The first one is word at of the keystream.
func (g *perWord) draw(words []int64, keys *keystream, at int) {
	for i := g.rounder.round(words); i < len(words); i += 1 + g.rounder.round(words[i+1:]) {
		word := uint64(words[i])
		n, ok := g.fine(word)
		if !ok {
			n = g.slow(word, keys.extension(uint32(at+i)))
		}
		words[i] = n
	}
}

// fine makes a draw from one word with the fine table; ok is false if the draw is in doubt.
func (g *perWord) fine(word uint64) (n int64, ok bool) {
	n, ok = g.factor.round(g.curve.fine(word))
	return signed(n, word), ok
}

// slow makes a draw from one word and its extension, in big integers.
func (g *perWord) slow(word uint64, extend func() uint64) int64 {
	return g.curve.decide(newDigits(word, extend), g.scale, g.lift)
}

// one draws from a single word, as Fill does.
func (g *perWord) one(word uint64, extend func() uint64) int64 {
	dst := [1]int64{int64(word)}
	if g.rounder.round(dst[:]) == 1 {
		return dst[0]
	}
	if n, ok := g.fine(word); ok {
		return n
	}
	return g.slow(word, extend)
}
