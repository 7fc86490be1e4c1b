package opened

import (
	"testing"

	"oriel/mechanisms/mechtest"
)

// TestFootprintCountsOnce checks that footprint does not count memory that streams share, and counts nothing twice.
func TestFootprintCountsOnce(t *testing.T) {
	c := mechtest.Config(27)
	m, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	once := m.Footprint()
	if again := m.Footprint(); again != once {
		t.Errorf("footprint %d, then %d", once, again)
	}
	if once < 27*(16+4*16+2*8) || once > 1<<15 {
		t.Errorf("footprint %d: not that of 27 coordinates", once)
	}
}
