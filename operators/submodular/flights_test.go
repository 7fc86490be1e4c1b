package submodular

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
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
	flightsFile  = flag.String("flights", "", "flights.csv: figures of SPEC.md over all of it")
	airportsFile = flag.String("airports", "", "airports.csv: where they are")
)

// world is a stream of events at places.
type world struct {
	places []place
	table  []float64 // value of each place to events at each place
	types  []int
	pick   int
}

// value returns the mean value of a set to events.
func (w world) value(types []int, set []int) (sum float64) {
	n := len(w.places)
	for _, j := range types {
		best := 0.0
		for _, a := range set {
			best = max(best, w.table[j*n+a])
		}
		sum += best / float64(len(types))
	}
	return sum
}

// greedyOf returns the greedy set of events.
func (w world) greedyOf(types []int) []int {
	counts := make([]float64, len(w.places))
	for _, j := range types {
		counts[j]++
	}
	set, _ := newGreedy(facility, len(w.places), len(w.places), w.pick).weighted(w.table, counts)
	return slices.Clone(set)
}

// last returns the last tenth of the events.
func (w world) last() []int { return w.types[len(w.types)*9/10:] }

// score holds the value of a method's sets to the last tenth of the events, and the values of two other sets for
// comparison: the greedy set of all events (score 1) and random sets (score 0).
type score struct{ random, best, got float64 }

func (s score) normal() float64 { return (s.got - s.random) / (s.best - s.random) }

// played scores the sets of next over the last tenth of the events, and calls learn for every event.
func (w world) played(next func() []int, learn func(i, j int)) score {
	rng := rand.New(rand.NewPCG(1, 99))
	s := score{best: w.value(w.last(), w.greedyOf(w.types))}
	for range 200 {
		s.random += w.value(w.last(), rng.Perm(len(w.places))[:w.pick]) / 200
	}
	from, n := len(w.types)*9/10, len(w.places)
	for i, j := range w.types {
		if set := next(); i >= from {
			best := 0.0
			for _, a := range set {
				best = max(best, w.table[j*n+a])
			}
			s.got += best / float64(len(w.types)-from)
		}
		learn(i, j)
	}
	return s
}

// machine scores the machine of the given settings.
func (w world) machine(t *testing.T, m mechanisms.Config, seed byte, lines ...string) score {
	t.Helper()
	text := ""
	for _, p := range w.places {
		text += fmt.Sprintf("%s:%v:%v\n", p.name, p.latitude, p.longitude)
	}
	c, err := configOf(text, m, append([]string{"PICK=" + strconv.Itoa(w.pick)}, lines...)...)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Require(&m, nil); err != nil {
		t.Fatal(err)
	}
	b, err := c.Params(m)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := c.Open(b, mechtest.Open(t, m, [32]byte{seed, 8}))
	if err != nil {
		t.Fatal(err)
	}
	machine, n := opened.(*Machine), len(w.places)
	counted := operators.ByCount(machine)
	var dst []operators.Decision
	return w.played(func() []int { return machine.set }, func(i, j int) {
		e := event.Event{Numbers: []float64{float64(j)}}
		if len(c.types) == 0 {
			e = event.Event{Vector: event.Vector{Values: w.table[j*n:][:n]}}
		}
		dst = counted.Add(dst[:0], operators.Record{Event: e, Identity: noise.Identity{Offset: int64(i)}})
	})
}

func (w world) hedged(period int, eta float64, seed uint64) score {
	n := len(w.places)
	e := newExperts(facility, n, w.pick, period, eta, seed)
	return w.played(e.next, func(_, j int) { e.learn(w.table[j*n:][:n]) })
}

