package bubbletest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"oriel/cmd/internal/decisiontest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/pipetest/simtest"
	"oriel/pipeline/streams"
	"oriel/pipeline/transaction"
	"oriel/schemas/decision"
	"oriel/state"
)

// TestTransactionsOfNeighboursAreEqual fills transactions with the decisions of each operator, in each encoding, and
// with the decisions of neighbours. Transactions close by the bytes of their decisions. Every record of every topic
// must have the same length, and every transaction must close at the same record, whether events are valid, empty or
// unreadable.
func TestTransactionsOfNeighboursAreEqual(t *testing.T) {
	for _, s := range append(subjects(t), candidates(t)) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.transactionsAreEqual(t)
		})
	}
}

// candidates returns a subject whose actions choose among more than ten candidates, so that choices have one digit or
// two. The features of later candidates are often zero, so that they cannot be chosen.
func candidates(t *testing.T) subject {
	t.Helper()
	s := subjectWith(t, "candidates blt", decisiontest.Env("blt", []string{
		"OPERATOR=linucb", "PLAYED=served", "CANDIDATES=12", "DIMENSION=1", "WINDOW=lifetime", "MEMORY=16", "EMIT_EVERY=4",
		"WAIT=20", "EPSILON=40",
	}))
	for i := range 120 {
		at := 7 * i % 12
		s.records = append(s.records, records.Record{
			Key:   fmt.Append(nil, "c", i),
			Value: fmt.Appendf(nil, `{"features":{"indices":[%d],"values":[1]}}`, at),
		})
	}
	return s
}

func (s subject) transactionsAreEqual(t *testing.T) {
	s.records = s.records[:min(len(s.records), tiertest.Runs(140, len(s.records)))]
	inputs := []func(i int) []byte{
		func(int) []byte { return nil },
		func(int) []byte { return []byte(`{}`) },
		func(i int) []byte { return without(s.records[i].Value, i) },
		func(i int) []byte { return []byte(either(i%2 == 0, string(s.records[i].Value))) },
		func(i int) []byte { return s.records[(i+5)%len(s.records)].Value },
		func(i int) []byte { return []byte(either(i == len(s.records)/2, string(s.records[i].Value))) },
	}
	model, err := silenced()(s.settings)
	if err != nil {
		t.Fatal(err)
	}
	for e, name := range decision.Encodings {
		model.Encoding = decision.Encoding(e)
		want := s.transactions(t, model, func(i int) []byte { return s.records[i].Value })
		for k, input := range inputs {
			if text := simtest.Difference(want, s.transactions(t, model, input)); text != "" {
				t.Errorf("%s, input %d: %s", name, k, text)
			}
		}
	}
}

// without returns an event without one of its members.
func without(event []byte, i int) []byte {
	var members map[string]json.RawMessage
	if json.Unmarshal(event, &members) != nil || len(members) == 0 {
		return event
	}
	names := slices.Sorted(maps.Keys(members))
	delete(members, names[i%len(names)])
	event, _ = json.Marshal(members) // members were valid
	return event
}

// transactions returns the lengths of all records of the transactions for an input, and the records at which the
// transactions close. Keys of the input are the subject's.
func (s subject) transactions(t *testing.T, model streams.Model, value func(i int) []byte) (seen sight) {
	t.Helper()
	params, err := model.Learner.Params()
	if err != nil {
		t.Fatal(err)
	}
	stream, err := streams.OpenStream(model, params, [32]byte{1}, [32]byte{2}, "0", [16]byte{3})
	if err != nil {
		t.Fatal(err)
	}
	sealer, err := state.NewIncarnation(state.Incarnation{Stream: "0"}).Sealer()
	if err != nil {
		t.Fatal(err)
	}
	const memory = 1 << 10 // bytes of decisions and statuses in a transaction
	b := transaction.NewBuilder(stream, 0, state.Position{}, sealer, nil)
	b.Transaction = transaction.New(records.NewPool(), false)
	decided := b.Decided
	b.Decided = func(output uint8, key, line []byte) {
		seen.see(fmt.Sprintf("decision for topic %d", output), fmt.Sprintf("key of %d, value of %d", len(key), len(line)))
		decided(output, key, line)
	}
	closed := 0
	closes := func() {
		b.Close()
		tx := b.Transaction
		line := fmt.Sprintf("to %d, rows of %d, state of %d", tx.Position.Next, tx.Rows.Bytes(), len(tx.Sealed))
		for i := range tx.Decisions {
			line += fmt.Sprintf(", decisions of %d in %d batches", tx.Decisions[i].Bytes(), len(tx.Decisions[i].Batches()))
		}
		seen.see("transaction", line)
		tx.Reset()
		closed++
	}
	b.Start()
	all := fetch.Batch{Next: int64(len(s.records)), Records: slices.Clone(s.records)}
	for i := range all.Records {
		all.Records[i].Offset, all.Records[i].Value = int64(i), value(i)
	}
	if err := b.Take(&all, func() int64 {
		if b.Transaction.Full(memory) {
			closes()
		}
		return streams.Untaken
	}); err != nil {
		t.Fatal(err)
	}
	closes()
	if closed < 3 {
		t.Errorf("%d transactions", closed)
	}
	return seen
}
