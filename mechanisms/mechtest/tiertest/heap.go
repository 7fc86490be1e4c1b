package tiertest

import (
	"os"
	"runtime/debug"
)

// A test that computes has a heap of a few megabytes, which Go's default collects many times a second: a fifth to a
// third of the time of such tests. Where GOGC is not set, a process of tests lets its heap grow to five times what
// lives.
func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}
