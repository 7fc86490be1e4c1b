package mechanisms_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

// uncounted returns a configuration of one coordinate whose steps have no fixed number of events.
func uncounted(name string, unit protection.Unit) mechanisms.Config {
	c := config(name, 1)
	c.Batch, c.Terms = 0, protection.Terms{Scope: protection.PerStep{}, Unit: unit}
	return c
}

// userRecord is a record of a log with users. A value is a contribution, where 0 stands for no valid event, or one of
// the values of a unit with values.
type userRecord struct{ user, step, value int }

// The logs below have 4 steps, in 2 periods, and 3 values.
const (
	stepsOfLogs  = 4
	periodOfLogs = 2
	valuesOfLogs = 3
)

// logSums are the sums of each step by value. Contributions without values add up in the first column.
type logSums [stepsOfLogs][valuesOfLogs]int

// sumsOf returns the contribution sum of each step, computed from the definition of protection.UserPeriod: of the
// records with one id in a period the first k count, valid or not.
func sumsOf(log []userRecord, k int) (sums logSums) {
	var seen [2][stepsOfLogs / periodOfLogs]int
	for _, r := range log {
		if seen[r.user][r.step/periodOfLogs]++; seen[r.user][r.step/periodOfLogs] <= k {
			sums[r.step][0] += r.value
		}
	}
	return sums
}

// logs calls f with every log of n records of two users, in the order of steps. Each step may have the given records.
func logs(n int, records []userRecord, f func(log []userRecord)) {
	log := make([]userRecord, 0, n)
	var extend func(step int)
	extend = func(step int) {
		if len(log) == n {
			f(log)
			return
		}
		for ; step < stepsOfLogs; step++ {
			for _, r := range records {
				log = append(log, userRecord{r.user, step, r.value})
				extend(step)
				log = log[:len(log)-1]
			}
		}
	}
	extend(0)
}

// moved is the largest change of the sums of all steps, in units of the norm of one contribution.
type moved struct{ squares, total int }

// takes keeps the larger changes between two logs.
func (m *moved) takes(x, y logSums) {
	squares, total := 0, 0
	for t := range x {
		for value := range x[t] {
			d := x[t][value] - y[t][value]
			squares, total = squares+d*d, total+max(d, -d)
		}
	}
	m.squares, m.total = max(m.squares, squares), max(m.total, total)
}

// farthest returns the largest changes over all logs of up to n records: if all records of user 0 in one period are
// absent, if all records of the user are, in both periods, and if one record is. These are all deletions, and so all
// insertions, because an insertion is a deletion backwards.
func farthest(n int, records []userRecord, sums func(log []userRecord) logSums) (period, whole, one moved) {
	rest := make([]userRecord, 0, n)
	for length := range n + 1 {
		logs(length, records, func(log []userRecord) {
			all := sums(log)
			without := func(absent func(i int, r userRecord) bool) logSums {
				rest = rest[:0]
				for i, r := range log {
					if !absent(i, r) {
						rest = append(rest, r)
					}
				}
				return sums(rest)
			}
			for p := range stepsOfLogs / periodOfLogs {
				period.takes(all, without(func(_ int, r userRecord) bool { return r.user == 0 && r.step/periodOfLogs == p }))
			}
			whole.takes(all, without(func(_ int, r userRecord) bool { return r.user == 0 }))
			for at := range log {
				one.takes(all, without(func(i int, _ userRecord) bool { return i == at }))
			}
		})
	}
	return period, whole, one
}

// TestUserPeriodsByEnumeration compares every loss that a guarantee of a user's period states with the largest change
// in all logs of up to 6 records: the claim is never below, and is reached (PROOF.md, Theorems 12 to 14).
func TestUserPeriodsByEnumeration(t *testing.T) {
	for k := 1; k <= 3; k++ {
		// Contributions of user 1 are 1, because no difference between neighbours depends on them.
		records := []userRecord{{user: 0, value: -1}, {user: 0, value: 0}, {user: 0, value: 1}, {user: 1, value: 1}}
		period, whole, one := farthest(6, records, func(log []userRecord) logSums { return sumsOf(log, k) })
		for _, name := range []string{"once-gaussian", "once-gamma", "once-laplace"} {
			c := uncounted(name, protection.UserPeriod{PeriodSteps: periodOfLogs, Events: uint64(k)})
			calibration := mechtest.Plan(t, c)
			g, err := calibration.Guarantee(c)
			if err != nil {
				t.Fatal(err)
			}
			event, err := calibration.EventGuarantee(c)
			if err != nil || event.Unit != (protection.Event{Exchange: dp.AddRemove}) {
				t.Fatalf("%+v, %v", event, err)
			}
			unit := float64(calibration.Grid.Lambda) / calibration.Scale.Float64()
			loss := func(m moved) float64 {
				if g.Mu > 0 {
					return dp.GaussianEpsilon(unit*math.Sqrt(float64(m.squares)), g.Delta)
				}
				return unit * float64(m.total)
			}
			for what, f := range map[string]struct {
				claimed float64
				is      moved
			}{
				"a period":                {g.Epsilon, period},
				"at any age":              {g.At(100).Epsilon, period},
				"both periods":            {g.AtPeriods(2).Epsilon, whole},
				"all of two steps":        {g.AtAll(2).Epsilon, whole},
				"all of three steps":      {g.AtAll(3).Epsilon, whole},
				"one event":               {g.AtOneEvent().Epsilon, one},
				"guarantee of one event":  {event.Epsilon, one},
				"two users in one period": {g.Group(2).Epsilon, moved{4 * period.squares, 2 * period.total}},
			} {
				if is := loss(f.is); f.claimed < is*(1-1e-12) || f.claimed > is*(1+1e-9) {
					t.Errorf("%s, k = %d, %s: ε = %.12g, by enumeration %.12g", name, k, what, f.claimed, is)
				}
			}
		}
	}
}

