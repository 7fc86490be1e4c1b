package tiertest

import (
	"os"
	"testing"
)

// Runs returns what the tier of this run takes: a number of draws, a horizon, a list of cases.
func Runs[T any](short, long T) T {
	if os.Getenv("TEST_LONG") == "1" {
		return long
	}
	return short
}

// Slow leaves a test to the long tier. The test named short, of the same package, is its short form.
func Slow(t testing.TB, short string) {
	t.Helper()
	if !Runs(false, true) {
		t.Skipf("the short form is %s; TEST_LONG=1 runs this one too", short)
	}
}
