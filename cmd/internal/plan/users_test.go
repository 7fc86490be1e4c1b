package plan

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/protection"
)

// present returns a report at user level for decaying sums, which protects all events of a user within any `window`
// steps.
func present(t *testing.T, memory, separation, window uint64) *Report {
	t.Helper()
	in := everySetting[0].input()
	c := &in.Configured
	c.Scope, c.AgeWeight = protection.Decay{Steps: memory}, 0
	c.Unit = protection.User{Exchange: dp.Replace, Separation: separation, Steps: window}
	r, err := New(in)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestUsersOfAMemoryPayForTheirNumber checks the warning about several events of a user within a memory, with the
// figures of mechanisms/decay, PROOF.md, "What that costs". It also checks two columns: ε of the events in a
// user window, which ends at the claim, and ε of all events of a user, which continues.
func TestUsersOfAMemoryPayForTheirNumber(t *testing.T) {
	const memory = 1 << 16
	for events, factor := range map[uint64]string{
		8:  "a user may have 8 events among 65536 steps, which cost 3.73",
		64: "64 events among 65536 steps, which cost 23.7",
	} {
		r := present(t, memory, memory/events, memory)
		if !strings.Contains(strings.Join(r.Warnings, "\n"), factor) {
			t.Errorf("warnings %q, want %q", r.Warnings, factor)
		}
		m := &r.Mechanisms[0]
		if m.Name != "blt" || m.Memory != memory || r.Setting.UserWindow != memory ||
			m.Losses[0].Epsilon > m.Losses[1].Epsilon {
			t.Fatalf("%+v", m)
		}
		for i, l := range m.Losses {
			if l.Epsilon > 1 || i > 0 && (math.Abs(float64(l.Epsilon)-1) > 5e-4 || !(l.All > m.Losses[i-1].All && l.All > 2)) {
				t.Errorf("%d steps: ε = %g, of all events %g", l.Steps, float64(l.Epsilon), float64(l.All))
			}
		}
		for _, other := range r.Mechanisms[1:] {
			if other.Memory != 0 || other.Window != memory || !strings.Contains(other.Note, "that of users") {
				t.Errorf("%s has window %d: %s", other.Name, other.Window, other.Note)
			}
		}
	}
	if text := strings.Join(present(t, 64, 100, 100).Warnings, "\n"); strings.Contains(text, "a user may have") {
		t.Errorf("one event a user: %s", text)
	}
}

// TestUsersOfAMemoryAreShown checks that the table names the number of steps of a user window.
func TestUsersOfAMemoryAreShown(t *testing.T) {
	r := present(t, 1<<14, 1<<36, 1<<40)
	var out bytes.Buffer
	if err := r.Print(&out); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"memory H = 16384 steps, users' events among any 1099511627776 steps", "a user's events of any 1099511627776 steps",
		"ε of any 1099511627776 steps: of one event, of a user",
	} {
		if !strings.Contains(out.String(), text) {
			t.Errorf("the table does not say %q: %s", text, out.String())
		}
	}
}
