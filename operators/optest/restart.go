package optest

import (
	"bytes"
	"slices"
	"testing"

	"oriel/operators"
)

// restartBeforeOpen replaces the machine before the decisions that are due before the first record, because the
// pipeline commits the state before it sends them. The new machine has processed other records before, so that data
// that Restore does not replace would show.
func (s suite) restartBeforeOpen(t *testing.T) {
	want := play(s.newMachine(t), s.records)
	first := s.newMachine(t).AppendState(nil)
	m := s.newMachine(t)
	play(m, s.records[:len(s.records)/2])
	if err := m.Restore(slices.Clone(first)); err != nil {
		t.Fatalf("state before Open refused: %v", err)
	}
	if again := m.AppendState(nil); !bytes.Equal(again, first) {
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
		got.state = m.AppendState(nil)
		m = s.newMachine(t)
		if err := m.Restore(slices.Clone(got.state)); err != nil {
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
		for _, r := range s.records[at:] {
			m.Add(nil, r)
		}
		if err := m.Restore(got.state); err != nil {
			t.Fatalf("state after %d records refused: %v", at, err)
		}
		for _, r := range s.records[at:] {
			got.decisions = operators.AppendCopies(got.decisions, m.Add(nil, r))
		}
		got.state = m.AppendState(nil)
		wantSame(t, got, want)
	}
}

func (s suite) stateHasFixedWidth(t *testing.T) {
	m := s.newMachine(t)
	width := m.StateLen()
	for i, r := range s.records {
		state := m.AppendState([]byte("prefix"))
		if !bytes.HasPrefix(state, []byte("prefix")) || len(state) != len("prefix")+width || m.StateLen() != width {
			t.Fatalf("before record %d the state has %d bytes after its prefix, want %d", i, len(state)-len("prefix"), width)
		}
		if !bytes.Equal(state, m.AppendState([]byte("prefix"))) {
			t.Fatalf("before record %d two states in a row differ", i)
		}
		m.Add(nil, r)
	}
}

func (s suite) refusedStateChangesNothing(t *testing.T) {
	m := s.newMachine(t)
	good := play(m, s.records[:len(s.records)/2]).state
	version := slices.Clone(good)
	version[0] ^= 0x55
	filled := bytes.Repeat([]byte{0xff}, len(good))
	filled[0] = good[0]
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
