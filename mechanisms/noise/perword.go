package noise

import (
	"encoding/binary"
	"math/bits"
)

// perWord draws each coordinate from one word: round(F⁻¹(u)·s), u = 0.word extension….
type perWord struct {
	curve  *curve
	scale  Scale
	factor factor
	keys   keystream
	points points
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
	return &perWord{curve: c, scale: s, factor: f}, nil
}

// fill draws dst; coordinate i takes word i and, where it leaves a doubt, the extension of position i.
func (g *perWord) fill(dst []int64, seed Seed) {
	g.keys.open(seed)
	for done := 0; done < len(dst); {
		chunk := dst[done:min(len(dst), done+chunkWords)]
		words := g.keys.next(len(chunk))
		g.curve.locate(&g.points, words)
		for i := 0; ; i++ {
			if i = g.points.round(chunk, i, g.factor); i == len(chunk) {
				break
			}
			chunk[i] = g.slow(wordAt(words, i), g.keys.extension(uint32(done+i)))
		}
		done += len(chunk)
	}
}

// slow draws one word in big integers.
func (g *perWord) slow(word uint64, extend func() uint64) int64 {
	return g.curve.decide(newDigits(word, extend), g.scale)
}

// one draws from a single word, as fill does.
func (g *perWord) one(word uint64, extend func() uint64) int64 {
	var dst [1]int64
	var words [8]byte
	binary.LittleEndian.PutUint64(words[:], word)
	g.curve.locate(&g.points, words[:])
	if g.points.round(dst[:], 0, g.factor) == 1 {
		return dst[0]
	}
	return g.slow(word, extend)
}
