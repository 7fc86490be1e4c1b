package registry

import (
	"slices"
	"testing"

	"oriel/operators/setting"
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
			if s.Required && s.Default != "" {
				t.Errorf("%s: %s is required and has a default", f.Name, s.Name)
			}
			seen[s.Name] = true
		}
		p := &setting.Problems{}
		setting.Source{}.Read(p, f.Settings, func(s setting.Row) bool { return !s.Required })
		if err := p.Err(); err != nil {
			t.Errorf("%s: its defaults: %v", f.Name, err)
		}
	}
}

func TestTable(t *testing.T) {
	table := Table{
		{Name: "a", Settings: []setting.Row{{Name: "X"}, {Name: "Y"}}},
		{Name: "b", Settings: []setting.Row{{Name: "Y"}}},
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
