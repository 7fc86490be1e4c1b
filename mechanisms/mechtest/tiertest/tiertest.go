package tiertest

import (
	"flag"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Runs returns short or long, by the tier of the test run: for example a number of draws, a horizon, or a list of
// cases.
func Runs[T any](short, long T) T {
	if os.Getenv("TEST_LONG") == "1" {
		return long
	}
	return short
}

// Slow skips a test outside the long tier. short names the test of the same package that is its short form.
func Slow(t testing.TB, short string) {
	t.Helper()
	if !Runs(false, true) {
		t.Skipf("the short form is %s; TEST_LONG=1 runs this one too", short)
	}
}

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

// A test process differs from other Go processes in two ways, unless its environment sets GOGC or GOMAXPROCS.
//
//   - Its heap grows to five times the live data. A test that mostly computes has a heap of a few megabytes, which Go's
//     default collects many times a second. That takes a fifth to a third of the time of such tests.
//   - In the short tier it uses one processor. `go test` already runs one package for each processor, and goroutines
//     that hand work to each other contend for locks on two: a simulated cluster takes a third less time on one. The
//     race detector, benchmarks and the long tier get all processors.
func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	benchmark := slices.ContainsFunc(os.Args, func(flag string) bool { return strings.HasPrefix(flag, "-test.bench") })
	if os.Getenv("GOMAXPROCS") == "" && Fewer == 1 && !benchmark && Runs(true, false) {
		runtime.GOMAXPROCS(1)
	}
}

// Waiting sets how many parallel tests run at once for each processor. It is for packages whose tests wait for brokers
// and processes more than they compute. Their TestMain must call it BEFORE m.Run. -parallel on the command line
// overrides it.
func Waiting(each int) {
	if err := flag.Set("test.parallel", strconv.Itoa(each*runtime.NumCPU())); err != nil {
		panic(err)
	}
}
