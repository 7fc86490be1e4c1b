package submodular

import (
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/operators"
	"oriel/schemas"
)

var (
	flightsFile  = flag.String("flights", "", "flights.csv: figures of SPEC.md over all of it")
	airportsFile = flag.String("airports", "", "airports.csv: where they are")
)

// supplement is where airports are that the table of airports leaves out, by public aeronautical charts.
var supplement = []place{
	{name: "BQN", latitude: 18.4949, longitude: -67.1294},
	{name: "PSE", latitude: 18.0083, longitude: -66.5630},
	{name: "SJU", latitude: 18.4394, longitude: -66.0018},
	{name: "STT", latitude: 18.3373, longitude: -64.9734},
}

// world is a stream of events at places.
type world struct {
	places []place
	table  []float64 // what events at each gain from each
	types  []int
	pick   int
}

// value is what a set is worth in the mean to events.
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

// greedyOf is the greedy set of events.
func (w world) greedyOf(types []int) []int {
	counts := make([]float64, len(w.places))
	for _, j := range types {
		counts[j]++
	}
	set, _ := newGreedy(facility, len(w.places), len(w.places), w.pick).weighted(w.table, counts)
	return slices.Clone(set)
}

// last is the last tenth.
func (w world) last() []int { return w.types[len(w.types)*9/10:] }

// score tells what a method's sets were worth in the last tenth: 1 as greedy over all, 0 as random ones.
type score struct{ random, best, got float64 }

func (s score) normal() float64 { return (s.got - s.random) / (s.best - s.random) }

// played gives what next's sets are worth, of all events those of the last tenth, and lets it learn.
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

// machine plays that of settings.
func (w world) machine(t *testing.T, m mechanisms.Config, seed byte, lines ...string) score {
	t.Helper()
	text := ""
	for _, p := range w.places {
		text += fmt.Sprintf("%s:%v:%v\n", p.name, p.latitude, p.longitude)
	}
	c, err := configOf(t, text, m, append([]string{"PICK=" + strconv.Itoa(w.pick)}, lines...)...)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Mechanism(&m, nil); err != nil {
		t.Fatal(err)
	}
	b, err := c.Plan(m)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := c.Open(b, mechtest.Open(t, m, [32]byte{seed, 8}))
	if err != nil {
		t.Fatal(err)
	}
	machine, n := opened.(*Machine), len(w.places)
	var dst []operators.Decision
	return w.played(func() []int { return machine.set }, func(i, j int) {
		e := schemas.Event{Numbers: []float64{float64(j)}}
		if len(c.types) == 0 {
			e = schemas.Event{Vector: schemas.Vector{Values: w.table[j*n:][:n]}}
		}
		dst = machine.Add(dst[:0], operators.Record{Event: e, Identity: noise.Identity{Offset: int64(i)}})
	})
}

func (w world) hedged(period int, eta float64, seed uint64) score {
	n := len(w.places)
	e := newExperts(facility, n, w.pick, period, eta, seed)
	return w.played(e.next, func(_, j int) { e.learn(w.table[j*n:][:n]) })
}

// halved is sequential halving on what single sets are worth, of disjoint events: a fifth of them explores, in k phases
// of ⌈log₂N⌉ rounds; each explores one element behind the set so far, and of each element's sum, with Laplace noise of
// scale 1/ε, the better half stays. An event is in one sum: pure ε.
func (w world) halved(epsilon float64, seed uint64) score {
	n, rng := len(w.places), rand.New(rand.NewPCG(seed, 77))
	rounds := int(math.Ceil(math.Log2(float64(n))))
	each := len(w.types) / 5 / (w.pick * rounds)
	set, left := []int{}, rng.Perm(n)
	sums, counts := make([]float64, n), make([]float64, n)
	current, round := 0, 0
	explored := func() []int { return append(slices.Clone(set), left[current%len(left)]) }
	return w.played(func() []int {
		if len(set) == w.pick {
			return set
		}
		return explored()
	}, func(_, j int) {
		if len(set) == w.pick {
			return
		}
		a := left[current%len(left)]
		sums[a] += w.value([]int{j}, explored())
		counts[a]++
		if current++; current < each {
			return
		}
		for _, a := range left {
			laplace := (rng.ExpFloat64() - rng.ExpFloat64()) / epsilon
			sums[a] = (sums[a] + laplace) / max(1, counts[a])
		}
		slices.SortFunc(left, func(a, b int) int {
			if sums[a] > sums[b] {
				return -1
			}
			return 1
		})
		left, current, round = left[:(len(left)+1)/2], 0, round+1
		clear(sums)
		clear(counts)
		if round == rounds {
			set = append(set, left[0])
			left, round = nil, 0
			for _, a := range rng.Perm(n) {
				if !slices.Contains(set, a) {
					left = append(left, a)
				}
			}
		}
	})
}

