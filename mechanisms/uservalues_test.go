package mechanisms_test

import (
	"math"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/protection"
)

// valueSums returns the counts of each step by value, computed from the definition of protection.UserPeriod: of the
// values of a user in a period the first m different ones count, each once.
func valueSums(log []userRecord, m int) (sums logSums) {
	var seen [2][stepsOfLogs / periodOfLogs][valuesOfLogs]bool
	var values [2][stepsOfLogs / periodOfLogs]int
	for _, r := range log {
		period := r.step / periodOfLogs
		if values[r.user][period] < m && !seen[r.user][period][r.value] {
			seen[r.user][period][r.value] = true
			values[r.user][period]++
			sums[r.step][r.value]++
		}
	}
	return sums
}

// ofValues returns a configuration of cells, and its calibration.
func ofValues(t *testing.T, name string, unit protection.Unit) (mechanisms.Config, mechanisms.Calibration) {
	t.Helper()
	c := uncounted(name, unit)
	c.Contribution = contribution.Contribution{Components: []contribution.Component{
		{Name: "cells", Size: 4, Clip: 1, Quantiser: mechtest.OneHot{}, Share: 1},
	}}
	return c, mechtest.Plan(t, c)
}

// TestUserValuesByEnumeration compares every loss that a guarantee of a user's values states with the largest change in
// all logs of up to 5 records of 2 users with 3 values. The claim is never below, and is reached (PROOF.md, Theorems 15
// and 16). It detects noise for the distance √m where the distance is m, and for m where √m suffices.
func TestUserValuesByEnumeration(t *testing.T) {
	var records []userRecord
	for user := range 2 {
		for value := range valuesOfLogs {
			records = append(records, userRecord{user: user, value: value})
		}
	}
	for m := 1; m <= 3; m++ {
		period, whole, one := farthest(5, records, func(log []userRecord) logSums { return valueSums(log, m) })
		for _, name := range []string{"once-gaussian", "once-laplace"} {
			_, event := ofValues(t, name, protection.Event{Exchange: dp.AddRemove})
			c, calibration := ofValues(t, name, protection.UserPeriod{PeriodSteps: periodOfLogs, Values: uint64(m)})
			g, err := calibration.Guarantee(c)
			if err != nil {
				t.Fatal(err)
			}
			single, err := calibration.EventGuarantee(c)
			if err != nil {
				t.Fatal(err)
			}
			share := event.Scale.Float64() / calibration.Scale.Float64() // of the loss of one contribution
			loss := func(m moved) float64 {
				if g.Mu > 0 {
					return dp.GaussianEpsilon(dp.GaussianMu(c.Budget)*share*math.Sqrt(float64(m.squares)), g.Delta)
				}
				return c.Budget.Epsilon * share * float64(m.total)
			}
			for what, f := range map[string]struct {
				claimed float64
				is      moved
			}{
				"a period":                {g.Epsilon, period},
				"both periods":            {g.AtPeriods(2).Epsilon, whole},
				"one record":              {g.AtOneEvent().Epsilon, one},
				"guarantee of one record": {single.Epsilon, one},
				"two users in one period": {g.Group(2).Epsilon, moved{4 * period.squares, 2 * period.total}},
			} {
				if what == "both periods" && 2*m > 5 {
					continue // the logs are too short for as many records
				}
				if is := loss(f.is); f.claimed < is*(1-1e-7) || f.claimed > is*(1+1e-7) {
					t.Errorf("%s, m = %d, %s: ε = %.12g, by enumeration %.12g", name, m, what, f.claimed, is)
				}
			}
		}
	}
}
