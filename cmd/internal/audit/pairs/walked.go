package pairs

import (
	"fmt"
	"math"

	"oriel/cmd/internal/audit/subject"
	"oriel/mechanisms/steps"
	"oriel/operators"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/streams"
	"oriel/schemas/event"
	"oriel/schemas/text"
)

// walked is a neighbours.Machine whose records go through the same walk as the service's. An event of a user that comes
// too soon becomes a null event, and a record key is read only for machines with keys. walked stands in for the
// decoder: the value of an event counts as decoded, and the value of a null event as malformed.
//
// If there are users, a record's key names its user.
type walked struct {
	operators.Machine
	walk    streams.Walk
	handing *handing
	state   []byte // last result of AppendPublic
}

// handing passes records to the machine. It replaces the decoder's result by the event of the original record.
type handing struct {
	operators.Machine
	event     event.Event
	decisions []operators.Decision // decisions since the last record
}

// Open implements operators.Machine.
func (h *handing) Open(dst []operators.Decision) []operators.Decision {
	h.decisions = h.Machine.Open(h.decisions[:0])
	return append(dst, h.decisions...)
}

// Add implements operators.Machine.
func (h *handing) Add(r operators.Record) {
	if r.Event = (event.Event{}); !r.Null {
		r.Event = h.event
	}
	h.decisions = h.decisions[:0]
	h.Machine.Add(r)
}

// Close implements operators.Machine.
func (h *handing) Close(dst []operators.Decision) []operators.Decision {
	h.decisions = h.Machine.Close(h.decisions)
	return append(dst, h.decisions...)
}

// opener is a streams.Opener that returns its own machine.
type opener struct {
	operator operators.Operator
	machine  operators.Machine
}

func (o opener) Operator() operators.Operator { return o.operator }

func (o opener) Params() ([]byte, error) { return nil, nil }

func (o opener) Open([]byte) (func(key [32]byte) (operators.Machine, error), error) {
	return func([32]byte) (operators.Machine, error) { return o.machine, nil }, nil
}

// The two values of records. The decoder of walked accepts the first and refuses the second.
var (
	decoded   = []byte(`{"event":1}`)
	malformed = []byte(`{`)
)

// walkOf returns the machine as a walked: its records first pass the checks that a service's records pass.
func walkOf(a *subject.Subject, m operators.Machine) (*walked, error) {
	h := &handing{Machine: m}
	body := event.Body{Name: "audit", Members: []event.Member{{Name: "event", Kind: event.KindNumber}}}
	users := a.Users
	if users != nil {
		byKey := *users
		byKey.Header, users = "", &byKey
	}
	model := streams.Model{
		Events: event.Config{Body: body, MaxBytes: len(decoded)}, Users: users, Keyed: a.Users == nil,
		Semantics: streams.Semantics, Learner: opener{a.Operator, h},
	}
	stream, err := streams.OpenStream(model, nil, a.Key(), a.Key(), "audit", [16]byte{})
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	return &walked{Machine: m, handing: h, walk: streams.Walk{
		Stream: stream, Decided: func(uint8, []byte, []byte) {}, Taken: func(*records.Record, int64, text.Code) {},
	}}, nil
}

// Open implements neighbours.Machine.
func (w *walked) Open(dst []operators.Decision) []operators.Decision {
	w.walk.Start()
	return append(dst, w.handing.decisions...)
}

// Add takes a record as the service does.
func (w *walked) Add(dst []operators.Decision, r operators.Record) []operators.Decision {
	of := records.Record{Key: r.Key, Value: decoded}
	if of.Offset, of.LeaderEpoch = r.Identity.Offset, r.Identity.LeaderEpoch; r.Null {
		of.Value = malformed
	}
	w.handing.event = r.Event
	w.walk.Partition, w.walk.Position.Topic, w.walk.Position.Next = r.Identity.Partition, r.Identity.Topic, of.Offset
	batch := fetch.Batch{Records: []records.Record{of}, From: of.Offset, Next: of.Offset + 1, LeaderEpoch: of.LeaderEpoch}
	batch.Partition = r.Identity.Partition
	if err := w.walk.Take(&batch, func() int64 { return math.MaxInt64 }); err != nil {
		panic("BUG: auditor: a walk stops: " + err.Error())
	}
	return append(dst, w.handing.decisions...)
}

// AppendState appends the state, including the user index.
func (w *walked) AppendState(dst []byte) []byte { return w.walk.Stream.AppendState(dst) }

// StateLen returns the length of the state, bytes.
func (w *walked) StateLen() int { return len(w.walk.Stream.AppendState(nil)) }

// Restore restores the state.
func (w *walked) Restore(state []byte) error { return w.walk.Stream.Restore(state) }

// AppendPublic appends the state that neighbouring streams share: which users the index holds, and when their events
// came.
func (w *walked) AppendPublic(dst []byte) []byte {
	if shared, ok := w.Machine.(interface{ AppendPublic(dst []byte) []byte }); ok {
		dst = shared.AppendPublic(dst)
	}
	w.state = w.AppendState(w.state[:0])
	return append(dst, w.state[steps.CountLen+w.Machine.StateLen():]...)
}
