package transaction

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"oriel/pipeline/kafka/records"
	"oriel/schemas/text"
	"oriel/state"
)

// rowSealer returns a sealer of a new incarnation.
func rowSealer(t *testing.T) *state.Sealer {
	t.Helper()
	s, err := state.NewIncarnation(state.Incarnation{Stream: "0"}).Sealer()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestStatusRowsShowOnlyTheirNumber checks that rows reveal only the number of statuses. One transaction has only valid
// records, another every kind of bad record and gaps. Both are equally full, so their rows must have equal sizes and
// positions.
func TestStatusRowsShowOnlyTheirNumber(t *testing.T) {
	valid, mixed := New(records.NewPool()), New(records.NewPool())
	for offset := range int64(3*state.MaxStatuses + 5) {
		valid.setStatus(0, text.OK)
		if offset%7 == 3 {
			mixed.setSkipped(1)
		} else {
			mixed.setStatus(0, text.Code(offset%int64(text.TooMany+1)))
		}
	}
	if n := len(valid.verdicts); !valid.Full(n) || valid.Full(n+1) || !mixed.Full(n) || mixed.Full(n+1) {
		t.Error("records of one size fill a transaction more or less, as they are valid or not")
	}
	const from = 1000
	for _, tx := range []*Transaction{valid, mixed} {
		tx.Position.Next = from + 3*state.MaxStatuses + 5
		tx.seal(rowSealer(t), state.Place{Next: from}, 1)
	}
	if a, b := len(valid.Rows.Batches()), len(mixed.Rows.Batches()); a != b || a < 3 {
		t.Fatalf("%d and %d batches", a, b)
	}
	for i, b := range valid.Rows.Batches() {
		if o := mixed.Rows.Batches()[i]; b.Bytes() != o.Bytes() || b.Count() != o.Count() {
			t.Errorf("batch %d: %d and %d bytes, %d and %d rows", i, b.Bytes(), o.Bytes(), b.Count(), o.Count())
		}
		if b.Bytes() > records.DefaultPack {
			t.Errorf("batch %d has %d bytes", i, b.Bytes())
		}
	}
}

// TestStatusesCoverEveryOffset checks that each offset of a transaction has a status, and that seal panics if the
// number of statuses does not match the position.
func TestStatusesCoverEveryOffset(t *testing.T) {
	tx := new(Transaction)
	tx.setStatus(0, text.OK)
	tx.setStatus(2, text.TooLarge)
	tx.setSkipped(3)
	if want := []byte{1, 0, 0, 3, 0, 0, 0}; !slices.Equal(tx.verdicts, want) {
		t.Fatalf("verdicts %v, want %v", tx.verdicts, want)
	}
	tx.Position.Next = 17
	tx.seal(rowSealer(t), state.Place{Next: 10}, 1)
	defer func() {
		if r, _ := recover().(string); !strings.HasPrefix(r, "BUG: pipeline: ") {
			t.Errorf("panic %q", r)
		}
	}()
	tx.seal(rowSealer(t), state.Place{Next: 11}, 1)
	t.Error("verdicts of other offsets were sealed")
}

// TestRowsJoin checks that the last of several rows starts where the previous ones end, and ends at the position.
func TestRowsJoin(t *testing.T) {
	tx, sealer := New(records.NewPool()), rowSealer(t)
	const from, count = 1000, 2*state.MaxStatuses + 5
	tx.setSkipped(count)
	tx.Position.Next = from + count
	tx.seal(sealer, state.Place{Next: from}, 1)
	last, err := sealer.OpenStatuses(tx.row)
	if err != nil {
		t.Fatal(err)
	}
	if last.From.Next != from+2*state.MaxStatuses || last.To.Next != from+count {
		t.Errorf("the last row is from %v to %v", last.From, last.To)
	}
}

// TestABuilderFindsStatusesByOffset checks that a Builder finds statuses by their offsets, even after the first of them
// were dropped.
func TestABuilderFindsStatusesByOffset(t *testing.T) {
	b := &Builder{Transaction: New(records.NewPool()), from: state.Place{Next: 10}}
	for _, code := range []text.Code{text.OK, text.Empty, text.TooLarge, text.InvalidUTF8} {
		b.Transaction.setStatus(0, code)
	}
	want := []byte{text.Empty.Status(), text.TooLarge.Status()}
	if got := b.Statuses(11, 13); !slices.Equal(got, want) {
		t.Errorf("statuses of the offsets 11 and 12: %v, want %v", got, want)
	}
	b.DropStatuses(state.Place{Next: 12})
	if got := b.Statuses(12, 13); !slices.Equal(got, want[1:]) {
		t.Errorf("status of the offset 12: %v, want %v", got, want[1:])
	}
}

// TestStretchesAreOfOnePartition checks that adjacent offsets form one stretch only if they are in the same partition.
func TestStretchesAreOfOnePartition(t *testing.T) {
	tx := New(records.NewPool())
	for _, s := range [][3]int64{{1, 4, 5}, {1, 5, 7}, {2, 7, 8}, {2, 9, 10}, {1, 7, 8}} {
		tx.move(int32(s[0]), s[1], s[2])
	}
	const want = "[{1 4 7} {2 7 8} {2 9 10} {1 7 8}]"
	if got := fmt.Sprint(tx.stretches); got != want {
		t.Errorf("stretches %v, want %v", got, want)
	}
}

// TestATransactionSendsItsOwnUsers checks that a transaction that is filled again has no records of users from before:
// parts of an ended period would come back.
func TestATransactionSendsItsOwnUsers(t *testing.T) {
	tx := New(records.NewPool())
	tx.Users = append(tx.Users, state.Record{Key: []byte("part")})
	if tx.Reset(); len(tx.Users) > 0 {
		t.Errorf("%d records of users are left", len(tx.Users))
	}
}
