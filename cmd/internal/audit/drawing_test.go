package audit

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"oriel/cmd/internal/audit/subject"
	"oriel/mechanisms"
	"oriel/operators"
)

// drawingSubject returns a subject that publishes sets drawn by the exponential mechanism.
func drawingSubject(t *testing.T, more ...string) *subject.Subject {
	t.Helper()
	return subjectOf(t, append([]string{
		"ORIEL_OPERATOR=submodular", "ORIEL_RULE=draws", "ORIEL_MECHANISM=draws", "ORIEL_PICK=2", "ORIEL_ELEMENTS=5",
		"ORIEL_WINDOW=horizon", "ORIEL_HORIZON=64", "ORIEL_EMIT_EVERY=4",
	}, more...)...)
}

// TestAuditOfDraws checks that nothing is refuted, and that an exchange changes the distribution of a draw by as much
// as the privacy account allows.
func TestAuditOfDraws(t *testing.T) {
	for _, more := range [][]string{
		{}, {"ORIEL_ADJACENCY=zero-out", "ORIEL_BATCH=2"}, {"ORIEL_DELTA=0", "ORIEL_EMIT_EVERY=1"},
	} {
		r := honest(t, drawingSubject(t, more...))
		var out bytes.Buffer
		if err := r.Print(&out); err != nil || r.Err() != nil {
			t.Errorf("%v: %v, %v", more, err, r.Err())
		}
		if !strings.Contains(out.String(), "up to 1.000 of it") || !strings.Contains(out.String(), "none is released") {
			t.Errorf("%v: %s", more, out.String())
		}
	}
}

// playedSubject returns a subject that first explores and then draws sets from the feedback to its explorations.
func playedSubject(t *testing.T, more ...string) *subject.Subject {
	t.Helper()
	return subjectOf(t, append([]string{
		"ORIEL_OPERATOR=sets", "ORIEL_RULE=draws", "ORIEL_MECHANISM=draws", "ORIEL_PICK=2", "ORIEL_ELEMENTS=a,b,c",
		"ORIEL_WINDOW=horizon", "ORIEL_HORIZON=256", "ORIEL_SHARE=0.5",
	}, more...)...)
}

// TestAuditOfPlayedSets audits sets that are drawn after explorations: nothing may be refuted. An exchange must change
// one draw at a time, by as much as the privacy account allows. For sets found by successive halving, a canary must
// reach the whole claim.
func TestAuditOfPlayedSets(t *testing.T) {
	for _, more := range [][]string{
		{}, {"ORIEL_ADJACENCY=zero-out", "ORIEL_BATCH=2", "ORIEL_SHARE=1"}, {"ORIEL_DELTA=0", "ORIEL_COINS=capped"},
	} {
		r := honest(t, playedSubject(t, more...))
		var out bytes.Buffer
		if err := r.Print(&out); err != nil || r.Err() != nil {
			t.Errorf("%v: %v, %v", more, err, r.Err())
		}
		if !strings.Contains(out.String(), "up to 1.000 of it") {
			t.Errorf("%v: %s", more, out.String())
		}
	}
	a := subjectOf(t, "ORIEL_OPERATOR=sets", "ORIEL_PICK=2", "ORIEL_ELEMENTS=a,b,c", "ORIEL_MECHANISM=once-gamma",
		"ORIEL_WINDOW=lifetime", "ORIEL_BATCH=2")
	r := honest(t, a)
	if err := r.Verdict(); err != nil {
		t.Error(err)
	}
	most := 0.0
	for _, attack := range r.attacks {
		most = max(most, attack.Law.Reach())
	}
	if claim := a.Guarantee.Epsilon; most > claim*(1+1e-9) || most < 0.99*claim {
		t.Errorf("a canary reaches %g of %g", most, claim)
	}
}

// dealt plants a fault in the draws of a machine through the machine's stream.
type dealt struct {
	operators.Machine
	stream *mechanisms.Stream
	deal   func(s *mechanisms.Stream, r operators.Record)
}

func (d *dealt) Add(r operators.Record) {
	d.Machine.Add(r)
	d.deal(d.stream, r)
}

// TestAuditCatchesDraws plants a schedule of draws that depends on events, draws that the privacy account does not
// count, and sums that one event moves by more than the sensitivity. The audit must find each fault.
func TestAuditCatchesDraws(t *testing.T) {
	law := mechanisms.Exponential{Epsilon: mechanisms.Ratio{Num: 1, Den: 1}, Sensitivity: mechanisms.Ratio{Num: 1, Den: 1}}
	last := int64(0)
	for what, fault := range map[string]struct {
		check string
		deal  func(s *mechanisms.Stream, r operators.Record)
	}{
		"a schedule that depends on events": {"decisions", func(s *mechanisms.Stream, r operators.Record) {
			if v := r.Event.Vector.Values; len(v) > 0 && v[0] > 0.5 && !s.Ended() {
				s.Choose(7, []int64{0, 0}, law)
			}
		}},
		"a draw that the account does not know of": {"exchange", func(s *mechanisms.Stream, r operators.Record) {
			if v := r.Event.Vector.Values; !s.Ended() {
				positive := func(x float64) bool { return x > 0 }
				s.Choose(7, []int64{int64(len(slices.DeleteFunc(slices.Clone(v), positive))), 0}, law)
			}
		}},
		"a score that moves too far": {"exchange", func(s *mechanisms.Stream, r operators.Record) {
			if last = 2 * last; len(r.Event.Vector.Values) > 0 {
				last = 2
			}
			if !s.Ended() {
				s.Choose(7, []int64{last, 0}, law)
			}
		}},
	} {
		a := drawingSubject(t)
		whole := a.Machine
		a.Machine = func(c operators.Operator, params []byte, s *mechanisms.Stream) (operators.Machine, error) {
			m, err := whole(c, params, s)
			return &dealt{m, s, fault.deal}, err
		}
		refutes(t, what, a, fault.check, ErrCheck)
	}
}
