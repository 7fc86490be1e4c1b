package main

import (
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/settings"
	"oriel/pipeline/streams"
)

// underSemantics runs the service as a version would that reads records otherwise.
func underSemantics(number uint32) func(*host) {
	return func(h *host) {
		h.model = func(s settings.Settings) (streams.Model, error) {
			m, err := s.Model()
			m.Semantics = number
			return m, err
		}
	}
}

// semantics is the number of the last committed state.
func (f *fixture) semantics() (number uint32) {
	f.t.Helper()
	sealer := f.sealer()
	for _, r := range f.read(f.topic("changelog"), 0, false) {
		if at, _, err := sealer.Open(r.Value); err == nil {
			number = at.Semantics
		}
	}
	return number
}

// takes sends events to a service of some semantics, which must take them.
func (f *fixture) takes(number uint32, from, to int) {
	f.t.Helper()
	f.send(0, events(from, to-from)...)
	s := f.serve(underSemantics(number), nil)
	f.awaitTaken(time.Minute, int64(to))
	s.stop()
	if got := f.semantics(); got != number {
		f.t.Errorf("the state was written under semantics %d, want %d", got, number)
	}
}

// TestOtherSemanticsRepeatNothing: a version that reads a record otherwise would redraw the noise of steps whose
// decisions stand readable in an aborted transaction.
func TestOtherSemanticsRepeatNothing(t *testing.T) {
	t.Parallel()
	f, checkpoint := opened(t, nil, events(0, 20))
	f.takes(2, 20, 25)                 // nothing uncommitted: it goes on
	f.takes(streams.Semantics, 25, 30) // and back
	for _, torn := range []parts{0, decisionsPart, verdictsPart | offsetPart} {
		from := int(f.taken())
		f.send(0, events(from, 5)...)
		f.tear(torn, nil)
		before := len(f.read(f.topic("decisions"), 0, true))
		s := f.serve(underSemantics(2), nil)
		select {
		case <-s.done:
		case <-time.After(time.Minute):
			t.Fatal("the service goes on")
		}
		if s.err == nil || !strings.Contains(s.err.Error(), "semantics 1, this version has 2") ||
			!strings.Contains(s.err.Error(), "old version once") {
			t.Errorf("torn with %v committed: %v", torn, s.err)
		}
		if after := len(f.read(f.topic("decisions"), 0, true)); after != before {
			t.Errorf("torn with %v committed: %d decisions were sent", torn, after-before)
		}
		f.takes(streams.Semantics, from+5, from+10) // the old version, once
	}
	f.takes(2, int(f.taken()), int(f.taken())+5)
	f.wholeHistory(checkpoint, int(f.taken()), 1, 1)
}

// taken is how far the input was taken.
func (f *fixture) taken() int64 {
	f.t.Helper()
	offset, err := f.client.CommittedOffset(f.ctx(), f.name, f.env["ORIEL_INPUT_TOPIC"], 0)
	if err != nil {
		f.t.Fatal(err)
	}
	return offset
}
