package pipeline

import (
	"testing"

	"oriel/pipeline/kafka"
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
