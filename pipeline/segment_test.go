package pipeline

import (
	"testing"

	"oriel/pipeline/kafka"
	"oriel/schemas"
)

func TestBatchesStayWithinTheBrokersLimit(t *testing.T) {
	var b batches
	total := 0
	for i := range 5000 {
		b.append([]byte("0"), make([]byte, i), []kafka.Header{{Key: "k", Value: []byte("v")}}, 1)
		total++
	}
	b.append(nil, make([]byte, 2_000_000), nil, 1) // larger than a batch: alone in one
	count := 0
	for i, builder := range b.all() {
		if last := i == len(b.all())-1; builder.Bytes() > batchBytes+1000 && !last {
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
	b.reset()
	b.append(nil, []byte("x"), nil, 1)
	if b.bytes == 0 || len(b.all()) != 1 || b.all()[0].Count() != 1 || len(b.builders) != builders {
		t.Error("a reset does not start over with the same builders")
	}
}

// TestWhereATransactionClosesDependsOnPublicSizes: a segment of dead letters is as full as one of valid records.
func TestWhereATransactionClosesDependsOnPublicSizes(t *testing.T) {
	r := kafka.Record{Value: make([]byte, 1000)}
	valid, invalid := new(segment), new(segment)
	for _, g := range []*segment{valid, invalid} {
		g.taken += 1000 + recordOverhead
		g.decide([]byte("0"), make([]byte, 500), 1)
	}
	invalid.letter("topic", 0, &r, schemas.Empty, 10_000, 1<<20, 1)
	if valid.bytes() != invalid.bytes() {
		t.Errorf("%d and %d bytes for records of one size", valid.bytes(), invalid.bytes())
	}
}

// TestALetterFitsItsTopic: a key or headers as large as a compressed batch can hide must not make a letter that the broker
// refuses for ever.
func TestALetterFitsItsTopic(t *testing.T) {
	const limit = 300_000
	large := make([]byte, 3<<20)
	for name, r := range map[string]kafka.Record{
		"key":     {Key: large, Value: []byte("x")},
		"value":   {Value: large},
		"headers": {Value: []byte("x"), Headers: []kafka.Header{{Key: "h", Value: large}}},
		"many":    {Value: []byte("x"), Headers: make([]kafka.Header, 100_000)},
		"all":     {Key: large, Value: large, Headers: []kafka.Header{{Key: string(large), Value: large}}},
	} {
		var g segment
		g.letter("topic", 0, &r, schemas.Empty, 10<<20, limit, 1)
		if size := g.letters.all()[0].Bytes(); size > limit {
			t.Errorf("%s: a letter of %d bytes, want at most %d", name, size, limit)
		}
	}
}
