package optest

import (
	"bytes"
	"slices"
	"testing"

	"oriel/mechanisms/steps"
	"oriel/operators"
)

// saved is a state, with the names of the open step if the machine is Naming.
type saved struct {
	state []byte
	names [][]byte
}

func save(m *operators.Counted) (s saved) {
	s.state = m.AppendState(nil)
	if machine, is := m.Machine.(operators.Naming); is {
		names := machine.Naming()
		names.NamesAgain()
		for part, some := names.NamesPart(1 << 13); some; part, some = names.NamesPart(1 << 13) {
			s.names = append(s.names, slices.Clone(part))
		}
	}
	return s
}

func (s saved) restore(m *operators.Counted) error {
	err := m.Restore(slices.Clone(s.state))
	for _, part := range s.names {
		if err == nil {
			err = m.Machine.(operators.Naming).Naming().TakeNames(part)
		}
	}
	return err
}

// restartBeforeOpen replaces the machine before the decisions that are due before the first record, because the
// pipeline commits the state before it sends them. The new machine has processed other records before, so that data
// that Restore does not replace would show.
func (s suite) restartBeforeOpen(t *testing.T) {
	want := play(s.newMachine(t), s.records)
	first := save(s.newMachine(t))
	m := s.newMachine(t)
	play(m, s.records[:len(s.records)/2])
	if err := first.restore(m); err != nil {
		t.Fatalf("state before Open refused: %v", err)
	}
	if again := m.AppendState(nil); !bytes.Equal(again, first.state) {
		t.Fatal("before Open, Restore then AppendState is not the identity")
	}
	wantSame(t, play(m, s.records), want)
}

// restartAfterAnyRecord replaces the machine by a fresh one after every record, also within steps.
func (s suite) restartAfterAnyRecord(t *testing.T) {
	want := play(s.newMachine(t), s.records)
	m := s.newMachine(t)
	got := history{decisions: operators.AppendCopies(nil, m.Open(nil))}
	for i, r := range s.records {
		got.decisions = operators.AppendCopies(got.decisions, m.Add(nil, r))
		at := save(m)
		got.state = at.state
		m = s.newMachine(t)
		if err := at.restore(m); err != nil {
			t.Fatalf("state after record %d refused: %v", i, err)
		}
		if again := m.AppendState(nil); !bytes.Equal(again, got.state) {
			t.Fatalf("after record %d, Restore then AppendState is not the identity", i)
		}
	}
	wantSame(t, got, want)
}

// restartOnce restores an earlier state into a machine that has already processed later records, as the service does
// after a commit of unknown status.
func (s suite) restartOnce(t *testing.T) {
	want := play(s.newMachine(t), s.records)
	for _, at := range []int{0, 1, len(s.records) / 3, len(s.records) - 1} {
		m := s.newMachine(t)
		got := play(m, s.records[:at])
		early := save(m)
		for _, r := range s.records[at:] {
			m.Add(nil, r)
		}
		if err := early.restore(m); err != nil {
			t.Fatalf("state after %d records refused: %v", at, err)
		}
		for _, r := range s.records[at:] {
			got.decisions = operators.AppendCopies(got.decisions, m.Add(nil, r))
		}
		got.state = m.AppendState(nil)
		wantSame(t, got, want)
	}
}

// stateHasPublicLength plays a second machine on null records in the same places, whose states must have equal lengths.
func (s suite) stateHasPublicLength(t *testing.T) {
	m, nulls := s.newMachine(t), s.newMachine(t)
	for i, r := range s.records {
		state, width := m.AppendState([]byte("prefix")), len(nulls.AppendState(nil))
		if !bytes.HasPrefix(state, []byte("prefix")) || len(state) != len("prefix")+width || m.StateLen() != width {
			t.Fatalf("before record %d the state has %d bytes after its prefix, want %d", i, len(state)-len("prefix"), width)
		}
		if !bytes.Equal(state, m.AppendState([]byte("prefix"))) {
			t.Fatalf("before record %d two states in a row differ", i)
		}
		m.Add(nil, r)
		nulls.Add(nil, operators.Record{Identity: r.Identity, Key: r.Key, Null: true})
	}
}

func (s suite) refusedStateChangesNothing(t *testing.T) {
	m := s.newMachine(t)
	good := play(m, s.records[:len(s.records)/2]).state
	version := slices.Clone(good)
	version[steps.CountLen] ^= 0x55
	filled := bytes.Repeat([]byte{0xff}, len(good))
	copy(filled, good[:steps.CountLen+1])
	for name, bad := range map[string][]byte{
		"empty": nil, "short": good[:len(good)-1], "long": append(slices.Clone(good), 0), "other version": version,
		"filled": filled,
	} {
		if err := m.Restore(bad); err == nil {
			t.Errorf("state %s accepted", name)
		}
		if !bytes.Equal(m.AppendState(nil), good) {
			t.Fatalf("refused state %s has changed the machine", name)
		}
	}
}
