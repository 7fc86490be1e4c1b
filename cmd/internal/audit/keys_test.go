package audit

import (
	"encoding/binary"
	"errors"
	"testing"

	"oriel/cmd/internal/audit/subject"
	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/protection"
	"oriel/operators"
)

// keyed is a machine that publishes which keys came, as an operator that waits for feedback may, because keys are
// public. If says is set, it also publishes which records with these keys were not events; this must stay private.
type keyed struct {
	varied
	says bool
}

func (k keyed) Open(_ []byte, sums *mechanisms.Stream) (operators.Machine, error) {
	return &keyedMachine{variedMachine: variedMachine{varied: k.varied, Stream: sums}, says: k.says}, nil
}

func (k keyed) ReferenceModel([]byte) (operators.ReferenceModel, error) {
	return &keyedReference{variedReference{varied: k.varied}}, nil
}

type keyedMachine struct {
	variedMachine
	says bool
	came uint64 // number of keys in the open batch
}

func (m *keyedMachine) Add(r operators.Record) {
	if string(r.Key) == "feedback" && !(m.says && r.Null) {
		m.came++
	}
	m.variedMachine.Add(r)
}

func (m *keyedMachine) Close(dst []operators.Decision) []operators.Decision {
	before := len(dst)
	dst = m.variedMachine.Close(dst)
	if len(dst) > before {
		dst[before].Point = append(dst[before].Point, float64(m.came))
		m.came = 0
	}
	return dst
}

func (m *keyedMachine) StateLen() int { return 8 + m.Stream.StateLen() }

func (m *keyedMachine) AppendState(dst []byte) []byte {
	return m.Stream.AppendState(binary.LittleEndian.AppendUint64(dst, m.came))
}

func (m *keyedMachine) Restore(state []byte) error {
	if len(state) < 8 {
		return errors.New("too short")
	}
	m.came = binary.LittleEndian.Uint64(state)
	return m.Stream.Restore(state[8:])
}

type keyedReference struct{ variedReference }

func (t *keyedReference) Canary(u []float64, factor float64) (with, without operators.Record) {
	with, without = t.variedReference.Canary(u, factor)
	with.Key, without.Key = []byte("feedback"), []byte("feedback")
	return with, without
}

// TestAuditTakesKeysForPublic checks that decisions may reveal which keys came, whatever the records contain, but not
// which of the records were events.
func TestAuditTakesKeysForPublic(t *testing.T) {
	for _, adjacency := range []dp.Adjacency{dp.Replace, dp.ZeroOut} {
		m := mechanisms.Config{
			Name: "blt", Batch: 3, Budget: dp.Budget{Epsilon: 20, Delta: 1e-6},
			Terms: protection.Terms{Scope: protection.Window{Steps: 8}, Unit: protection.Event{Exchange: adjacency}},
		}
		k := keyed{varied: varied{chooses: lawOfDraws}}
		if err := k.Require(&m, nil); err != nil {
			t.Fatal(err)
		}
		a, err := subject.Of(m, k, [32]byte{1}, subject.AllComponents)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Run(t.Context(), a, options(honestRuns()))
		if err := errors.Join(err, r.Err()); err != nil {
			t.Errorf("%v: %v", adjacency, err)
		}
		k.says = true
		if a, err = subject.Of(m, k, [32]byte{1}, subject.AllComponents); err != nil {
			t.Fatal(err)
		}
		refutes(t, "a count of events", a, "decisions", ErrCheck)
	}
}
