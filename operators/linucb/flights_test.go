package linucb

import (
	"flag"
	"math"
	"strconv"
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/optest"
	"oriel/operators/optest/flighttest"
	"oriel/schemas/event"
)

var (
	flightsFile = flag.String("flights", "", "flights.csv: figures of SPEC.md over all of it")
	flightsRow  = flag.String("row", "", "of the figures, those whose name begins so")
)

// flight is one flight, from which the problems below make an event.
type flight struct {
	delay float64
	late  []float64 // 27 features of norm 1; the constant feature counts three times
	when  []float64 // 16 features of the schedule
}

// problem is a contextual bandit on flights.
type problem struct {
	arms    string
	context func(f flight) []float64
	reward  func(f flight, arm int) float64
}

var problems = map[string]problem{
	// The choices are late and on time. The reward for a correct choice is larger for a late flight.
	"two": {
		arms: "late,on time", context: func(f flight) []float64 { return f.late },
		reward: func(f flight, arm int) float64 {
			switch late := f.delay > 15; {
			case late && arm == 0:
				return 1
			case !late && arm == 1:
				return 0.31
			}
			return 0
		},
	},
	// The choice is the tercile of the delay.
	"terciles": {
		arms: "early,about,late", context: func(f flight) []float64 { return f.when },
		reward: func(f flight, arm int) float64 {
			if want := map[bool]int{true: 0}; f.delay <= -12 {
				return map[bool]float64{true: 1}[arm == want[true]]
			}
			if f.delay <= 6 {
				return map[bool]float64{true: 1}[arm == 1]
			}
			return map[bool]float64{true: 1}[arm == 2]
		},
	},
}

// TestRewardsOnFlights plays all flights of a file, in its order, and logs the mean reward and, for comparison, the
// mean reward of the best arm:
//
//	go test ./operators/linucb -run TestRewardsOnFlights -flights flights.csv -timeout 2h -v
func TestRewardsOnFlights(t *testing.T) {
	if *flightsFile == "" {
		t.Skip("no -flights")
	}
	all := flights(t)
	budget, steps := dp.Budget{Epsilon: 1, Delta: 1e-6}, uint64(len(all))
	whole := mechanisms.Config{
		Name: "blt", Batch: 1, Budget: budget,
		Terms: protection.Terms{
			Scope: protection.Lifetime{Steps: steps, Within: steps}, Unit: protection.Event{Exchange: dp.Replace},
		},
	}
	tree, forever := whole, optest.Life(65536)
	tree.Name, tree.Scope, forever.Budget = "tree-gaussian", protection.Lifetime{Steps: steps, Within: 1 << 19}, budget
	greedy := []string{"NOISE_SHIFT=4", "WIDTH=0"} // a shift of about 2Υ, and no width
	for _, row := range []struct {
		name          string
		m             mechanisms.Config
		two, terciles [2]float64 // mean rewards that are wanted, from and to
		lines         []string
	}{
		{"for life", forever, [2]float64{0.289, 1}, [2]float64{0.432, 1}, nil},
		{"whole", whole, [2]float64{0.285, 1}, [2]float64{0.422, 1}, nil},
		{"tree", tree, [2]float64{0.280, 1}, [2]float64{0.415, 1}, nil},
		{"proved", whole, [2]float64{0.275, 1}, [2]float64{0.405, 1}, []string{"CONFIDENCE=0.95"}},
		{"printed Gaussian", tree, [2]float64{0.245, 0.27}, [2]float64{0.355, 0.385}, greedy},
		{"printed Wishart", tree, [2]float64{0.235, 0.255}, [2]float64{0.32, 0.37}, greedy},
	} {
		for name, p := range problems {
			t.Run(row.name+" "+name, func(t *testing.T) {
				if n := min(len(*flightsRow), len(row.name)); (row.name + " ")[:n] != (*flightsRow)[:n] {
					t.Skip("not -row")
				}
				want := map[string][2]float64{"two": row.two, "terciles": row.terciles}[name]
				for seed := range byte(2) {
					d := strconv.Itoa(len(p.context(all[0])))
					m := row.m
					if noise, printed := strings.CutPrefix(row.name, "printed "); printed {
						m = asPrinted(m, noise, float64(len(p.context(all[0]))))
					}
					c, m := config(t, m, append([]string{"PLAYED=logged", "ARMS=" + p.arms, "DIMENSION=" + d}, row.lines...)...)
					machine, err := newMachine(c, mechtest.Open(t, m, [32]byte{seed, 3}))
					if err != nil {
						t.Fatal(err)
					}
					got := play(machine, all, p)
					t.Logf("seed %d: %.4f, %d doublings", seed, got, machine.model.doublings)
					if got < want[0] || got > want[1] {
						t.Errorf("mean reward %.4f, want %g", got, want)
					}
				}
			})
		}
	}
}

// play lets the machine choose for each flight and learn from its choices. It returns the mean reward.
func play(m *Machine, all []flight, p problem) float64 {
	counted := operators.ByCount(m)
	total, z := 0.0, make([]float64, m.rows.Features)
	var dst []operators.Decision
	for i, f := range all {
		r := operators.Record{Identity: noise.Identity{Offset: int64(i)}, Event: event.Event{
			Vector: event.Vector{Values: p.context(f)}, Weight: 1,
		}}
		arm := m.choose(z, r)
		reward := p.reward(f, arm)
		total += reward
		r.Event.Numbers = []float64{float64(arm), reward}
		dst = counted.Add(dst[:0], r)
	}
	return total / float64(len(all))
}

// flights reads all flights with a known delay, in the order of their schedule.
func flights(t *testing.T) (all []flight) {
	t.Helper()
	unit := func(x []float64) []float64 {
		norm := 0.0
		for _, v := range x {
			norm += v * v
		}
		for i := range x {
			x[i] /= math.Sqrt(norm)
		}
		return x
	}
	oneHot := func(x []float64, of string, names ...string) []float64 {
		for _, name := range names {
			x = append(x, map[bool]float64{true: 1}[name == of])
		}
		return x
	}
	flighttest.EachFlight(t, *flightsFile, func(column func(name string) string) {
		number := func(name string) float64 {
			x, err := strconv.ParseFloat(column(name), 64)
			if err != nil {
				t.Fatal(err)
			}
			return x
		}
		f := flight{delay: number("arr_delay")}
		hour, month := 2*math.Pi*number("hour")/24, 2*math.Pi*number("month")/12
		base := []float64{math.Sin(hour), math.Cos(hour), math.Sin(2 * hour), math.Cos(2 * hour), number("distance") / 2500}
		origins := []string{"EWR", "JFK", "LGA"}
		late := append([]float64{3}, base...)
		late = oneHot(late, column("origin"), origins...)
		late = oneHot(late, column("carrier"),
			"9E", "AA", "AS", "B6", "DL", "EV", "F9", "FL", "HA", "MQ", "OO", "UA", "US", "VX", "WN", "YV")
		f.late = unit(append(late, math.Sin(month), math.Cos(month)))
		when := append(append([]float64{1}, base...), math.Sin(month), math.Cos(month))
		when = oneHot(when, column("origin"), origins...)
		f.when = unit(oneHot(when, column("carrier"), "UA", "B6", "EV", "DL", "AA"))
		all = append(all, f)
	})
	return all
}
