package changelog

import (
	"errors"
	"testing"

	"oriel/pipeline/streams"
	"oriel/state"
)

// A state that stands in another topic than its incarnation's is foreign, though the seal key is the same: its offsets
// would count other records.
func TestAStateOfAnotherTopicIsForeign(t *testing.T) {
	master := state.NewMasterKey([32]byte{1})
	inc := state.NewIncarnation(state.Incarnation{Topic: [16]byte{1}, Stream: "0"})
	sealer, err := inc.Sealer()
	if err != nil {
		t.Fatal(err)
	}
	sealed := sealer.Seal(nil, state.Position{Topic: [16]byte{2}, Next: 7}, []byte("state"))
	defer func() {
		if recover() != nil {
			t.Error("the stream is opened")
		}
	}()
	if _, err := OpenSaved(streams.Model{}, master, 0, inc.Seal(master), sealed); !errors.Is(err, state.ErrForeign) {
		t.Errorf("%v, want ErrForeign", err)
	}
}
