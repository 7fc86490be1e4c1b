package table

import (
	"cmp"
	"errors"
	"io"
	"slices"

	"oriel/schemas/text"
)

// sorted holds the sorted events of a table. Texts are in one arena, because a million small allocations would cost
// more than the sort.
type sorted struct {
	missing
	arena []byte
	rows  []sortedRow
	at    int
	keys  []sortKey
}

// sortedRow holds end positions in the arena: each text of the row starts where the previous one ends.
type sortedRow struct {
	start, event, partition, key int
	hasKey                       bool
	index                        int // row number in the file, and in the columns of sort keys
}

// sortKey holds the cells of one sort column, by index of the row.
type sortKey struct {
	texts   []string
	numbers []float64 // numeric keys; complete if all present cells are numbers
}

func readSorted(s *source) (*sorted, error) {
	t := &sorted{missing: s.cells.missing, keys: make([]sortKey, len(s.sort))}
	interned := map[string]string{} // sort cells repeat (months, days, hours), so equal texts share memory
	for {
		row := sortedRow{start: len(t.arena), index: len(t.rows)}
		event, cells, err := s.next(t.arena)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		t.arena = event
		row.event = len(t.arena)
		t.arena = append(t.arena, cell(cells, s.partition)...)
		row.partition = len(t.arena)
		if key := cell(cells, s.key); !s.cells.has(key) {
			t.arena = append(t.arena, key...)
			row.hasKey = true
		}
		row.key = len(t.arena)
		t.rows = append(t.rows, row)
		for k, column := range s.sort {
			t.keys[k].add(cells[column], t.has(cells[column]), interned)
		}
	}
	slices.SortFunc(t.rows, t.compare)
	return t, nil
}

const maxInterned = 1 << 16

func (k *sortKey) add(s string, isMissing bool, interned map[string]string) {
	kept, found := interned[s]
	if !found {
		kept = string([]byte(s)) // copied, so that the buffer shared by the cells of a line can be freed
		if len(interned) < maxInterned {
			interned[kept] = kept
		}
	}
	if len(k.numbers) == len(k.texts) {
		number, ok := text.ParseDecimal([]byte(s))
		if ok || isMissing {
			k.numbers = append(k.numbers, number)
		}
	}
	k.texts = append(k.texts, kept)
}

// compare orders by the sort columns, then by position in the file, so that every sort algorithm is stable.
func (t *sorted) compare(a, b sortedRow) int {
	for i := range t.keys {
		k := &t.keys[i]
		x, y := k.texts[a.index], k.texts[b.index]
		order := 0
		switch {
		case t.has(x) || t.has(y):
			order = compareMissing(t.has(x), t.has(y))
		case len(k.numbers) == len(k.texts):
			order = cmp.Compare(k.numbers[a.index], k.numbers[b.index])
		default:
			order = cmp.Compare(x, y)
		}
		if order != 0 {
			return order
		}
	}
	return cmp.Compare(a.index, b.index)
}

func compareMissing(x, y bool) int {
	switch {
	case x == y:
		return 0
	case x:
		return 1
	default:
		return -1
	}
}

func (t *sorted) next() (Row, error) {
	if t.at == len(t.rows) {
		return Row{}, io.EOF
	}
	r := t.rows[t.at]
	t.at++
	row := Row{Event: t.arena[r.start:r.event:r.event], Partition: string(t.arena[r.event:r.partition])}
	if r.hasKey {
		row.Key = t.arena[r.partition:r.key:r.key]
	}
	return row, nil
}
