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
