package operators

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/protection"
	"oriel/schemas/decision"
)

// TestLifetimeMembersHaveTheirValues checks which members state a promise over a lifetime, and their values.
func TestLifetimeMembersHaveTheirValues(t *testing.T) {
	event := protection.Event{Exchange: dp.Replace}
	user := protection.User{Exchange: dp.Replace, Separation: 3}
	week := user
	week.Steps = 700
	for _, x := range []struct {
		terms protection.Terms
		want  string
	}{
		{protection.Terms{Scope: protection.Window{Steps: 64}, Unit: user}, "[] []"},
		{protection.Terms{Scope: protection.Lifetime{Steps: 60, Within: 64}, Unit: event}, "[] []"},
		{protection.Terms{Scope: protection.PerStep{}, Unit: event}, "[] []"},
		{protection.Terms{Scope: protection.Decay{Steps: 100}, Unit: event}, "[memory] [100]"},
		{protection.Terms{Scope: protection.Decay{Steps: 100}, Unit: week}, "[memory user_window] [100 700]"},
	} {
		var declared Members
		declared.Lifetime(x.terms)
		var names []string
		for _, extra := range declared.Extras() {
			if extra.Kind != decision.ExtraNumber || extra.Text == "" {
				t.Errorf("%+v", extra)
			}
			names = append(names, extra.Name)
		}
		var values []float64
		for _, value := range declared.Values() {
			values = append(values, value.Number)
		}
		if got := fmt.Sprint(names, values); got != x.want {
			t.Errorf("%v: %s, want %s", x.terms, got, x.want)
		}
	}
}

// example declares members of every kind.
func example() (m *Members, sum NumberMember, name TextMember, ends NumbersMember, found ListMember) {
	m = &Members{}
	m.Constant("offset", "A constant.", 4)
	ends = m.Numbers("ends", "Two numbers.", 2)
	name = m.Text("name", "A text.")
	sum = m.Number("sum", "A number.")
	m.Numbers("rest", "Any numbers.", AnyWidth)
	found = m.List("found", "Names with counts.")
	return m, sum, name, ends, found
}

// TestMembersAreReachedByTheirHandles checks that values are published in the order of declarations, whatever the order
// in which they are set, and that the same handles read them back from every encoding.
func TestMembersAreReachedByTheirHandles(t *testing.T) {
	m, sum, name, ends, found := example()
	values := m.Values()
	sum.Set(values, 3)
	name.Set(values, "x")
	ends.Append(values, 1, 2)
	list := []decision.Entry{{Name: "a", Count: 20, Low: 17, High: 22}}
	found.Set(values, list)
	for i, encoding := range decision.Encodings {
		e := decision.Encoding(i)
		encoder := decision.NewEncoder(decision.Config{
			Stream: "0", Mechanism: "blt", Adjacency: "replace", Unit: "event", Encoding: e,
		}, m.Extras())
		line := encoder.Append(nil, 1, 1, nil, values)
		const want = `"offset":4,"ends":[1,2],"name":"x","sum":3,"rest":[],"found":[{"name":"a","count":20,"low":17,"high":22}]}`
		if e == decision.JSON && !strings.HasSuffix(string(line), want) {
			t.Errorf("%s, want %s", line, want)
		}
		d, err := decision.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		read, err := m.Read(d.Extras)
		if err != nil || sum.Of(read) != 3 || name.Of(read) != "x" || fmt.Sprint(ends.Of(read)) != "[1 2]" ||
			!slices.Equal(found.Of(read), list) {
			t.Errorf("%s: %+v, %v", encoding, read, err)
		}
	}
}

// TestMembersOfOtherDeclarationsAreRefused checks that Read refuses a missing member, and one of another kind or width.
func TestMembersOfOtherDeclarationsAreRefused(t *testing.T) {
	m, _, _, _, _ := example()
	whole := map[string]string{"offset": "4", "ends": "[1,2]", "name": `"x"`, "sum": "3", "rest": "[5,6,7]", "found": "[]"}
	read := func(name, value string) error {
		var published []decision.ExtraMember
		for _, x := range m.Extras() {
			json := whole[x.Name]
			if x.Name == name {
				json = value
			}
			if json != "" {
				published = append(published, decision.ExtraMember{Name: x.Name, JSON: json})
			}
		}
		_, err := m.Read(published)
		return err
	}
	if err := read("", ""); err != nil {
		t.Error(err)
	}
	for _, x := range [][2]string{
		{"offset", ""},
		{"rest", ""},
		{"ends", "[1]"},
		{"ends", "[1,2,3]"},
		{"ends", "1"},
		{"name", "1"},
		{"sum", "[3]"},
		{"rest", `["x"]`},
		{"found", `["x"]`},
		{"found", `[{"count":-1}]`},
	} {
		if err := read(x[0], x[1]); err == nil || !strings.Contains(err.Error(), "member "+x[0]+": ") {
			t.Errorf("%s = %q: %v", x[0], x[1], err)
		}
	}
}

// TestUndeclaredMembersPanic checks that the handle of a member that was not declared reaches no other member.
func TestUndeclaredMembersPanic(t *testing.T) {
	m, _, _, _, _ := example()
	defer func() {
		if recover() == nil {
			t.Error("a member that was not declared is set")
		}
	}()
	NumberMember{}.Set(m.Values(), 1)
}

// TestMembersDoNotAllocate checks that a machine sets members without allocating.
func TestMembersDoNotAllocate(t *testing.T) {
	m, sum, name, ends, _ := example()
	values := m.Values()
	if n := testing.AllocsPerRun(100, func() {
		sum.Set(values, 3)
		name.Set(values, "x")
		ends.Clear(values)
		ends.Append(values, 1)
		ends.Append(values, 2)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
