package streams

import (
	"testing"

	"oriel/operators"
	"oriel/state"
	"oriel/state/frame"
)

// heard is a machine of names whose open step has one part at each save.
type heard struct {
	operators.Machine
	steps uint64
	parts int
	taken []string
}

func (h *heard) Steps() uint64           { return h.steps }
func (h *heard) Naming() operators.Names { return h }
func (h *heard) NamesAgain()             {}
func (h *heard) NamesBytes() int         { return 0 }

func (h *heard) NamesPart(int) (payload []byte, is bool) {
	h.parts++
	return []byte{byte('a' + h.parts/2)}, h.parts%2 == 1
}

func (h *heard) TakeNames(payload []byte) error {
	h.taken = append(h.taken, string(payload))
	return nil
}

// TestNamesOfAClosedStepAreNotTaken saves names in two steps. Only the segments of the open step belong to the state,
// so a stream that is restored after the end of a step takes none. Those of the earlier step are deleted with the first
// save of names in a later one. Segments in other places are refused.
func TestNamesOfAClosedStepAreNotTaken(t *testing.T) {
	sealer, err := state.NewIncarnation(state.Incarnation{Stream: "t"}).Sealer()
	if err != nil {
		t.Fatal(err)
	}
	changelog := map[string][]byte{}
	h := &heard{steps: 6}
	s := &Stream{machine: h, base: 100}
	save := func() {
		for _, r := range s.Save(nil, sealer) {
			if changelog[string(r.Key)] = r.Value; r.Value == nil {
				delete(changelog, string(r.Key))
			}
		}
	}
	swapped := false
	open := func(kind frame.Kind, span uint64, number uint32) (state.Segment, error) {
		if swapped {
			number = 1 - number
		}
		return sealer.OpenSegment(kind, changelog[string(sealer.SegmentKey(kind, span, number))])
	}
	save()
	save()
	if saved := s.Saved(); len(saved) != 1 || saved[0] != (Saved{frame.KindNames, 107, 2}) || len(changelog) != 2 {
		t.Errorf("%+v, %d segments", saved, len(changelog))
	}
	if err := s.Take(open); err != nil || len(h.taken) != 2 {
		t.Errorf("%v, %q", err, h.taken)
	}
	if swapped = true; s.Take(open) == nil {
		t.Error("segments in other places are taken")
	}
	h.steps, h.taken, swapped = 7, nil, false
	if saved := s.Saved(); saved[0] != (Saved{frame.KindNames, 108, 0}) || len(changelog) != 2 {
		t.Errorf("%+v, %d segments", saved, len(changelog))
	}
	if err := s.Take(open); err != nil || h.taken != nil {
		t.Errorf("%v, %q of a closed step", err, h.taken)
	}
	if save(); len(changelog) != 1 || s.Saved()[0] != (Saved{frame.KindNames, 108, 1}) {
		t.Errorf("%+v, %d segments", s.Saved(), len(changelog))
	}
	again, rest, err := cutNames(s.saved.append([]byte("state")))
	if err != nil || again != s.saved || string(rest) != "state" {
		t.Errorf("%v: %+v, %q", err, again, rest)
	}
	for _, bad := range []savedNames{{segments: 2, bytes: 1}, {bytes: 1}, {segments: 1, bytes: 1, whole: 2}} {
		if _, _, err := cutNames(bad.append(nil)); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
	if _, _, err := cutNames(make([]byte, savedNamesLen-1)); err == nil {
		t.Error("a short state is taken")
	}
}