// TestSetsOnFlights looks for three airports such that most flights end within 1 000 km of one of them:
//
//	go test ./operators/submodular -run TestSetsOnFlights -flights flights.csv -airports airports.csv -timeout 1h -v
func TestSetsOnFlights(t *testing.T) {
	if *flightsFile == "" || *airportsFile == "" {
		t.Skip("no -flights and -airports")
	}
	w := flights(t)
	if names := operators.JoinNames(namesOf(w.places), w.greedyOf(w.types)); names != "CRW,PBI,LAX" {
		t.Errorf("greedy over all flights is %s", names)
	}
	lifetime := func(epsilon float64) mechanisms.Config {
		return mechanisms.Config{
			Name: "blt", Batch: 1, Budget: dp.Budget{Epsilon: epsilon, Delta: 1e-6},
			Terms: protection.Terms{
				Scope: protection.Lifetime{Steps: uint64(len(w.types)), Within: uint64(len(w.types))},
				Unit:  protection.Event{Exchange: dp.Replace},
			},
		}
	}
	if value := w.value(w.last(), w.greedyOf(w.types)); len(w.types) != 327346 || math.Abs(value-0.4810) > 1e-4 {
		t.Errorf("%d flights, of the last tenth greedy has %.4f", len(w.types), value)
	}
	r := rates{events: len(w.types), elements: len(w.places), pick: w.pick, epsilon: 1, delta: 1e-6}
	n := strconv.Itoa(len(w.places))
	draws := func(events string, seed int, lines ...string) score {
		m := lifetime(1)
		m.Name = mechanisms.ExponentialMechanism
		return w.machine(t, m, byte(seed), append([]string{"RULE=draws", events}, lines...)...)
	}
	for _, row := range []struct {
		name        string
		least, most float64
		play        func(seed int) score
	}{
		{"histogram", 0.99, 1.1, func(seed int) score {
			return w.machine(t, lifetime(1), byte(seed), "RULE=histogram", "PLACES=given")
		}},
		{"histogram at 0.01", 0.93, 1.1, func(seed int) score {
			return w.machine(t, lifetime(0.01), byte(seed), "RULE=histogram", "PLACES=given")
		}},
		{"argmax", 0.97, 1.1, func(seed int) score {
			return w.machine(t, lifetime(1), byte(seed), "RULE=argmax", "ELEMENTS="+n)
		}},
		{"argmax of places", 0.97, 1.1, func(seed int) score {
			return w.machine(t, lifetime(1), byte(seed), "RULE=argmax", "PLACES=given")
		}},
		{"draws, bounded, each 1000", 0.4, 0.7, func(seed int) score {
			return draws("PLACES=given", seed, "EMIT_EVERY=1000", "RATE=bounded")
		}},
		{"no privacy", 0.95, 1.1, func(seed int) score {
			return w.hedged(1, math.Sqrt(math.Log(float64(len(w.places)))/float64(len(w.types))), uint64(seed))
		}},
		{"exponential weights, drawn each 1000", 0.97, 1.1, func(seed int) score {
			return w.hedged(1000, r.tight(1000), uint64(seed))
		}},
		{"exponential weights, tight", 0.40, 0.60, func(seed int) score { return w.hedged(1, r.tight(1), uint64(seed)) }},
		{"exponential weights, printed", -0.1, 0.25, func(seed int) score { return w.hedged(1, r.printed(), uint64(seed)) }},
		{"draws each 1000", 0.97, 1.1, func(seed int) score { return draws("PLACES=given", seed, "EMIT_EVERY=1000") }},
		{"draws each 1000 of values", 0.97, 1.1, func(seed int) score {
			return draws("ELEMENTS="+n, seed, "EMIT_EVERY=1000")
		}},
		{"draws", 0.40, 0.60, func(seed int) score { return draws("PLACES=given", seed, "EMIT_EVERY=1") }},
		{"argmax of six", 0.65, 0.95, func(seed int) score {
			w := w
			w.pick = 6
			return w.machine(t, lifetime(1), byte(seed), "RULE=argmax", "ELEMENTS="+n)
		}},
		{"leaders", 0.9, 1.1, func(seed int) score {
			return w.machine(t, lifetime(1), byte(seed), "RULE=leaders", "ELEMENTS="+n)
		}},
		{"leaders, as printed", 0.3, 0.5, func(seed int) score {
			return w.machine(t, lifetime(1), byte(seed), "RULE=leaders", "RATE=printed", "ELEMENTS="+n)
		}},
		{"draws, as printed", -0.1, 0.25, func(seed int) score {
			return draws("PLACES=given", seed, "EMIT_EVERY=1", "RATE=printed")
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			mean := 0.0
			for seed := range 3 {
				s := row.play(seed)
				mean += s.normal() / 3
				t.Logf("value %.4f of %.4f, normal score %.4f", s.got, s.best, s.normal())
			}
			if mean < row.least || mean > row.most {
				t.Errorf("normal score %.4f, want %g to %g", mean, row.least, row.most)
			}
		})
	}
	t.Run("drift", func(t *testing.T) { // half way, east and west are exchanged
		mirrored := w
		mirrored.types = slices.Clone(w.types)
		mirror := mirrorOf(w.places)
		for i := len(w.types) / 2; i < len(w.types); i++ {
			mirrored.types[i] = mirror[w.types[i]]
		}
		m := optest.Life(65536)
		m.Budget = dp.Budget{Epsilon: 1, Delta: 1e-6}
		s := mirrored.machine(t, m, 1, "RULE=histogram", "PLACES=given")
		best := mirrored.value(mirrored.last(), mirrored.greedyOf(mirrored.last()))
		t.Logf("value %.4f, of the best set for the last tenth %.4f", s.got, s.got/best)
		if s.got < 0.97*best {
			t.Errorf("the last tenth has %.3f of what greedy has that knows it", s.got/best)
		}
	})
}

