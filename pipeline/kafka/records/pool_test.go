package records

import "testing"

// TestPacksShareAPool checks that the pool counts the bytes of all its packs, and that a pack reuses builders that
// another has given back.
func TestPacksShareAPool(t *testing.T) {
	pool := NewPool()
	var filled, committed Pack
	filled.Share(pool)
	committed.Share(pool)
	for range 3 * DefaultPack / 1000 {
		committed.Append(nil, make([]byte, 1000), nil, 1)
	}
	filled.Append(nil, make([]byte, 10), nil, 1)
	if got, want := pool.Bytes(), filled.Bytes()+committed.Bytes(); got != want || want < 3*DefaultPack {
		t.Fatalf("%d bytes, want %d", got, want)
	}
	select {
	case <-pool.Freed():
		t.Error("bytes have become fewer before a batch was dropped")
	default:
	}
	given, held := committed.Batches()[0], pool.Bytes()
	size := given.Bytes()
	committed.Drop()
	if got := held - pool.Bytes(); got != size {
		t.Errorf("a batch of %d bytes frees %d", size, got)
	}
	select {
	case <-pool.Freed():
	default:
		t.Error("nobody is told that bytes have become fewer")
	}
	for filled.Batches()[len(filled.Batches())-1] != given {
		if filled.Bytes() > 3*DefaultPack {
			t.Fatal("a builder on the pool is not taken")
		}
		filled.Append(nil, make([]byte, 1000), nil, 1)
	}
	filled.Reset()
	committed.Reset()
	if pool.Bytes() != 0 {
		t.Errorf("%d bytes in empty packs", pool.Bytes())
	}
}
