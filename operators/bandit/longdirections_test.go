package bandit

import (
	"crypto/aes"
	"encoding/binary"
	"math"
	"testing"
)

// TestLongDirectionsAreTheirBlocks compares a direction of many coordinates with its definition: normal numbers by the
// polar method, from halves of the blocks (action, 0), (action, 1), … under the seed. No block may come again within a
// direction, because coordinates would then move together.
func TestLongDirectionsAreTheirBlocks(t *testing.T) {
	const n, action = 1501, 77
	seed := [seedLen]byte{4, 2}
	var d directions
	d.use(seed)
	got := make([]float64, n)
	d.write(got, action-1) // an action before must not matter
	d.write(got, action)
	cipher, err := aes.NewCipher(seed[:])
	if err != nil {
		t.Fatal(err)
	}
	half := uint64(0)
	uniform := func() float64 {
		var block [aes.BlockSize]byte
		binary.LittleEndian.PutUint64(block[:], action)
		binary.LittleEndian.PutUint64(block[8:], half/2)
		cipher.Encrypt(block[:], block[:])
		word := binary.LittleEndian.Uint64(block[8*(half%2):])
		half++
		return math.Ldexp(float64(int64(word)>>11), -52)
	}
	var want []float64
	for len(want) < n {
		if a, b := uniform(), uniform(); a*a+b*b > 0 && a*a+b*b < 1 {
			s := a*a + b*b
			factor := math.Sqrt(-2 * math.Log(s) / s)
			want = append(want, a*factor, b*factor)
		}
	}
	want = want[:n]
	length := math.Sqrt(sumOfSquares(want))
	for i, x := range want {
		if math.Abs(got[i]-x/length) > 1e-12 {
			t.Fatalf("coordinate %d is %g, want %g", i, got[i], x/length)
		}
	}
}
