package tiertest

import (
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
)

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
