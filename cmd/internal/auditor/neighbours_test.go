package auditor

import (
	"testing"
	"time"
)

func TestNeighboursOfUsers(t *testing.T) {
	for _, more := range [][]string{{"ORIEL_USER_ID=key", "ORIEL_USER_SEPARATION=3"}, {"ORIEL_USER_ID=key", "ORIEL_USER_SEPARATION=3", "ORIEL_BATCH=3"}, usersForLife} {
		a := subject(t, more...)
		d, err := a.deployed()
		if err != nil {
			t.Fatal(err)
		}
		c, err := d.neighbours()
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%+v", c)
		if !c.Holds {
			t.Error(c.Found)
		}
	}
}

func TestNeighbours(t *testing.T) {
	for name, lines := range asConfigured {
		t.Run(name, func(t *testing.T) {
			a := subjectOf(t, append([]string{"ORIEL_EPSILON=1"}, lines...)...)
			d, err := a.deployed()
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			c, err := d.neighbours()
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%v %+v", time.Since(start), c)
			if !c.Holds || c.Count < leastExchanges {
				t.Error(c.Found)
			}
		})
	}
}