func namesOf(places []place) (names []string) {
	for _, p := range places {
		names = append(names, p.name)
	}
	return names
}

// mirrorOf pairs places by longitude: the westernmost with the easternmost, and so on.
func mirrorOf(places []place) []int {
	order := make([]int, len(places))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return map[bool]int{true: -1, false: 1}[places[a].longitude < places[b].longitude]
	})
	mirror := make([]int, len(places))
	for i, a := range order {
		mirror[a] = order[len(order)-1-i]
	}
	return mirror
}

// TestSetsOfAShortStream plays a short stream of 40 places through noise at ε = 1, and checks normalised values of
// sets. histogram comes close to greedy, and argmax reaches more than half of it. Exponential weights that draw at each
// event are slightly better than random sets at the tight rate, and no better at the printed rate. Draws once in 200
// events are better than frequent draws.
func TestSetsOfAShortStream(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 44))
	w := world{pick: 3}
	for i := range 40 {
		p := place{name: "p" + strconv.Itoa(i), latitude: 50 * rng.Float64(), longitude: 80 * rng.Float64()}
		w.places = append(w.places, p)
	}
	w.table = w.tableOf(2000)
	for range 20000 {
		w.types = append(w.types, min(rng.IntN(40), rng.IntN(40), rng.IntN(40)))
	}
	m := optest.Life(65536)
	m.Budget.Epsilon = 1
	histogram := w.machine(t, m, 1, "RULE=histogram", "PLACES=given", "CATCHMENT=2000", "EMIT_EVERY=200").normal()
	argmax := w.machine(t, m, 1, "RULE=argmax", "ELEMENTS=40", "EMIT_EVERY=200").normal()
	r := rates{events: len(w.types), elements: 40, pick: 3, epsilon: 1, delta: 1e-6}
	printed := w.hedged(1, r.printed(), 1).normal()
	tight, batched := w.hedged(1, r.tight(1), 1).normal(), w.hedged(200, r.tight(200), 1).normal()
	m = lifetime(uint64(len(w.types)), 1)
	seldom := w.machine(t, m, 1, "RULE=draws", "PLACES=given", "CATCHMENT=2000", "EMIT_EVERY=200").normal()
	often := w.machine(t, m, 1, "RULE=draws", "PLACES=given", "CATCHMENT=2000", "EMIT_EVERY=4").normal()
	if often < 0.1 || seldom < often+0.2 {
		t.Errorf("normal scores of draws: each 4 events %.3f, each 200 %.3f", often, seldom)
	}
	t.Logf("normal scores: histogram %.3f, argmax %.3f, exponential weights %.3f, tight %.3f, drawn each 200 %.3f", histogram,
		argmax, printed, tight, batched)
	if histogram < 0.97 || argmax < 0.6 || printed > 0.1 || tight < 0.1 || batched < tight+0.2 {
		t.Error("the scores are not in their order")
	}
}

func (w world) tableOf(catchment float64) (table []float64) {
	for _, v := range values(w.places, catchment) {
		table = append(table, float64(v)/unit)
	}
	return table
}

// flights reads the destinations of all flights that arrived, in the order of their schedule.
func flights(t *testing.T) world {
	t.Helper()
	l := flighttest.ReadLandings(t, *flightsFile, *airportsFile)
	w := world{pick: 3, types: l.Destinations}
	for i, name := range l.Names {
		w.places = append(w.places, place{name: name, latitude: l.Latitude[i], longitude: l.Longitude[i]})
	}
	w.table = w.tableOf(1000)
	for i := range w.places {
		for j := range w.places {
			if want := max(0, 1-l.Kilometres(i, j)/1000); math.Abs(w.table[i*len(w.places)+j]-want) > 1e-5 {
				t.Errorf("%s is worth %g to %s, want %g", l.Names[j], w.table[i*len(w.places)+j], l.Names[i], want)
			}
		}
	}
	return w
}
