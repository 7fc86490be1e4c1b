package fetch

import (
	"testing"

	"oriel/pipeline/kafka/memory"
)

// TestAbandonedAnswerGivesItsMemoryBack checks Readers that give up before there is memory, while the answer arrives,
// and after it has arrived.
func TestAbandonedAnswerGivesItsMemoryBack(t *testing.T) {
	for _, when := range []string{"before", "while", "after", "never"} {
		budget := memory.NewBudget(1 << 20)
		reserved, _ := budget.Take(t.Context(), 5000)
		d := &delivery{pool: new(memory.Pool), budget: budget, share: reserved}
		if when == "before" {
			d.abandon()
		}
		a := fetchResponse{records: d.room(100_000)}
		if (a.records == nil) != (when == "before") {
			t.Fatalf("%s: room is given: %t", when, a.records != nil)
		}
		if when == "while" {
			d.abandon()
		}
		if a.records != nil && held(budget) != memory.CapacityFor(100_000) {
			t.Fatalf("%s: %d bytes held for a buffer of %d", when, held(budget), cap(a.records.B))
		}
		d.put(a)
		switch when {
		case "after":
			d.abandon()
		case "never":
			got := d.take()
			got.records.Release()
		}
		if held(budget) != 0 {
			t.Errorf("%s: %d bytes are not given back", when, held(budget))
		}
	}
}

// TestAnswerWithoutRoomIsRefused checks that after a refused answer no memory is held, not even the reservation.
func TestAnswerWithoutRoomIsRefused(t *testing.T) {
	budget := memory.NewBudget(10_000)
	other, _ := budget.Take(t.Context(), 4000)
	reserved, _ := budget.Take(t.Context(), 5000)
	d := &delivery{pool: new(memory.Pool), budget: budget, share: reserved}
	if d.room(9000) != nil {
		t.Fatal("room beyond the budget")
	}
	d.put(fetchResponse{refused: 9000})
	if a := d.take(); a.refused != 9000 || held(budget) != 4000 {
		t.Fatalf("%d refused, %d bytes held", a.refused, held(budget))
	}
	other.Release()
	alone, _ := budget.Take(t.Context(), memory.CapacityFor(9000)) // a share larger than the budget takes all of it
	d = &delivery{pool: new(memory.Pool), budget: budget, share: alone}
	if b := d.room(9000); b == nil || cap(b.B) < 9000 {
		t.Fatal("no room for an answer that has the whole budget")
	}
}
