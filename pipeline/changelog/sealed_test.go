package changelog

import (
	"errors"
	"testing"

	"oriel/pipeline/streams"
	"oriel/state"
	"oriel/state/frame"
	"oriel/state/keys"
)

// TestAStateOfAnotherTopicIsForeign checks that OpenSaved refuses a state that names another topic or order log than
// its incarnation, even with the same seal key, because its offsets would number other records.
func TestAStateOfAnotherTopicIsForeign(t *testing.T) {
	master := keys.NewMasterKey([32]byte{1})
	ordered := func(log byte) *state.Ordered { return &state.Ordered{Log: [16]byte{log}, LeaderEpoch: -1} }
	for _, c := range []struct {
		of *state.Ordered
		at state.Position
	}{
		{nil, state.Position{Topic: [16]byte{2}, Semantics: 1, Next: 7}},
		{nil, state.Position{Topic: [16]byte{1}, Semantics: 1, LeaderEpoch: -1, Order: ordered(1)}},
		{ordered(1), state.Position{Topic: [16]byte{1}, Semantics: 1, Next: 7}},
		{ordered(1), state.Position{Topic: [16]byte{1}, Semantics: 1, LeaderEpoch: -1, Order: ordered(2)}},
	} {
		inc := state.NewIncarnation(state.Incarnation{Topic: [16]byte{1}, Stream: "0", Order: c.of})
		sealer, err := inc.Sealer()
		if err != nil {
			t.Fatal(err)
		}
		sealed := sealer.Seal(nil, c.at, []byte("state"))
		if err := opening(master, inc.Seal(master), sealed); !errors.Is(err, frame.ErrForeign) {
			t.Errorf("a state at %+v, order %v: %v, want ErrForeign", c.at, c.at.Order, err)
		}
	}
}

// opening returns the error of OpenSaved for a state. If OpenSaved accepted the state, it would panic, because there is
// no model.
func opening(master *keys.MasterKey, record, sealed []byte) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("the stream is opened")
		}
	}()
	_, err = new(View).OpenSaved(streams.Model{}, master, 0, record, sealed)
	return err
}
