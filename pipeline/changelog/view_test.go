package changelog

import "testing"

func TestLocalPositionBelongsToOneChangelog(t *testing.T) {
	a, b := [16]byte{1}, [16]byte{2}
	if got := parseLocalPosition(appendLocalPosition(a, 42), a); got != 42 {
		t.Errorf("position %d, want 42", got)
	}
	for _, record := range [][]byte{appendLocalPosition(b, 42), nil, make([]byte, 23)} {
		if got := parseLocalPosition(record, a); got != -1 {
			t.Errorf("position %d for a store of another changelog", got)
		}
	}
}
