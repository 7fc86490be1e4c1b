package tiertest

import "testing"

func TestRuns(t *testing.T) {
	for value, want := range map[string]int{"": 1, "0": 1, "1": 2} {
		t.Setenv("TEST_LONG", value)
		if got := Runs(1, 2); got != want {
			t.Errorf("TEST_LONG=%s: %d", value, got)
		}
	}
}

func TestDiagonalMeetsEveryRowAndColumn(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {3, 5}, {5, 3}, {4, 4}, {6, 4}} {
		t.Setenv("TEST_LONG", "")
		met := [2]map[int]bool{{}, {}}
		for _, cell := range Diagonal(size[0], size[1]) {
			met[0][cell[0]], met[1][cell[1]] = true, true
		}
		if len(met[0]) != size[0] || len(met[1]) != size[1] {
			t.Errorf("%v: %d rows and %d columns", size, len(met[0]), len(met[1]))
		}
		t.Setenv("TEST_LONG", "1")
		if got := len(Diagonal(size[0], size[1])); got != size[0]*size[1] {
			t.Errorf("%v: %d cells in the long tier", size, got)
		}
	}
}
