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

// Diagonal returns the cells of a matrix of rows × columns that the tier takes: all in the long tier; in the short one
// max(rows, columns) cells, which meet every row and every column.
func Diagonal(rows, columns int) [][2]int {
	if rows < 1 || columns < 1 {
		panic("BUG: tiertest: an empty matrix")
	}
	var short, long [][2]int
	for i := range max(rows, columns) {
		short = append(short, [2]int{i % rows, i % columns})
	}
	for i := range rows {
		for j := range columns {
			long = append(long, [2]int{i, j})
		}
	}
	return Runs(short, long)
}
