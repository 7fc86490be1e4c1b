package state

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"oriel/state/frame"
)

func TestStatusesOpen(t *testing.T) {
	for _, width := range []int{1, 40, MaxStatuses} {
		want := testRow(width)
		out := testSealer(t).SealStatuses([]byte("before"), want)[len("before"):]
		if len(out) != width+rowOverhead {
			t.Fatalf("width %d: %d bytes, want %d", width, len(out), width+rowOverhead)
		}
		row, err := testSealer(t).OpenStatuses(out)
		if err != nil || !reflect.DeepEqual(row, want) {
			t.Errorf("width %d: %d to %d, %v", width, row.From, row.To, err)
		}
		if width > 8 && bytes.Contains(out, want.Statuses[:8]) {
			t.Errorf("width %d: statuses in clear", width)
		}
	}
	if s := testSealer(t); bytes.Equal(s.SealStatuses(nil, testRow(9)), s.SealStatuses(nil, testRow(9))) {
		t.Error("two seals have one nonce")
	}
}

// TestTheOffsetsOfARowArePublic checks that the offsets of a row are read without its key, and that other bytes are
// refused.
func TestTheOffsetsOfARowArePublic(t *testing.T) {
	for _, want := range []StatusRow{testRow(40), mergedRow(), emptyRow()} {
		sealed := testSealer(t).SealStatuses(nil, want)
		want.Statuses = nil
		if row, err := PublicRow(sealed); err != nil || !reflect.DeepEqual(row, want) {
			t.Errorf("%+v, want %+v: %v", row, want, err)
		}
		for _, other := range [][]byte{nil, sealed[:30], sealed[1:], testSealer(t).Seal(nil, testPosition(), fill(40, 0))} {
			if row, err := PublicRow(other); err == nil {
				t.Errorf("%d other bytes are read as %+v", len(other), row)
			}
		}
	}
}

// TestStatusesRefuseEveryFlippedBit checks that every flipped bit is refused: after an accident, which the checksum
// detects, and after an adversary, who corrects the checksum.
func TestStatusesRefuseEveryFlippedBit(t *testing.T) {
	for _, row := range []StatusRow{testRow(40), mergedRow(), emptyRow()} {
		refuseEveryFlippedBit(t, testSealer(t).SealStatuses(nil, row), func(b []byte) (bool, error) {
			row, err := testSealer(t).OpenStatuses(b)
			return row.Statuses != nil, err
		})
	}
}

func TestStatusesRefuseOthers(t *testing.T) {
	value := testSealer(t).SealStatuses(nil, testRow(40))
	for _, c := range foreigners("row of statuses") {
		i := testIncarnation()
		c.change(&i)
		s, err := i.Sealer()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.OpenStatuses(value); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("other %s: %v", c.name, err)
		}
	}
	if _, err := testSealer(t).OpenStatuses(testSealer(t).Seal(nil, testPosition(), fill(40, 0))); !errors.Is(err,
		frame.ErrFormat) {
		t.Errorf("a state as a row: %v", err)
	}
	if _, _, err := testSealer(t).Open(value); !errors.Is(err, frame.ErrFormat) {
		t.Errorf("a row as a state: %v", err)
	}
}

// TestARowIsAsLongAsItsOffsets checks that a row with more or fewer statuses than offsets is refused, even if it is
// validly sealed, and a row whose places do not ascend.
func TestARowIsAsLongAsItsOffsets(t *testing.T) {
	for _, c := range []struct {
		from, to Place
		width    int
		want     bool
	}{
		{Place{0, 77}, Place{0, 81}, 4, true},
		{Place{0, 77}, Place{0, 80}, 4, false},
		{Place{0, 77}, Place{0, 82}, 4, false},
		{Place{0, 77}, Place{0, 40}, 4, false},
		{Place{0, -1}, Place{0, 3}, 4, false},
		{Place{5, 77}, Place{6, 81}, 4, true},
		{Place{6, 77}, Place{5, 81}, 4, false},
		{Place{-1, 77}, Place{5, 81}, 4, false},
		{Place{5, 77}, Place{6, 77}, 0, true},
		{Place{5, 77}, Place{5, 77}, 0, false},
		{Place{0, 77}, Place{0, 77}, 0, false},
	} {
		row := StatusRow{From: c.from, To: c.to, Statuses: fill(c.width, 1)}
		if _, err := testSealer(t).OpenStatuses(forgeRow(t, row)); (err == nil) != c.want {
			t.Errorf("%d statuses from %v to %v: %v", c.width, c.from, c.to, err)
		}
	}
}

// TestNoRowIsEmptyOrTooLong checks that an empty or too long row is not sealed. The bound matters because the width of
// a row is public and determines the memory for opening it.
func TestNoRowIsEmptyOrTooLong(t *testing.T) {
	for _, width := range []int{0, MaxStatuses + 1} {
		func() {
			defer func() {
				if r, _ := recover().(string); !strings.HasPrefix(r, "BUG: state: ") {
					t.Errorf("width %d: panic %q", width, r)
				}
			}()
			testSealer(t).SealStatuses(nil, testRow(width))
			t.Errorf("width %d: sealed", width)
		}()
	}
}

