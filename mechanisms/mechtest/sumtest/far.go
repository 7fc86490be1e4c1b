package sumtest

import (
	"encoding/binary"
	"testing"

	"oriel/mechanisms/noise"
)

// FarDimension is the number of coordinates of FarVector.
const FarDimension = 1 << 16

// FarKey returns a chain key, found by search, for which the node's normal vector has an entry beyond 6 standard
// deviations. The node must be activated in step 1 after a null record of the zero identity. The search covered the
// first node of a tree, and the nodes of step 1 of blt and of once- mechanisms.
func FarKey(t testing.TB, node noise.NodeID) (key [32]byte) {
	t.Helper()
	number, known := map[noise.NodeID]uint32{{}: 22563, {Block: 1}: 5091}[node]
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
	chain.Absorb(1, 0, noise.Identity{}, nil)
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
	newSum(FarDimension, sampler).Add(released, make([]int64, FarDimension), chain)
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
