package sumtest

import "oriel/mechanisms/noise"

// Script is a sampler that repeats given integers without end. It ignores the seed.
type Script struct {
	Values []int64
	next   int
}

// Fill writes the next integers.
func (s *Script) Fill(dst []int64, _ noise.Seed) {
	for i := range dst {
		dst[i] = s.Values[s.next%len(s.Values)]
		s.next++
	}
}

// Tails returns integers spread over ±reach·scale: for each k up to reach, k times the scale, its neighbours, and
// integers that no power of two divides.
func Tails(reach, scale int64) []int64 {
	var out []int64
	for k := int64(1); k <= reach; k++ {
		for _, beside := range []int64{0, 1, -1, scale/2 | 1, -(scale/3 | 1)} {
			if x := k*scale + beside; x <= reach*scale {
				out = append(out, x, -x)
			}
		}
	}
	return append(out, 0, 1, -1)
}

// Contribution writes a small contribution that depends on the step.
func Contribution(dst []int64, step int) {
	for i := range dst {
		dst[i] = int64((step+1)*(i+3)%7) - 3
	}
}

// bySeed is a sampler over a script. A new seed gets the next vector of the script, and a known seed its previous
// vector, so that a restored sum gets the same draws.
type bySeed struct {
	script Script
	drawn  map[noise.Seed][]int64
	fresh  []int64 // sum of the vectors given to new seeds since the last clear
	silent bool    // new seeds get zero vectors, and the script does not remember them
}

func (b *bySeed) Fill(dst []int64, seed noise.Seed) {
	if old, known := b.drawn[seed]; known {
		copy(dst, old)
		return
	}
	if b.silent {
		clear(dst)
		return
	}
	b.script.Fill(dst, seed)
	b.drawn[seed] = append([]int64(nil), dst...)
	for i, x := range dst {
		b.fresh[i] += x
	}
}
