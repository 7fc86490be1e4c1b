package operatortest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/schemas/decision"
)

// promise describes a guarantee in one line, with ε rounded up.
func promise(g protection.Guarantee) string {
	var b strings.Builder
	epsilon := strconv.FormatFloat(math.Ceil(g.Epsilon*1e3)/1e3, 'f', -1, 64)
	brief := g.Words().Brief
	fmt.Fprintf(&b, "%s: epsilon %s, delta %v against %v of one %s%s; %d records a step", g.Mechanism, epsilon, g.Delta,
		g.Unit.Adjacency(), g.Unit.Name(), brief, g.Batch)
	if end := g.Scope.End(); end != protection.Endless {
		fmt.Fprintf(&b, ", %d steps", end)
	}
	return b.String() + "\n"
}

// transcript returns decisions as text, one decision on a line.
func (s *story) transcript(t *testing.T, decisions []published) string {
	t.Helper()
	var b strings.Builder
	for _, p := range decisions {
		d, err := decision.Parse([]byte(p.line))
		if err != nil {
			t.Fatal(err)
		}
		topic := "decision"
		if p.output > 0 {
			topic = operators.SecondTopicOf(s.model.Learner.Operator()).Suffix
		}
		fmt.Fprintf(&b, "%s %d of step %d", topic, d.Index, d.Step)
		if p.output > 0 {
			fmt.Fprintf(&b, ", key %s", p.key)
		}
		b.WriteString(":" + s.members(t, d) + "\n")
	}
	return b.String()
}

// lastOf returns the number of decisions, and the last decision of each topic, as text.
func (s *story) lastOf(t *testing.T, decisions []published) string {
	t.Helper()
	last := map[uint8]published{}
	for _, p := range decisions {
		last[p.output] = p
	}
	var lasts []published
	for output := range uint8(2) {
		if p, some := last[output]; some {
			lasts = append(lasts, p)
		}
	}
	return fmt.Sprintf("%d decisions; the last:\n", len(decisions)) + s.transcript(t, lasts)
}

// members returns the members of a decision that the story shows. Named numbers appear under their names, and sparse
// ones with their places.
func (s *story) members(t *testing.T, d decision.Decision) string {
	t.Helper()
	var b strings.Builder
	if s.shows("decision") && s.numbers == nil {
		for i, x := range d.Point {
			switch {
			case d.Form == decision.Dense:
				b.WriteString(" " + s.number(x))
			case x != 0:
				fmt.Fprintf(&b, " %d=%s", i, s.number(x))
			}
		}
	}
	if s.numbers != nil {
		b.WriteString(s.named(t, d))
	}
	before := " "
	if s.numbers != nil {
		before = "\n  "
	}
	for _, x := range d.Extras {
		if s.shows(x.Name) && (s.numbers == nil || s.show != nil) {
			fmt.Fprintf(&b, "%s%s=%s", before, x.Name, s.value(t, x.JSON))
		}
	}
	return b.String()
}

func (s *story) shows(member string) bool { return s.show == nil || slices.Contains(s.show, member) }

// named returns the numbers of a decision as text, one on a line, each with the interval of its noise.
func (s *story) named(t *testing.T, d decision.Decision) string {
	t.Helper()
	readings, err := s.numbers.Read(d)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for i, r := range readings {
		n := s.numbers.Names[i]
		if s.shows(n.Statistic) {
			value := s.number(r.Value)
			if !r.Shown {
				value = "unknown"
			}
			fmt.Fprintf(&b, "\n  %s of %s, memory %s: %s (%s to %s)",
				n.Statistic, cmp.Or(n.Cell, "everything"), n.Memory, value, s.number(r.Low), s.number(r.High))
		}
	}
	return b.String()
}

// value returns a JSON value with its numbers rounded.
func (s *story) value(t *testing.T, text string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	switch v := v.(type) {
	case float64:
		return s.number(v)
	case []any:
		var parts []string
		for _, x := range v {
			part, err := json.Marshal(x)
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, s.value(t, string(part)))
		}
		return "[" + strings.Join(parts, " ") + "]"
	case string:
		return v
	}
	return text
}

// number rounds a number. A number that rounds to zero has no sign.
func (s *story) number(x float64) string {
	unit := math.Pow10(s.digits)
	return strconv.FormatFloat(math.Round(x*unit)/unit+0, 'f', -1, 64)
}
