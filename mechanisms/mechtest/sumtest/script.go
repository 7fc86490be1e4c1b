package sumtest

import (
	"encoding/binary"
	"testing"

	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
)

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

// Sum is mechanisms.Sum over a lattice of unit 1, so that its releases are integers.
type Sum interface {
	Add(dst []float64, v []lattice.Int128, chain *noise.Chain)
	Steps() uint64
	StateLen() int
	AppendState(dst []byte) []byte
	Restore(state []byte) error
}

// DrawsReachTheRelease plays sums of n coordinates over a script of Tails(reach, scale). It plays each record twice
// from the same state: with the step's draws, and with zeros in their place. The two releases must differ by exactly
// the draws, so a release is the sum of the total, the carry of earlier steps, and the draw. Releases must stay within
// 2⁵³.
func DrawsReachTheRelease(t testing.TB, reach, scale int64, n int, newSum func(sampler noise.Sampler) Sum) {
	t.Helper()
	const rounds = 4 // number of passes through the script in each coordinate
	values := Tails(reach, scale)
	if len(values)%2 == 0 || len(values)%n == 0 {
		t.Fatalf("BUG: sumtest: %d values: the same ones would meet the same nodes and coordinates again", len(values))
	}
	sampler := &bySeed{script: Script{Values: values}, drawn: map[noise.Seed][]int64{}, fresh: make([]int64, n)}
	loud, quiet := newSum(sampler), newSum(sampler)
	chain, with, without := noise.NewChain([32]byte{1}), make([]float64, n), make([]float64, n)
	contribution := make([]int64, n)
	for now := range rounds * len(values) {
		Contribution(contribution, now)
		chain.Absorb(noise.Identity{Offset: int64(now)}, contribution)
		chain.Close(loud.Steps() + 1)
		if err := quiet.Restore(loud.AppendState(nil)); err != nil {
			t.Fatal(err)
		}
		sampler.silent = true
		quiet.Add(without, Wide(contribution), chain)
		sampler.silent = false
		clear(sampler.fresh)
		loud.Add(with, Wide(contribution), chain)
		for i, want := range sampler.fresh {
			if got := with[i] - without[i]; got != float64(want) {
				t.Fatalf("step %d, coordinate %d: of draws of %.4g scales, %d, %.0f reaches the release",
					now+1, i+1, float64(want)/float64(scale), want, got)
			}
		}
	}
}

// FarDimension is the number of coordinates of FarVector.
const FarDimension = 1 << 16

// FarKey returns a chain key, found by search, for which the node's normal vector has an entry beyond 6 standard
// deviations. The node must be activated in step 1 of a history without events. The search covered the first node of a
// tree, and the nodes of step 1 of blt and of once- mechanisms.
func FarKey(t testing.TB, node noise.NodeID) (key [32]byte) {
	t.Helper()
	number, known := map[noise.NodeID]uint32{{}: 38, {Block: 1}: 716}[node]
	if !known {
		t.Fatalf("BUG: sumtest: no far key of node %v", node)
	}
	binary.LittleEndian.PutUint32(key[:], number)
	return key
}

// FarVector returns the vector that the sampler draws for a node under its FarKey, and the chain.
func FarVector(t testing.TB, node noise.NodeID, sampler noise.Sampler) ([]int64, *noise.Chain) {
	t.Helper()
	chain, drawn := noise.NewChain(FarKey(t, node)), make([]int64, FarDimension)
	chain.Close(1)
	sampler.Fill(drawn, chain.Seed(node))
	return drawn, chain
}

// FarDrawsReachTheRelease checks a sum of FarDimension coordinates with the real sampler, not a script. The first
// release must equal the sampler's draws, which reach beyond 6 standard deviations.
func FarDrawsReachTheRelease(t testing.TB, node noise.NodeID, newSum func(n int, sampler noise.Sampler) Sum) {
	t.Helper()
	const scale = 1 << 40
	sampler, err := noise.NewGaussian(noise.Scale{Mant: scale})
	if err != nil {
		t.Fatal(err)
	}
	drawn, chain := FarVector(t, node, sampler)
	released, farthest := make([]float64, FarDimension), int64(0)
	newSum(FarDimension, sampler).Add(released, make([]lattice.Int128, FarDimension), chain)
	for i, want := range drawn {
		if farthest = max(farthest, want, -want); released[i] != float64(want) {
			t.Fatalf("coordinate %d: the draw of %.4g scales, %d, is released as %.0f",
				i+1, float64(want)/scale, want, released[i])
		}
	}
	if farthest < 6*scale {
		t.Errorf("the farthest draw is %.4g scales: the test tests no tail", float64(farthest)/scale)
	}
}
