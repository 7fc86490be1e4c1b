package tiertest

import (
	"runtime/metrics"
	"testing"
)

// Allocates fails the test if f allocates more than most bytes. It costs microseconds, so fuzz targets can use it.
// Because it also counts allocations of other goroutines, f gets three tries.
func Allocates(t testing.TB, most uint64, f func()) {
	t.Helper()
	var n uint64
	for range 3 {
		before := allocated()
		f()
		if n = allocated() - before; n <= most {
			return
		}
	}
	t.Fatalf("%d bytes were allocated, more than %d", n, most)
}

func allocated() uint64 {
	sample := [1]metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample[:])
	return sample[0].Value.Uint64()
}