// TestSetsOnFlights finds three airports such that most flights end within 1 000 km of one:
//
//	go test ./operators/submodular -run TestSetsOnFlights -flights flights.csv -airports airports.csv -timeout 1h -v
func TestSetsOnFlights(t *testing.T) {
	if *flightsFile == "" || *airportsFile == "" {
		t.Skip("no -flights and -airports")
	}
	w := flights(t)
	if names := texts(namesOf(w.places), w.greedyOf(w.types)); names != "CRW,PBI,LAX" {
		t.Errorf("greedy over all flights is %s", names)
	}
	whole := func(epsilon float64) mechanisms.Config {
		return mechanisms.Config{
			Name: "blt", Window: uint64(len(w.types)), Horizon: uint64(len(w.types)), Batch: 1, Adjacency: dp.Replace,
			Budget: dp.Budget{Epsilon: epsilon, Delta: 1e-6},
		}
	}
	if value := w.value(w.last(), w.greedyOf(w.types)); len(w.types) != 327346 || math.Abs(value-0.4810) > 1e-4 {
		t.Errorf("%d flights, of the last tenth greedy has %.4f", len(w.types), value)
	}
	r := rates{events: len(w.types), elements: len(w.places), pick: w.pick, epsilon: 1, delta: 1e-6}
	n := strconv.Itoa(len(w.places))
	draws := func(events string, seed int, lines ...string) score {
		m := whole(1)
		m.Name = mechanisms.Drawing
		return w.machine(t, m, byte(seed), append([]string{"RULE=draws", events}, lines...)...)
	}
	for _, row := range []struct {
		name        string
		least, most float64
		play        func(seed int) score
	}{
		{"histogram", 0.99, 1.1, func(seed int) score {
			return w.machine(t, whole(1), byte(seed), "RULE=histogram", "PLACES=given")
		}},
		{"histogram at 0.01", 0.93, 1.1, func(seed int) score {
			return w.machine(t, whole(0.01), byte(seed), "RULE=histogram", "PLACES=given")
		}},
		{"argmax", 0.97, 1.1, func(seed int) score {
			return w.machine(t, whole(1), byte(seed), "RULE=argmax", "ELEMENTS="+n)
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
		{"draws, as printed", -0.1, 0.25, func(seed int) score {
			return draws("PLACES=given", seed, "EMIT_EVERY=1", "RATE=printed")
		}},
		{"halving", 0.85, 1.1, func(seed int) score { return w.halved(1, uint64(seed)) }},
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
	t.Run("drift", func(t *testing.T) { // from the middle on east is west
		mirrored := w
		mirrored.types = slices.Clone(w.types)
		mirror := mirrorOf(w.places)
		for i := len(w.types) / 2; i < len(w.types); i++ {
			mirrored.types[i] = mirror[w.types[i]]
		}
		m := life(65536)
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

// mirrorOf pairs places by longitude: the westernmost with the easternmost.
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

// Sets through noise at ε = 1 find what greedy finds, of a short stream of 40 places, or much of it, in their order;
// exponential weights for each event a part at the tight rate, and as printed no more than random sets.
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
	m := life(65536)
	m.Budget.Epsilon = 1
	histogram := w.machine(t, m, 1, "RULE=histogram", "PLACES=given", "CATCHMENT=2000", "EMIT_EVERY=200").normal()
	argmax := w.machine(t, m, 1, "RULE=argmax", "ELEMENTS=40", "EMIT_EVERY=200").normal()
	r := rates{events: len(w.types), elements: 40, pick: 3, epsilon: 1, delta: 1e-6}
	printed := w.hedged(1, r.printed(), 1).normal()
	tight, batched := w.hedged(1, r.tight(1), 1).normal(), w.hedged(200, r.tight(200), 1).normal()
	m = whole(uint64(len(w.types)), 1)
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

// flights are the destinations of all that arrived, in the order of their schedule.
func flights(t *testing.T) world {
	t.Helper()
	read := func(file string, each func(column func(name string) string)) {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		rows := csv.NewReader(f)
		header, err := rows.Read()
		if err != nil {
			t.Fatal(err)
		}
		for {
			row, err := rows.Read()
			if err == io.EOF {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			each(func(name string) string { return row[slices.Index(header, name)] })
		}
	}
	known := slices.Clone(supplement)
	read(*airportsFile, func(column func(name string) string) {
		latitude, _ := strconv.ParseFloat(column("lat"), 64)
		longitude, _ := strconv.ParseFloat(column("lon"), 64)
		known = append(known, place{name: column("faa"), latitude: latitude, longitude: longitude})
	})
	type landing struct {
		scheduled   int // month, day, hhmm: files have months in another order
		destination string
	}
	var landings []landing
	read(*flightsFile, func(column func(name string) string) {
		if column("arr_delay") == "NA" || column("arr_delay") == "" {
			return
		}
		scheduled := 0
		for _, name := range []string{"month", "day", "sched_dep_time"} {
			number, err := strconv.Atoi(column(name))
			if err != nil {
				t.Fatal(err)
			}
			scheduled = 10000*scheduled + number
		}
		landings = append(landings, landing{scheduled, column("dest")})
	})
	slices.SortStableFunc(landings, func(a, b landing) int { return a.scheduled - b.scheduled })
	var destinations []string
	for _, l := range landings {
		destinations = append(destinations, l.destination)
	}
	w := world{pick: 3}
	names := slices.Compact(slices.Sorted(slices.Values(destinations)))
	for _, name := range names {
		i := slices.IndexFunc(known, func(p place) bool { return p.name == name })
		if i < 0 {
			t.Fatalf("%s is nowhere", name)
		}
		w.places = append(w.places, known[i])
	}
	for _, name := range destinations {
		at, _ := slices.BinarySearch(names, name)
		w.types = append(w.types, at)
	}
	w.table = w.tableOf(1000)
	return w
}
