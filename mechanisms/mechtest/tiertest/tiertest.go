package tiertest

import (
	"os"
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
