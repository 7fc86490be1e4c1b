package deadletters

import (
	"bytes"
	"strings"
	"testing"

	"oriel/pipeline/kafka/records"
	"oriel/schemas/event"
	"oriel/schemas/text"
)

// TestALetterFitsItsBatch checks that even a key or headers that were huge before compression never make a letter that
// the broker would refuse for ever.
func TestALetterFitsItsBatch(t *testing.T) {
	huge := make([]byte, 3<<20)
	for name, r := range map[string]records.Record{
		"small": {
			Key: []byte("k"), Value: []byte("x"), Headers: records.HeadersOf(records.Header{Key: "h", Value: []byte("v")}),
		},
		"key":     {Key: huge, Value: []byte("x")},
		"value":   {Value: huge},
		"headers": {Value: []byte("x"), Headers: records.HeadersOf(records.Header{Key: "h", Value: huge})},
		"many":    {Value: []byte("x"), Headers: records.HeadersOf(make([]records.Header, 100_000)...)},
		"all":     {Key: huge, Value: huge, Headers: records.HeadersOf(records.Header{Key: string(huge), Value: huge})},
		"nothing": {},
	} {
		for _, limit := range []int{400, 1000, 200_000, 300_000, 4 << 20} {
			for _, most := range []int{1000, 10 << 20} {
				l, ok := newLetter("topic", 3, &r, text.Empty, most, limit)
				if !ok {
					t.Fatalf("%s, limit %d: no letter", name, limit)
				}
				var b records.Builder
				b.Append(l.key, l.value, l.headers, 1)
				if b.Bytes() > limit {
					t.Errorf("%s: a batch of %d bytes, want at most %d", name, b.Bytes(), limit)
				}
				whole := bytes.Equal(l.key, r.Key) && bytes.Equal(l.value, r.Value) && len(l.headers) == r.Headers.Len()+4
				if (name == "small" || name == "nothing") && limit >= 1000 && !whole {
					t.Errorf("%s, limit %d: what fits is cut", name, limit)
				}
				if marked := hasHeader(l.headers, headerTruncated); marked == whole {
					t.Errorf("%s, limit %d: whole %t, marked as truncated %t", name, limit, whole, marked)
				}
				if limit == 300_000 && len(r.Key)+len(r.Value) > limit && len(l.key)+len(l.value) < keptBytes {
					t.Errorf("%s: %d and %d bytes are kept", name, len(l.key), len(l.value))
				}
				if (l.key == nil) != (r.Key == nil) || (l.value == nil) != (r.Value == nil) {
					t.Errorf("%s: null is not null any more", name)
				}
			}
		}
		if _, ok := newLetter("topic", 3, &r, text.Empty, 0, 100); ok {
			t.Errorf("%s: a letter in 100 bytes", name)
		}
	}
}

func hasHeader(headers []records.Header, name string) bool {
	for _, h := range headers {
		if h.Key == name {
			return true
		}
	}
	return false
}

func TestPlacesAreNotedAndRead(t *testing.T) {
	id := [16]byte{1, 2, 15: 9}
	for _, want := range []noted{{id, 1 << 40, cause{}}, {id, 0, rowsDeleted}, {id, 7, rowsLost}} {
		if got, ok := parseNote(note(want.verdicts, want.sum, want.pending)); got != want || !ok {
			t.Errorf("%+v, %t; want %+v", got, ok, want)
		}
	}
	good := note(id, 3, cause{})
	if want := "01020000000000000000000000000009 3"; good != want {
		t.Errorf("note %q, want %q", good, want)
	}
	for _, text := range []string{
		"", " ", "x", "0102", good[2:], note(id, -1, cause{}), good + "x", good + " 4", good + " json_syntax",
		good + " " + rowsLost.reason + " ",
	} {
		if _, ok := parseNote(text); ok {
			t.Errorf("%q is read as a note", text)
		}
	}
}

// placed has the first offset from which on the records of a partition can be decoded.
type placed struct {
	event.Decoder
	partition int32
	from      int64
	known     bool
}

func (d *placed) At(partition int32, offset int64) {
	d.known = partition == d.partition && offset >= d.from
}