// TestStretchesHaveOneForm checks that stretches that do not cover the row, or are not in canonical form, are neither
// written nor read.
func TestStretchesHaveOneForm(t *testing.T) {
	for name, stretches := range map[string][]Stretch{
		"too short":             {{0, 0, 39}},
		"too long":              {{0, 0, 30}, {1, 0, 11}},
		"an empty one":          {{0, 0, 40}, {1, 7, 7}},
		"one that runs back":    {{0, 0, 41}, {1, 7, 6}},
		"two that join":         {{0, 0, 30}, {0, 30, 40}},
		"a partition below 0":   {{-1, 0, 40}},
		"an offset below 0":     {{0, -1, 39}},
		"an end beyond offsets": {{0, math.MaxInt64 - 3, math.MinInt64 + 36}},
	} {
		row := testRow(40)
		row.Stretches = stretches
		func() {
			defer func() {
				if r, _ := recover().(string); !strings.HasPrefix(r, "BUG: state: ") {
					t.Errorf("%s: panic %q", name, r)
				}
			}()
			testSealer(t).SealStatuses(nil, row)
			t.Errorf("%s: sealed", name)
		}()
		if _, err := testSealer(t).OpenStatuses(forgeRow(t, row)); !errors.Is(err, frame.ErrCorrupt) ||
			!strings.Contains(err.Error(), "fields") {
			t.Errorf("%s: %v", name, err)
		}
	}
	many := testRow(MaxStretches + 1)
	for i := range MaxStretches + 1 {
		many.Stretches = append(many.Stretches, Stretch{int32(i), 0, 1})
	}
	if _, err := testSealer(t).OpenStatuses(forgeRow(t, many)); !errors.Is(err, frame.ErrCorrupt) {
		t.Errorf("too many: %v", err)
	}
}

// forgeRow seals a row that SealStatuses would not.
func forgeRow(t *testing.T, row StatusRow) []byte {
	t.Helper()
	s := testSealer(t)
	b := s.appendOwner(nil, frame.KindStatuses)
	for _, field := range []int64{row.From.Slot, row.From.Next, row.To.Slot, row.To.Next} {
		b = binary.LittleEndian.AppendUint64(b, uint64(field))
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(row.Stretches)))
	for _, s := range row.Stretches {
		b = binary.LittleEndian.AppendUint32(b, uint32(s.Partition))
		b = binary.LittleEndian.AppendUint64(b, uint64(s.From))
		b = binary.LittleEndian.AppendUint32(b, uint32(s.To-s.From))
	}
	return s.close(b, 0, testNonce(), row.Statuses)
}

// TestCutPartsCoverTheRow checks that the parts of a cut row can be sealed, that together they equal the row, offset by
// offset, and that there are no more of them than needed. The last part must close the slots that the row closes.
func TestCutPartsCoverTheRow(t *testing.T) {
	ones := func(n int) (all []Stretch) {
		for i := range n {
			all = append(all, Stretch{int32(i % 3), int64(i), int64(i + 1)})
		}
		return all
	}
	for _, c := range []struct {
		name      string
		stretches []Stretch
		width     int
		rows      int
	}{
		{"one partition", nil, MaxStatuses + 1, 2},
		{"a short row", nil, 7, 1},
		{"few", []Stretch{{0, 5, 12}, {1, 0, 3}}, 10, 1},
		{"one that is too long", []Stretch{{0, 3, 2*MaxStatuses + 4}}, 2*MaxStatuses + 1, 3},
		{"an end at the limit", []Stretch{{0, 0, MaxStatuses}, {1, 0, 5}}, MaxStatuses + 5, 2},
		{"cut behind a short one", []Stretch{{0, 0, 5}, {1, 7, MaxStatuses + 9}, {0, 5, 6}}, MaxStatuses + 8, 2},
		{"as many as fit", ones(MaxStretches), MaxStretches, 1},
		{"many", ones(2*MaxStretches + 5), 2*MaxStretches + 5, 3},
	} {
		row := testRow(c.width)
		row.To.Slot, row.Stretches = 9, c.stretches
		type offset struct {
			merged    int64
			partition int32
			offset    int64
			status    byte
		}
		each := func(r StatusRow) []offset {
			all, at := make([]offset, 0, len(r.Statuses)), 0
			if r.Stretches == nil {
				r.Stretches = []Stretch{{-1, r.From.Next, r.To.Next}}
			}
			for _, s := range r.Stretches {
				for o := s.From; o < s.To; o++ {
					all = append(all, offset{r.From.Next + int64(at), s.Partition, o, r.Statuses[at]})
					at++
				}
			}
			return all
		}
		want, rows, at := each(row), 0, row.From
		var got []offset
		for first, rest := row.Cut(); ; first, rest = rest.Cut() {
			rows++
			opened, err := testSealer(t).OpenStatuses(testSealer(t).SealStatuses(nil, first))
			if err != nil || !reflect.DeepEqual(opened, first) {
				t.Fatalf("%s: row %d: %v", c.name, rows, err)
			}
			if first.From != at || len(rest.Statuses) > 0 && first.To.Slot != row.From.Slot {
				t.Errorf("%s: row %d is from %v to %v, want from %v", c.name, rows, first.From, first.To, at)
			}
			got, at = append(got, each(opened)...), first.To
			if len(rest.Statuses) == 0 {
				break
			}
		}
		if at != row.To {
			t.Errorf("%s: the rows end at %v, want %v", c.name, at, row.To)
		}
		if !slices.Equal(got, want) || rows != c.rows {
			t.Errorf("%s: %d rows, want %d; offset by offset the same: %v", c.name, rows, c.rows, slices.Equal(got, want))
		}
	}
}
