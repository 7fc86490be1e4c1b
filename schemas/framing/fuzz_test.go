package framing

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/schemas/mapping"
	"oriel/schemas/mapping/mappingtest"
	"oriel/schemas/text"
)

// indexes holds the indices of message types in testTable, by id; nil for an encoding without an index.
var indexes = map[uint32][]int{1: nil, 2: {0}, 3: {1, 0, 70}}

func testTable(t testing.TB) mapping.Source {
	t.Helper()
	var entries []Entry
	for id, index := range indexes {
		entries = append(entries, Entry{ID: id, Index: index, Open: echo})
	}
	table, err := NewTable(entries)
	if err != nil {
		t.Fatal(err)
	}
	source, err := table.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// framed returns records of testTable.
func framed() (records [][]byte) {
	for id, index := range indexes {
		record := binary.BigEndian.AppendUint32([]byte{0}, id)
		if index != nil {
			record = binary.AppendVarint(record, int64(len(index)))
		}
		for _, place := range index {
			record = binary.AppendVarint(record, int64(place))
		}
		records = append(records, append(record, "event"...))
	}
	slices.SortFunc(records, bytes.Compare)
	return append(records, []byte{0, 0, 0, 0, 2, 0, 'e'})
}

// slowConfluent reads a record with the varints of the standard library.
func slowConfluent(record []byte) (event []byte, code text.Code) {
	r := bytes.NewReader(record)
	var header struct {
		Magic byte
		ID    uint32
	}
	if binary.Read(r, binary.BigEndian, &header) != nil || header.Magic != 0 {
		return nil, text.UnknownFraming
	}
	want, known := indexes[header.ID]
	if !known {
		return nil, text.UnknownSchema
	}
	if want != nil {
		left := r.Len()
		count, err := binary.ReadVarint(r)
		if err != nil || count < 0 || count > int64(left) {
			return nil, text.UnknownFraming
		}
		index := []int64{0}[:max(1-count, 0)]
		for range count {
			place, err := binary.ReadVarint(r)
			if err != nil {
				return nil, text.UnknownFraming
			}
			index = append(index, place)
		}
		if !slices.EqualFunc(index, want, func(a int64, b int) bool { return a == int64(b) }) {
			return nil, text.UnknownSchema
		}
	}
	return record[len(record)-r.Len():], text.OK
}

// FuzzConfluent compares the framing of any record with the slow reader, and checks that nothing is allocated.
func FuzzConfluent(f *testing.F) {
	for _, record := range framed() {
		f.Add(record)
	}
	for _, list := range []string{
		strings.Repeat("\xff", 9) + "\x01",                // a list of −2^63 indices
		"\xfe" + strings.Repeat("\xff", 8) + "\x01",       // a list of 2^63 − 1 indices
		strings.Repeat("\x80", 9) + "\x02",                // a count of 65 bits
		"\x80\x00",                                        // the count 0 in two bytes
		"\x02" + strings.Repeat("\x80", 10) + "\x00",      // an index of 11 bytes
		"\xd0\x0f" + strings.Repeat("\x00", 999) + "\x80", // a list of 1000 indices, the last one truncated
		"\xd0\x0f" + strings.Repeat("\x02", 1000),         // a list of 1000 indices
	} {
		f.Add([]byte("\x00\x00\x00\x00\x02" + list))
	}
	source, values := testTable(f), make([]mapping.Value, 1)
	f.Fuzz(func(t *testing.T, record []byte) {
		var code text.Code
		tiertest.Allocates(t, mappingtest.Nothing, func() { code = source.Fill(values, record) })
		event, want := slowConfluent(record)
		if code != want || code == text.OK && !bytes.Equal(values[0].Text, event) {
			t.Fatalf("%x: %v, %x, want %v, %x", record, code, values[0].Text, want, event)
		}
		if _, rest, ok := Header(record); ok {
			tiertest.Allocates(t, mappingtest.Nothing, func() { Index(rest) })
		}
	})
}

// TestPlacesOfAMessageTypeAreBounded checks that an index of more than a hundred numbers is refused, although a record
// could contain a longer index.
func TestPlacesOfAMessageTypeAreBounded(t *testing.T) {
	for n, want := range map[int]bool{1: true, 100: true, 101: false, 1 << 20: false} {
		list := append(binary.AppendVarint(nil, int64(n)), make([]byte, n)...)
		tiertest.Allocates(t, mappingtest.Nothing, func() {
			if index, ok := Index(list); ok != want || ok && len(index) != n {
				t.Errorf("%d places: %v, %d of them", n, ok, len(index))
			}
		})
	}
}

// TestReadingDamagedFramings checks that removing the framing of any record neither panics nor allocates: 10^8 damaged
// records in the long tier.
func TestReadingDamagedFramings(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 31))
	source, within := testTable(t), make([]mapping.Path, 1)
	cloud := &cloudSource{}
	events := [][]byte{
		[]byte(`{"specversion":"1.0","data":{"a":[1,"b"]}}`), []byte(`{"specversion":"1.0","type":"x","data_base64":"AQID"}`),
	}
	cloud.Fill(nil, events[1]) // its buffer grows at the first use
	for range tiertest.Runs(250, 25_000) {
		mappingtest.ReadDamaged(t, r, source, within, framed())
		mappingtest.ReadDamaged(t, r, cloud, within, events)
	}
}

// cloudSource reads CloudEvents in the form that ReadDamaged needs.
type cloudSource struct{ cloudEvent }

func (s *cloudSource) Fill(_ []mapping.Value, record []byte) text.Code {
	_, code := s.content(record)
	return code
}
