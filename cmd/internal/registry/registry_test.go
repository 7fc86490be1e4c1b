package registry

import (
	"slices"
	"testing"

	"oriel/operators"
)

// TestEveryOperatorIsWhole checks that each row provides everything that commands require, and that all its settings
// can be read.
func TestEveryOperatorIsWhole(t *testing.T) {
	for i, f := range All {
		if f.Name == "" || f.Text == "" || f.Events == nil || f.New == nil {
			t.Errorf("row %d (%s) lacks something", i, f.Name)
		}
		if found, ok := All.Find(f.Name); !ok || found.Text != f.Text {
			t.Errorf("%s: another row has the name", f.Name)
		}
		seen := map[string]bool{}
		for _, s := range f.Settings {
			if s.Name == "" || s.Kind == 0 || s.Unit == "" || s.Text == "" || seen[s.Name] {
				t.Errorf("%s: setting %+v lacks something, or is there twice", f.Name, s)
			}
			if s.Required && (s.Default != "" || s.Later) {
				t.Errorf("%s: %s is required and has a default, or came later: older deployments lack it", f.Name, s.Name)
			}
			seen[s.Name] = true
		}
		p := &operators.Problems{}
		operators.Source{}.Read(p, f.Settings, func(s operators.Setting) bool { return !s.Required })
		if err := p.Err(); err != nil {
			t.Errorf("%s: its defaults: %v", f.Name, err)
		}
	}
}

func TestTable(t *testing.T) {
	table := Table{
		{Name: "a", Settings: []operators.Setting{{Name: "X"}, {Name: "Y"}}},
		{Name: "b", Settings: []operators.Setting{{Name: "Y"}}},
	}
	if got := table.Names(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("names %v", got)
	}
	if _, ok := table.Find("c"); ok {
		t.Error("a row that is not there is found")
	}
	for setting, want := range map[string][]string{"X": {"a"}, "Y": {"a", "b"}, "Z": nil} {
		if got := table.Owners(setting); !slices.Equal(got, want) {
			t.Errorf("owners of %s: %v", setting, got)
		}
	}
}
