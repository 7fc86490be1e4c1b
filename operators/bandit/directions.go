package bandit

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"math"

	"oriel/mechanisms"
	"oriel/operators/convex"
	"oriel/operators/elementary"
)

// directions are points of the unit sphere, one for each action. They are functions of the action's number and of a
// seed that is drawn once in the life of a stream, before any event. So directions do not depend on events, a replay
// computes them again, and the number of an answered action is enough to compute its direction.
type directions struct {
	seed    [seedLen]byte
	axes    [][]float64    // unit directions used in turn, for an audit; nil: directions are random
	tangent convex.Tangent // tangent space that contains the directions; nil: they fill R^n
	keyed   cipher.Block   // AES-128 with the seed as key
	action  uint64
	block   uint64 // number of the action's next block
	buffer  [aes.BlockSize]byte
	full    bool // the second half of the block is not used yet
}

const seedLen = 16

// drawSeed takes the seed from a stream before its first record. It is a digest of only the stream's key, and looks
// random to everyone without the state.
func (d *directions) drawSeed(stream *mechanisms.Stream) {
	tag := stream.Tag("directions")
	d.use([seedLen]byte(tag[:]))
}

func (d *directions) use(seed [seedLen]byte) {
	block, err := aes.NewCipher(seed[:])
	if err != nil {
		panic("BUG: bandit: " + err.Error())
	}
	d.seed, d.keyed = seed, block
}

// leastTangent is the least share of the squared norm of a normal vector that its projection must keep, because
// rounding would exceed 2⁻³⁰ of a shorter projection. Otherwise the vector is drawn again. Drawing again does not
// change the distribution of directions, because the direction of a normal vector is independent of its length.
const leastTangent = 0x1p-40

// write writes the direction of an action: a vector of normal numbers divided by its norm. The numbers come from
// Marsaglia's polar method (Marsaglia and Bray, "A convenient method for generating normal variables", SIAM Review
// 1964). On a tangent space the vector is first projected orthogonally, which gives a normal vector of that space.
func (d *directions) write(dst []float64, play uint64) {
	if d.axes != nil {
		copy(dst, d.axes[(play-1)%uint64(len(d.axes))])
		return
	}
	d.action, d.block, d.full = play, 0, false
	for {
		for i := 0; i < len(dst); i += 2 {
			a, b := d.pair()
			dst[i] = a
			if i+1 < len(dst) {
				dst[i+1] = b
			}
		}
		squares := sumOfSquares(dst)
		if d.tangent != nil {
			d.tangent.Project(dst)
			all := squares
			if squares = sumOfSquares(dst); squares < leastTangent*all {
				continue
			}
		}
		if squares == 0 {
			continue
		}
		length := math.Sqrt(squares)
		for i := range dst {
			dst[i] /= length
		}
		return
	}
}

func sumOfSquares(v []float64) float64 {
	total := 0.0
	for _, x := range v {
		total += float64(x * x)
	}
	return total
}

// coordinates returns the directions of an audit's actions, or nil if directions are random. They are the unit vectors
// or, with a tangent space, their normalised projections. A coordinate that is constant on the set gets the direction
// of another coordinate.
func coordinates(audited bool, n int, tangent convex.Tangent) [][]float64 {
	if !audited {
		return nil
	}
	axes, some := make([][]float64, n), []float64(nil)
	for i := range axes {
		u := make([]float64, n)
		u[i] = 1
		if tangent != nil {
			tangent.Project(u)
			long := sumOfSquares(u)
			if long < leastTangent {
				continue
			}
			for j := range u {
				u[j] /= math.Sqrt(long)
			}
		}
		axes[i], some = u, u
	}
	for i, u := range axes {
		if u == nil {
			axes[i] = some
		}
	}
	return axes
}

// pair returns two independent standard normal numbers.
func (d *directions) pair() (a, b float64) {
	for {
		a, b = d.uniform(), d.uniform()
		if s := float64(a*a) + float64(b*b); s > 0 && s < 1 {
			factor := math.Sqrt(float64(-2*elementary.Log(s)) / s)
			return float64(a * factor), float64(b * factor)
		}
	}
}

// uniform returns a number in [−1, 1), in steps of 2⁻⁵². It comes from half a block of AES, whose plaintext is the
// action and a counter.
func (d *directions) uniform() float64 {
	at := aes.BlockSize / 2
	if d.full = !d.full; d.full {
		at = 0
		binary.LittleEndian.PutUint64(d.buffer[:], d.action)
		binary.LittleEndian.PutUint64(d.buffer[8:], d.block)
		d.block++
		d.keyed.Encrypt(d.buffer[:], d.buffer[:])
	}
	return float64(int64(binary.LittleEndian.Uint64(d.buffer[at:]))>>11) / (1 << 52)
}
