package service_test

import (
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/service"
	"oriel/cmd/internal/servicetest"
	"oriel/cmd/internal/settings"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/streams"
)

// underSemantics changes the host so that the service runs as a version that reads records in another way, which has
// this number.
func underSemantics(number uint32) func(*service.Host) {
	return func(h *service.Host) {
		h.Model = func(s settings.Settings) (streams.Model, error) {
			m := s.Model()
			m.Semantics = number
			return m, nil
		}
	}
}

// semantics returns the semantics number in the last committed state.
func (f *fixture) semantics() (number uint32) {
	f.T.Helper()
	sealer := f.sealer()
	for _, r := range f.Read(f.Topic("changelog"), 0, false) {
		if at, _, err := sealer.Open(r.Value); err == nil {
			number = at.Semantics
		}
	}
	return number
}

// takes sends events to a service with this semantics number, and checks that the service consumes them.
func (f *fixture) takes(number uint32, from, to int) {
	f.T.Helper()
	f.Send(0, servicetest.Events(from, to-from)...)
	s := f.serve(underSemantics(number), nil)
	f.AwaitTaken(time.Minute, int64(to))
	s.stop()
	if got := f.semantics(); got != number {
		f.T.Errorf("the state was written under semantics %d, want %d", got, number)
	}
}

// TestOtherSemanticsRepeatNothing checks an upgrade to a version that reads records differently. It must not publish
// other values of decisions that can still be read in an aborted transaction.
func TestOtherSemanticsRepeatNothing(t *testing.T) {
	t.Parallel()
	f, checkpoint := opened(t, nil, servicetest.Events(0, 20))
	f.takes(2, 20, 25)                 // all is committed, so the other version continues
	f.takes(streams.Semantics, 25, 30) // the first version continues in turn
	for _, torn := range []parts{0, decisionsPart, statusesPart | offsetPart} {
		from := int(f.taken())
		f.Send(0, servicetest.Events(from, 5)...)
		f.tear(torn, nil)
		before := len(f.Read(f.Topic("decisions"), 0, true))
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
		if after := len(f.Read(f.Topic("decisions"), 0, true)); after != before {
			t.Errorf("torn with %v committed: %d decisions were sent", torn, after-before)
		}
		f.takes(streams.Semantics, from+5, from+10) // the old version runs once, as the error advises
	}
	f.takes(2, int(f.taken()), int(f.taken())+5)
	f.wholeHistory(checkpoint, int(f.taken()), 1, 1)
}

// taken returns the offset up to which the input has been consumed.
func (f *fixture) taken() int64 {
	f.T.Helper()
	offset, err := group.CommittedOffset(f.Ctx(), f.Client, f.Name, f.Env["ORIEL_INPUT_TOPIC"], 0)
	if err != nil {
		f.T.Fatal(err)
	}
	return offset
}
