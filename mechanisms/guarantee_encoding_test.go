package mechanisms_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/mechtest/goldentest"
	"oriel/mechanisms/protection"
)

// storedCases returns guarantees of every mechanism, for events and users, with a horizon and with components.
func storedCases(t testing.TB) map[string]protection.Guarantee {
	t.Helper()
	all := map[string]protection.Guarantee{}
	add := func(what string, c mechanisms.Config) {
		g, err := mechtest.Plan(t, c).Guarantee(c)
		if err != nil {
			t.Fatal(err)
		}
		all[what] = g
	}
	for _, name := range mechanisms.Names() {
		c := config(name, 3)
		add(name, c)
		if facts, _ := mechanisms.FactsOf(name); facts.PerStep {
			continue
		}
		c.Unit = apart(3)
		add(name+" user", c)
		c.Scope = protection.Lifetime{Steps: 5, Within: 8}
		add(name+" horizon", c)
		c, _ = withParts(name)
		add(name+" parts", c)
	}
	return all
}

// TestStoredGuaranteeComesBack checks that a stored guarantee has the same losses at the stored ages. Between two of
// them it has an upper bound, and after the last one none. Equal guarantees have equal bytes.
func TestStoredGuaranteeComesBack(t *testing.T) {
	for what, g := range storedCases(t) {
		b, err := protection.AppendGuarantee([]byte{9}, g)
		if err != nil || b[0] != 9 {
			t.Fatalf("%s: %v", what, err)
		}
		back, err := protection.ParseGuarantee(b[1:])
		if err != nil {
			t.Fatalf("%s: %v: %s", what, err, b[1:])
		}
		again, err := protection.AppendGuarantee(nil, back)
		if err != nil || !bytes.Equal(again, b[1:]) {
			t.Errorf("%s: %s, %v, want %s", what, again, err, b[1:])
		}
		if twice, _ := protection.ParseGuarantee(again); twice != back {
			t.Errorf("%s: parses as something else the second time", what)
		}
		whole := back
		if whole.Curve = g.Curve; whole != g {
			t.Errorf("%s: %+v, want %+v", what, back, g)
		}
		for _, age := range []uint64{0, 1, 8, 16, 80, 800} {
			if got, want := back.At(age), g.At(age); got != want {
				t.Errorf("%s: %v at %d steps, want %v", what, got, age, want)
			}
		}
		if got, want := back.At(130), g.At(130); got.Epsilon < want.Epsilon {
			t.Errorf("%s: %v between two ages, below %v", what, got, want)
		}
		if _, table := back.Curve.(protection.Table); table != (g.Curve != nil) {
			t.Errorf("%s: a table: %v", what, table)
		}
		if far := back.At(1 << 60).Epsilon; back.Curve != nil && g.Scope.End() == protection.Endless && !math.IsInf(far, 1) {
			t.Errorf("%s: %g behind the last age", what, far)
		}
		if _, several := g.Unit.EventSeparation(); several && back.AtAll(80) != g.AtAll(80) {
			t.Errorf("%s: all events: %v, want %v", what, back.AtAll(80), g.AtAll(80))
		}
	}
}