func (d *placed) Decode(e *event.Event, record []byte) text.Code {
	if !d.known {
		return text.UnknownSchema
	}
	return d.Decoder.Decode(e, record)
}

// TestDetailsOfALetter checks that a letter explains the fault if a decoder finds the same fault and there is room. The
// explanation is short, whatever the record contains.
func TestDetailsOfALetter(t *testing.T) {
	var members []event.Member
	for i := range event.MaxMembers {
		members = append(members, event.Member{
			Name: strings.Repeat("a", 30) + string(rune('a'+i%26)) + strings.Repeat("b", i/26), Kind: event.KindNumber,
		})
	}
	d, err := event.NewJSONDecoder(event.Config{Body: event.Body{Name: "b", Members: members}, MaxBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	detail := func(d event.Decoder, r *records.Record, code text.Code, limit int) (text string) {
		l, _ := newLetter("topic", 3, r, code, 1<<20, 1<<20)
		before := len(l.headers)
		l = detailed(l, d, 3, r, code, limit)
		for _, h := range l.headers[before:] {
			if h.Key == headerDetail {
				text += string(h.Value)
			}
		}
		if l.size() > limit && len(l.headers) > before {
			t.Errorf("a letter of %d bytes, want at most %d", l.size(), limit)
		}
		return text
	}
	r := &records.Record{Value: []byte(`{"é":1}`), Headers: records.HeadersOf(make([]records.Header, 3)...)}
	s := detail(d, r, text.UnknownName, 1<<20)
	if !strings.HasPrefix(s, `unknown_name: unknown member "é": events have aaa`) || len(s) != mostDetail {
		t.Errorf("%d bytes: %s", len(s), s)
	}
	if got := detail(&placed{d, 3, 0, false}, r, text.UnknownName, 1<<20); got != s {
		t.Errorf("once its schema is known: %s", got)
	}
	for name, got := range map[string]string{
		"no decoder":    detail(nil, r, text.UnknownName, 1<<20),
		"another fault": detail(d, r, text.TooSoon, 1<<20),
		"no room":       detail(d, r, text.UnknownName, 300),
		"not known yet": detail(&placed{d, 3, 1, true}, r, text.UnknownName, 1<<20),
		"unreadable":    detail(d, &records.Record{Value: r.Value, Unreadable: true}, text.UnknownName, 1<<20),
	} {
		if got != "" {
			t.Errorf("%s: %s", name, got)
		}
	}
	if l := detailed(deadLetter{}, d, 3, nil, text.UnknownName, 1<<20); l.headers != nil {
		t.Error("a letter of a record that is gone has details")
	}
}

// TestOffsetsOfALetter checks that headers of the record itself cannot make its letter look like the letter of a gap.
func TestOffsetsOfALetter(t *testing.T) {
	own := []records.Header{
		{Key: headerLost, Value: []byte("true")},
		{Key: headerUntil, Value: []byte("90")},
		{Key: headerReason, Value: []byte(rowsLost.reason)},
	}
	r := records.Record{Public: records.Public{Offset: 7}, Headers: records.HeadersOf(own...)}
	whole, _ := newLetter("events", 2, &r, text.JSONSyntax, 100, 10_000)
	for _, c := range []struct {
		name        string
		headers     []records.Header
		partition   int32
		from, until int64
		ok          bool
	}{
		{"a record's", whole.headers, 2, 7, 8, true},
		{"a lost one's", lostLetter("events", 2, 7, text.JSONSyntax).headers, 2, 7, 8, true},
		{"a gap's", gapLetter("events", 0, gap{from: 7, until: 12, why: rowsLost}).headers, 0, 7, 12, true},
		{"of another input", lostLetter("others", 2, 7, text.JSONSyntax).headers, 0, 0, 0, false},
		{"of no partition", lostLetter("events", -1, 7, text.JSONSyntax).headers, 0, 0, 0, false},
		{"no letter", own, 0, 0, 0, false},
	} {
		p, from, until, ok := letterOf("events", records.HeadersOf(c.headers...))
		if ok != c.ok || ok && (p != c.partition || from != c.from || until != c.until) {
			t.Errorf("%s: partition %d, %d to %d, %t", c.name, p, from, until, ok)
		}
	}
}
