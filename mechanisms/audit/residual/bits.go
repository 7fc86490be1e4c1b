package residual

import "math/bits"

// signTest is the fair coins of a run: of each coordinate a bit a step. Signs of independent normals are some, and
// sizes above their median others. Whether two of them agree is a fair coin again; and so are, independently, all
// pairs of one distance, since each brings a coin that no earlier pair had.
type signTest struct {
	words int
	steps int
	of    [][]uint64 // by coordinate
}

func newFair(coordinates, steps int) signTest {
	f := signTest{words: (steps + 63) / 64, steps: steps, of: make([][]uint64, coordinates)}
	all := make([]uint64, coordinates*f.words)
	for i := range f.of {
		f.of[i] = all[i*f.words : (i+1)*f.words]
	}
	return f
}

func (f signTest) set(coordinate, step int) { f.of[coordinate][step/64] |= 1 << (step % 64) }

// differ counts the steps t at which x_{t+lag} and y_t differ.
func (f signTest) differ(x, y []uint64, lag int) (count uint64) {
	words, shift := lag/64, uint(lag%64)
	for w := words; w < f.words; w++ {
		later := x[w] >> shift
		if shift > 0 && w+1 < f.words {
			later |= x[w+1] << (64 - shift)
		}
		different := later ^ y[w-words]
		if left := f.steps - lag - 64*(w-words); left < 64 {
			if left <= 0 {
				break
			}
			different &= 1<<left - 1
		}
		count += uint64(bits.OnesCount64(different))
	}
	return count
}