// TestOneEventIsPresentOrAbsent checks that the noise of add-remove is that of the largest norm of a contribution: half
// of the default contribution's distance under replace, and 1/√2 of a cell's, whatever the distance of two
// contributions.
func TestOneEventIsPresentOrAbsent(t *testing.T) {
	for _, name := range []string{"once-gaussian", "once-gamma", "once-laplace"} {
		for what, want := range map[string]float64{"default": 0.5, "cells": math.Sqrt(0.5)} {
			scale := func(a dp.Adjacency) mechanisms.Calibration {
				c := uncounted(name, protection.Event{Exchange: a})
				if what == "cells" {
					c.Contribution = contribution.Contribution{Components: []contribution.Component{
						{Name: "cells", Size: 4, Clip: 1, Quantiser: mechtest.OneHot{}, Share: 1},
					}}
				}
				if a != dp.AddRemove {
					c.Batch = 1
				}
				return mechtest.Plan(t, c)
			}
			replace, zeroOut, presence := scale(dp.Replace), scale(dp.ZeroOut), scale(dp.AddRemove)
			ratio := presence.Scale.Float64() / replace.Scale.Float64()
			tolerance := 1e-12
			if name == "once-laplace" {
				tolerance = 1e-7 // an ℓ1 distance is rounded up to an integer above 2²³
			}
			if ratio < want*(1-tolerance) || ratio > want*(1+tolerance) || !reflect.DeepEqual(presence, zeroOut) {
				t.Errorf("%s, %s: scale %g of the one under replace, want %g", name, what, ratio, want)
			}
			c := uncounted(name, protection.Event{Exchange: dp.Replace})
			c.Batch = 1
			if what == "default" {
				if _, err := presence.Guarantee(c); !errors.Is(err, mechanisms.ErrUnproved) {
					t.Errorf("%s: noise of presence for an exchange: %v", name, err)
				}
			}
		}
	}
}

// TestUserPeriodsOfSeveralComponents checks that the losses of components add up for a user's period as they do for an
// event (PROOF.md, Theorem 7).
func TestUserPeriodsOfSeveralComponents(t *testing.T) {
	for _, name := range []string{"once-gaussian", "once-gamma", "once-laplace"} {
		c, _ := withComponents(name)
		c.Batch, c.Terms = 0, protection.Terms{
			Scope: protection.PerStep{}, Unit: protection.UserPeriod{PeriodSteps: 24, Events: 3},
		}
		calibration := mechtest.Plan(t, c)
		g, err := calibration.Guarantee(c)
		if err != nil || g.Epsilon != 1 || g.Terms != c.Terms || g.Batch != 0 {
			t.Fatalf("%+v, %v", g, err)
		}
		more := c
		more.Unit = protection.UserPeriod{PeriodSteps: 24, Events: 4}
		if _, err := calibration.Guarantee(more); !errors.Is(err, mechanisms.ErrUnproved) {
			t.Errorf("%s: one event more in a period: %v, want ErrUnproved", name, err)
		}
		fewer := c
		fewer.Unit, fewer.Budget.Epsilon = protection.Event{Exchange: dp.AddRemove}, 0.35
		if _, err := calibration.Guarantee(fewer); err != nil {
			t.Errorf("%s: one of three events: %v", name, err)
		}
	}
}

// TestPresenceNeedsStepsWithoutCount checks that add-remove is refused where a step is a number of records, in a
// configuration with a batch, and in the sums of every other scope. Streams of steps without a number must open, and a
// caller that counts records must never close them.
func TestPresenceNeedsStepsWithoutCount(t *testing.T) {
	period := protection.UserPeriod{PeriodSteps: 7, Events: 1}
	for _, unit := range []protection.Unit{protection.Event{Exchange: dp.AddRemove}, period} {
		c := uncounted("once-gaussian", unit)
		counted := c
		counted.Batch = 1
		refused(t, counted, "batch 1: under adjacency add-remove a step has no fixed number of events")
		calibration := mechtest.Plan(t, c)
		stream, err := mechanisms.Open(c, calibration, [32]byte{})
		if err != nil || stream.Batch() != 0 || stream.Guarantee().Batch != 0 {
			t.Fatalf("%s: %v", unit.Name(), err)
		}
		count := mechtest.ByCount(stream)
		for i := range 9 {
			count.Add(noise.Identity{Offset: int64(i)}, []float64{0.5})
		}
		if count.Step() != 0 {
			t.Errorf("%s: %d steps are closed by their number of records", unit.Name(), count.Step())
		}
		stream.Close()
		if stream.Step() != 1 {
			t.Errorf("%s: %d steps after the first was closed", unit.Name(), stream.Step())
		}
		for _, name := range append(mechanisms.Names(), mechanisms.ExponentialMechanism) {
			if facts, _ := mechanisms.FactsOf(name); facts.Structure == mechanisms.PerStep {
				continue
			}
			of := config(name, 1)
			of.Batch, of.Unit = 0, unit
			refused(t, of, fmt.Sprintf("unit %s, adjacency add-remove: under scope %s", unit.Name(), of.Scope.Name()))
		}
	}
	exchanged := uncounted("once-gaussian", protection.Event{Exchange: dp.ZeroOut})
	refused(t, exchanged, "batch 0: ")
}

func refused(t *testing.T, c mechanisms.Config, want string) {
	t.Helper()
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%+v: %v, want %s", c.Terms, err, want)
	}
}