// TestStoredGuaranteeOfAMemory checks the stored form of a guarantee with a memory, which has its own versions. Version
// 3 holds the loss at several ages: for an event until it reaches its lifetime loss, and for a user also the loss of
// all events so far, which grows without end. Version 2 holds none of them, and must remain readable.
func TestStoredGuaranteeOfAMemory(t *testing.T) {
	user := withMemory(3, 64)
	user.Unit = protection.User{Exchange: dp.Replace, Separation: 7, Steps: 200}
	parts := partsWithMemory()
	for what, c := range map[string]mechanisms.Config{
		"event": withMemory(3, 64), "shortest": withMemory(3, 2), "user": user, "parts": parts,
	} {
		g, err := mechtest.Plan(t, c).Guarantee(c)
		if err != nil {
			t.Fatal(err)
		}
		b, err := protection.AppendGuarantee(nil, g)
		if err != nil || !strings.HasPrefix(string(b), `{"version":3,`) {
			t.Fatalf("%s: %s, %v", what, b, err)
		}
		back, err := protection.ParseGuarantee(b)
		if err != nil {
			t.Fatalf("%s: %v: %s", what, err, b)
		}
		whole := back
		if whole.Curve = g.Curve; whole != g {
			t.Errorf("%s: %+v, want %+v", what, back, g)
		}
		memory, _ := c.Scope.Memory()
		_, several := c.Unit.EventSeparation()
		for _, memories := range []uint64{1, 2, 100, 1_000_000} {
			age := memories * memory
			if got, want := back.At(age), g.At(age); got.Epsilon < want.Epsilon || got.Epsilon > want.Epsilon*(1+1e-15) {
				t.Errorf("%s: %v at %d memories, want %v", what, got, memories, want)
			}
			if several && back.AtAll(age) != g.AtAll(age) {
				t.Errorf("%s: all events: %v at %d memories, want %v", what, back.AtAll(age), memories, g.AtAll(age))
			}
		}
		if got, want := back.At(memory+1), g.At(memory+1); !(got.Epsilon >= want.Epsilon) || !(back.At(1).Epsilon < 1) ||
			back.At(1) != g.At(1) {
			t.Errorf("%s: %v between two ages, want %v at least", what, got, want)
		}
		if far := back.At(1 << 60).Epsilon; far != 1 {
			t.Errorf("%s: ε is %g for ever, want 1", what, far)
		}
		if several && !math.IsInf(back.AtAll(1<<60).Epsilon, 1) {
			t.Errorf("%s: all events there will ever be have a bound: %v", what, back.AtAll(1<<60))
		}
		for old, replacement := range map[string]string{
			`"version":3`: `"version":2`, `"memory":`: `"window":8,"memory":`, `"window":0`: `"window":8`, `"ages":[`: `"ages":[],"ages":[`,
			`"epsilon":1,`: `"epsilon":0.99,`,
		} {
			if _, err := protection.ParseGuarantee([]byte(strings.Replace(string(b), old, replacement, 1))); err == nil {
				t.Errorf("%s: %s in the place of %s is accepted", what, replacement, old)
			}
		}
		if several {
			continue
		}
		above := strings.Replace(string(b), `"epsilon":1}]`, `"epsilon":1.5}]`, 1)
		if _, err := protection.ParseGuarantee([]byte(above)); above == string(b) || err == nil {
			t.Errorf("%s: more at an age than for ever is accepted", what)
		}
		g.Curve = nil
		bare, err := protection.AppendGuarantee(nil, g)
		if err != nil || !strings.HasPrefix(string(bare), `{"version":2,`) || !strings.HasSuffix(string(bare), `"ages":[]}`) {
			t.Fatalf("%s: %s, %v", what, bare, err)
		}
		if old, err := protection.ParseGuarantee(bare); err != nil || old != g || old.At(1).Epsilon != 1 {
			t.Errorf("%s: version 2 is read as %+v, %v, want %+v", what, old, err, g)
		}
	}
	g, err := mechtest.Plan(t, user).Guarantee(user)
	if err != nil {
		t.Fatal(err)
	}
	b, err := protection.AppendGuarantee(nil, g)
	if err != nil || !strings.Contains(string(b), `"separation":7,"horizon":0,"memory":64,"user_window":200,`) {
		t.Fatalf("%s, %v", b, err)
	}
	if _, err := protection.ParseGuarantee([]byte(strings.Replace(string(b), `"user_window":200,`, "", 1))); err == nil {
		t.Error("users with a memory and without a window of theirs are accepted")
	}
}

// TestGoldenGuarantees uses figures that follow from the calibration's integers alone, not from the platform's
// functions.
func TestGoldenGuarantees(t *testing.T) {
	var lines []string
	var later []func()
	for _, plan := range append(append(goldenPlans(), goldenParts()), goldenMemories()...) {
		c := config(plan.Name, 3)
		c.Contribution = contribution.OneComponent(2, 0.875)
		if plan.Components != nil {
			c, _ = withParts(plan.Name)
		}
		c.Batch, c.Scope = 3, scope(plan.Name, 4)
		memory := plan.Decay.Memory
		if memory > 0 {
			c.Scope = protection.Decay{Steps: memory}
		}
		add := func(c mechanisms.Config, curve bool) {
			g, err := plan.Guarantee(c)
			if err != nil {
				t.Fatal(err)
			}
			if !curve {
				g.Curve = nil
			}
			b, err := protection.AppendGuarantee(nil, g)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, string(b))
		}
		add(c, memory == 0) // version 2, which has no ages
		if memory > 0 {
			later = append(later, func() {
				add(c, true)
				c.Unit = protection.User{Exchange: dp.Replace, Separation: 5, Steps: 12}
				add(c, true)
			})
		}
	}
	for _, of := range later {
		of()
	}
	goldentest.CheckFile(t, "guarantees.txt", lines)
}
