package records

import "testing"

func TestPackStaysWithinTheBrokersLimit(t *testing.T) {
	var b Pack
	total := 0
	for i := range 5000 {
		b.Append([]byte("0"), make([]byte, i), []Header{{Key: "k", Value: []byte("v")}}, 1)
		total++
	}
	b.Append(nil, make([]byte, 2_000_000), nil, 1) // larger than a batch limit, so it gets its own batch
	count := 0
	for i, builder := range b.Batches() {
		if last := i == len(b.Batches())-1; builder.Bytes() > DefaultPack+1000 && !last {
			t.Errorf("batch %d has %d bytes", i, builder.Bytes())
		} else if last && builder.Count() != 1 {
			t.Errorf("the large record shares its batch with %d others", builder.Count()-1)
		}
		count += builder.Count()
	}
	if count != total+1 {
		t.Errorf("%d records in batches, want %d", count, total+1)
	}
	builders := len(b.builders)
	b.Reset()
	b.Append(nil, []byte("x"), nil, 1)
	if b.pool.Bytes() == 0 || len(b.Batches()) != 1 || b.Batches()[0].Count() != 1 ||
		len(b.pool.builders) != builders-1 {
		t.Error("a reset does not start over with the same builders")
	}
}

// TestPackIsLimited checks that a limit closes batches earlier than the default, never later, and stays in effect for
// later transactions.
func TestPackIsLimited(t *testing.T) {
	var p Pack
	for _, limit := range []int{1000, 5000, 10 * DefaultPack} {
		p.Limit(limit)
		for range 3000 {
			p.Append([]byte("k"), make([]byte, 800), nil, 1)
		}
		for i, b := range p.Batches() {
			if b.Bytes() > min(limit, DefaultPack) {
				t.Errorf("limit %d: batch %d has %d bytes", limit, i, b.Bytes())
			}
		}
		if n, most := len(p.Batches()), 3000*850/(min(limit, DefaultPack)/2)+1; n > most && limit > 1000 {
			t.Errorf("limit %d: %d batches, want at most %d", limit, n, most)
		}
		p.Reset()
	}
}
