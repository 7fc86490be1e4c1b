package moments

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"oriel/mechanisms/contribution"
	"oriel/mechanisms/lattice"
)

// MaxFeatures is the largest d. A contribution of 512 features has 131 841 numbers.
const MaxFeatures = 512

// MaxLabel is the Label for s = 1.
const MaxLabel = 1 << labelBits

const labelBits = 10

// rootHalf is 2⁶⁴/√2, rounded to the nearest integer.
const rootHalf = 0xb504f333f9de6484

// Rows is the Quantiser of rows (x; s·y). Its inputs are the block if there are several, x, and y: d+1 or d+2 numbers.
// An x longer than 1 is scaled to length 1, and y is clamped to [−1, 1]. A NaN or ±Inf in x makes x zero, and a NaN y
// makes y zero. A block outside 0 … Blocks−1 gives the zero contribution.
type Rows struct {
	Features int // d, 1 to MaxFeatures
	Label    int // s·1024, 1 to MaxLabel; a larger share would reduce no noise
	Blocks   int // K, number of blocks; 0 means 1
}

// Validate reports every problem at once.
func (r Rows) Validate() error {
	var errs []error
	if r.Features < 1 || r.Features > MaxFeatures {
		errs = append(errs, fmt.Errorf("moments: %d features: not in [1, %d]", r.Features, MaxFeatures))
	}
	if r.Label < 1 || r.Label > MaxLabel {
		errs = append(errs, fmt.Errorf("moments: label share %d/1024: not in (0, 1]", r.Label))
	}
	if size := r.triangle(); r.Blocks < 0 || len(errs) == 0 && r.Blocks > 1<<24/size {
		errs = append(errs, fmt.Errorf("moments: %d blocks of %d numbers: not in [1, 2^24] together", r.Blocks, size))
	}
	return errors.Join(errs...)
}

func (r Rows) blocks() int { return max(1, r.Blocks) }

// triangle returns the number of entries of a block, D(D+1)/2.
func (r Rows) triangle() int { return (r.Features + 1) * (r.Features + 2) / 2 }

// Size returns the number of coordinates of all blocks.
func (r Rows) Size() int { return r.blocks() * r.triangle() }

// Block returns the numbers of one block of a release.
func (r Rows) Block(release []float64, block int) Symmetric {
	n := r.triangle()
	return Symmetric{Size: r.Features + 1, Values: release[block*n:][:n]}
}

// Entries returns d+1, or d+2 if there are several blocks.
func (r Rows) Entries() int {
	if r.blocks() > 1 {
		return r.Features + 2
	}
	return r.Features + 1
}

// Scales returns 2 for numbers on the diagonal, whose noise has twice the variance.
func (r Rows) Scales() []uint32 {
	out := make([]uint32, 0, r.Size())
	for range r.blocks() {
		for i := range r.Features + 1 {
			out = append(out, 2)
			for range r.Features - i {
				out = append(out, 1)
			}
		}
	}
	return out
}

// Component returns a component with this quantiser, on a grid that holds the longest contribution, of length
// (1+s²)/√2, with room for rounding. r must be valid.
func (r Rows) Component() contribution.Component {
	s := float64(r.Label) / MaxLabel
	// Room for √D/2 + 2 units of rounding, which Distances adds.
	room := 1 + float64((math.Sqrt(float64(r.Features+1))+8)*0x1p-24)
	clip := float64(float64((1+float64(s*s))/math.Sqrt2) * room)
	return contribution.Component{Size: r.Size(), Clip: clip, Quantiser: r, Scales: r.Scales()}
}

// units returns the resolution of rows on a grid. |x| = 1 has r = 2^fine units, and a label of 1 has S = label units.
// r²·2^shift units of the grid are 1 in loss units.
func (r Rows) units(g lattice.Grid) (fine int, label int64, shift uint) {
	fine = max(0, -g.Exp) / 2
	return fine, int64(r.Label) << fine >> labelBits, uint(max(0, -g.Exp) - 2*fine)
}

// Distances returns the squares of the bounds of PROOF.md, Theorem 1: r² + S² under replace and (r² + S²)/√2 under
// zero-out, both increased by the rounding of the diagonal.
func (r Rows) Distances(g lattice.Grid) (replace, zeroOut lattice.Int128) {
	fine, label, shift := r.units(g)
	squared := (int64(1)<<(2*fine) + label*label) << shift
	rounding := int64(math.Ceil(math.Sqrt(float64(r.Features + 1))))
	return lattice.Square(squared + rounding + 1), lattice.Square(halved(squared) + rounding/2 + 2)
}

// halved returns x/√2 rounded to the nearest integer, for 0 ≤ x ≤ 2⁴³. It may round to the wrong side if x/√2 is within
// 2⁻²¹ of the middle between two integers, because rootHalf has an error of up to half of 2⁻⁶⁴.
func halved(x int64) int64 {
	high, low := bits.Mul64(uint64(x), rootHalf)
	return int64(high + low>>63)
}

// Quantise writes the contribution of a row. It converts x and y to integers, checks the integers, and then multiplies
// them. Products are exact, except on the diagonal, where they are divided by √2 and rounded.
func (r Rows) Quantise(g lattice.Grid, dst []int64, v []float64) {
	n, d := r.triangle(), r.Features
	block := 0
	if r.blocks() > 1 {
		if !(v[0] >= 0 && v[0] < float64(r.Blocks)) || v[0] != math.Floor(v[0]) {
			return
		}
		block, v = int(v[0]), v[1:]
	}
	fine, label, shift := r.units(g)
	dst = dst[block*n:][:n]
	// The row is stored at the end of the triangle, so that no product overwrites a number that is still needed.
	row := dst[n-d-1:]
	(lattice.Grid{Exp: -fine, Lambda: 1 << fine}).Quantise(row[:d], v[:d])
	row[d] = labelled(v[d], label)
	at := 0
	for i := range row {
		x := row[i]
		dst[at] = halved(x * x << shift)
		at++
		for _, y := range row[i+1:] {
			dst[at] = x * y << shift
			at++
		}
	}
}

// labelled returns y·most rounded to the nearest integer, with y clamped to [−1, 1], and 0 for NaN.
func labelled(y float64, most int64) int64 {
	if math.IsNaN(y) {
		return 0
	}
	n := int64(math.Floor(float64(min(max(y, -1), 1)*float64(most)) + 0.5))
	return min(max(n, -most), most)
}
