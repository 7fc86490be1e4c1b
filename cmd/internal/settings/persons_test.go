package settings

import (
	"strings"
	"testing"

	"oriel/mechanisms/protection"
	"oriel/mechanisms/steps"
)

// ofPersons returns settings of persons by the clock, with some lines replaced or, without a value, left out.
func ofPersons(lines ...string) []string {
	return hourly(append([]string{
		"ORIEL_STATISTICS=persons", "ORIEL_USER_ID=header:u", "ORIEL_USER_PERIOD=7d", "ORIEL_STEP=1d", "ORIEL_STEP_OFFSET=4d",
		"ORIEL_ELSEWHERE=other",
	}, lines...)...)
}

// TestPersonsAreCountedByValues checks what the settings of persons say to mechanism and pipeline: the unit has the
// number of cells, and the walk asks the operator for them.
func TestPersonsAreCountedByValues(t *testing.T) {
	for cells, want := range map[string]uint64{"": 1, "3": 3} {
		s, err := Load(ofPersons("ORIEL_PERSON_CELLS="+cells), all...)
		if err != nil {
			t.Fatal(err)
		}
		m, model := s.Learner().Mechanism(), s.Model()
		if m.Unit != (protection.UserPeriod{PeriodSteps: 7, Values: want}) {
			t.Errorf("m = %d: unit %+v", want, m.Unit)
		}
		if u := model.Users; u == nil || u.Values != want || u.Events != 0 || u.Header != "u" ||
			u.Period != (steps.Clock{Length: 7 * steps.Day, Offset: 4 * steps.Day}) {
			t.Errorf("m = %d: users %+v", want, u)
		}
		if g, err := s.Guarantee(model); err != nil || g.Epsilon > 1 || g.Epsilon < 0.999 {
			t.Errorf("m = %d: %+v, %v", want, g, err)
		}
		text := s.Canonical()
		if !strings.Contains(text, "\nUSER_EVENTS=\n") || !strings.Contains(text, "\nPERSON_CELLS=") {
			t.Errorf("m = %d: canonical text\n%s", want, text)
		}
	}
}

// TestRefusalsOfPersons checks that each setting that does not go with persons is refused in one sentence that names
// the remedy, and that no other setting is blamed.
func TestRefusalsOfPersons(t *testing.T) {
	for _, c := range []struct {
		want  string
		lines []string
	}{
		{"ORIEL_STATISTICS: persons: beside other statistics, which take each event of a person; take persons alone", ofPersons("ORIEL_STATISTICS=persons,count")},
		{
			"ORIEL_STATISTICS: persons: beside other statistics",
			ofPersons("ORIEL_STATISTICS=mean,persons", "ORIEL_VALUE=x=0:1"),
		},
		{"ORIEL_STATISTICS: persons: whose, and counted once in how long a time, is not set: set ORIEL_STEP in place of ORIEL_BATCH", hourly("ORIEL_STATISTICS=persons")},
		{"ORIEL_STATISTICS: persons: whose", hourly("ORIEL_STATISTICS=persons", "ORIEL_STEP=", "ORIEL_BATCH=64")},
		{"ORIEL_USER_PERIOD: not set; with ORIEL_STEP, ORIEL_USER_ID needs the length of a user's period", ofPersons("ORIEL_USER_PERIOD=", "ORIEL_STEP_OFFSET=")},
		{"ORIEL_USER_EVENTS: set, but each user counts once in each of the user's first cells, or for each of the first names, however many records there are; leave it out", ofPersons("ORIEL_USER_EVENTS=3")},
		{"ORIEL_PERSON_CELLS: 4: more than the 3 cells there are, so that noise covers more than anybody can change; take 3", ofPersons("ORIEL_PERSON_CELLS=4")},
		{"ORIEL_PERSON_CELLS: 0: out of range (1 to 65535)", ofPersons("ORIEL_PERSON_CELLS=0")},
		{"ORIEL_PERSON_CELLS: set, but ORIEL_STATISTICS has no persons; for events of a user set ORIEL_USER_EVENTS", hourly("ORIEL_PERSON_CELLS=2")},
		{"ORIEL_WEIGHT_MAX: set, but ORIEL_STATISTICS=persons counts each person 1; leave it out", ofPersons("ORIEL_WEIGHT_MAX=2")},
		{"ORIEL_VALUE: set, but ORIEL_STATISTICS has persons alone", ofPersons("ORIEL_VALUE=x=0:1")},
		{"ORIEL_ARMS: kind: nothing of ORIEL_STATISTICS is compared", ofPersons("ORIEL_ARMS=kind")},
		{"ORIEL_INCREMENTS: set, but numbers of new persons in each step add up as they are", ofPersons("ORIEL_INCREMENTS=true")},
		{"ORIEL_CELLS: not set", ofPersons("ORIEL_CELLS=", "ORIEL_ELSEWHERE=")},
	} {
		_, err := Load(c.lines, all...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: want %q, got %v", c.lines, c.want, err)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: several problems: %v", c.lines, err)
		}
	}
}
