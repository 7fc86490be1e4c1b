package pipeline

import (
	"testing"
	"testing/synctest"
	"time"

	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/loss"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/notice"
	"oriel/pipeline/streams"
	"oriel/pipeline/transaction"
	"oriel/schemas/event"
	"oriel/state"
)

// endingLearner opens machines whose guarantee covers three steps.
type endingLearner struct{ testLearner }

func (endingLearner) Open([]byte) (func([32]byte) (operators.Machine, error), error) {
	return func([32]byte) (operators.Machine, error) { return new(endingMachine), nil }, nil
}

type endingMachine struct{ testMachine }

func (m *endingMachine) Guarantee() protection.Guarantee {
	g := m.testMachine.Guarantee()
	g.Scope = protection.Lifetime{Steps: 3, Within: 3}
	return g
}

// TestComputingEndsAtTheHorizon checks that a computer hands over all records before the one that must not be taken,
// and then ends with the reason. It must not wait for further Batches.
func TestComputingEndsAtTheHorizon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body, _ := loss.Body("linear", 1)
		s, err := streams.OpenStream(streams.Model{
			Events: event.Config{
				Body: body, Dimension: 1, MaxBytes: 100, Features: event.FeatureConfig{Norm: "none"},
			},
			Learner: endingLearner{testLearner{testOperator{output: &operators.Output{}}}},
		}, nil, [32]byte{}, [32]byte{}, "0", [16]byte{})
		if err != nil {
			t.Fatal(err)
		}
		sealer, err := state.NewIncarnation(state.Incarnation{Stream: "0"}).Sealer()
		if err != nil {
			t.Fatal(err)
		}
		filled, free := make(chan *transaction.Transaction, 2), make(chan *transaction.Transaction, 2)
		for range cap(free) {
			free <- transaction.New(records.NewPool(), false)
		}
		at := state.Position{Next: 10, LeaderEpoch: 3}
		c := &computer{
			Builder: transaction.NewBuilder(s, 0, at, sealer, nil), interval: time.Hour, filled: filled, free: free,
			memory: 1 << 20, input: 1 << 20,
		}
		batch := &fetch.Batch{From: 10, Next: 15, Stable: 15, LeaderEpoch: 3}
		for offset := batch.From; offset < batch.Next; offset++ {
			batch.Records = append(batch.Records, records.Record{
				Public: records.Public{Offset: offset, LeaderEpoch: 3, Length: 12}, Value: []byte(`{"cost":[1]}`),
			})
		}
		batches, ended := make(chan fetched, 1), make(chan error, 1)
		batches <- fetched{Batch: batch}
		go func() { ended <- c.run(t.Context(), batches) }()
		synctest.Wait()
		select {
		case err := <-ended:
			if notice.Kind(err) != notice.Stopped {
				t.Errorf("ended with %v, want a stop", err)
			}
		default:
			t.Error("waits for records behind the horizon")
			close(batches)
			t.Log(<-ended)
		}
		select {
		case tx := <-filled:
			if tx.Position.Next != 13 || tx.Records != 3 {
				t.Errorf("handed over %d records up to %d, want 3 up to 13", tx.Records, tx.Position.Next)
			}
		default:
			t.Error("nothing is handed over")
		}
	})
}
