package papers

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"oriel/operators"
	"oriel/schemas/event"
)

// sets measures the submodular operator on a facility location problem whose best set is known.
var sets = Experiment{
	Name:    "sets",
	Title:   "The value that private sets miss",
	Text:    "Three of 20 sites for events of 40 public types, laws that stay and that turn, ε = 1 and 0.1",
	Measure: "value missed",
	Rows:    rowsOf(setsPlayers),
	Columns: staysAndTurns(setBudgets),
	Steps:   100_000, Short: 2_000, Seeds: 5,
	Panels: [2]int{0, 2},
	Play:   playSets,
	Notes: []string{
		"Types and sites are points of a square. The value of a site for an event is 1 − distance/0.4, or 0.",
		"Missed: the value of the greedy set for the true law, less the value of the newest public set, summed over events.",
		"Some types are a hundred times as frequent as others. turns: other types are frequent after each quarter.",
		"δ = 1e-6, under exchange of one event. H: memory of decaying sums, for ever. No privacy: the same code at ε = 10⁹.",
		"Drawn for each event: the source's FI-DP at the rate that zCDP allows. The printed rate is the source's own.",
		"Of worths alone: an event says only how good its set was. Sets that are tried count like other sets.",
		"Halving starts anew five times in a stream that turns. γ: the share of events that explore.",
		"The regulariser factor of leaders is the source's over the Γ tree, and follows from the noise over `blt`.",
		"`shares` are scored by their mean.",
	},
}

const (
	setTypes = 40
	setSites = 20
	setPick  = 3
)

// printedRule selects the rates that the paper prints.
const printedRule = "ORIEL_RATE=printed"

// sharesRule is the rule whose decisions are probabilities of sites.
const sharesRule = "shares"

// setBudgets has the ε of each column of a stream.
var setBudgets = []float64{1, 0.1}

// setsPlayers lists the rules of operators/submodular. Rules for types also need a file with the types.
var setsPlayers = []player{
	{plotted("none", "no privacy", "none"), setsOf(public, "histogram", 100, "")},
	{plotted("histogram", "`histogram`, `blt` of the whole run", forLife+", (ε, δ)"), setsOf(0, "histogram", 100, "")},
	{plotted("histogram, H", "`histogram`, `blt`, H = 16 384", "for ever, (ε, δ)"), setsOf(0, "histogram", 100, "16384")},
	{plotted("argmax", "`argmax`, `blt` of the whole run", forLife+", (ε, δ)"), setsOf(0, "argmax", 100, "")},
	{plotted("drawn 1000", "drawn each 1 000 events", forLife+", (ε, δ)"), setsOf(0, "draws", 1000, "")},
	{plotted("FI-DP", "drawn for each event", forLife+", (ε, δ)"), setsOf(0, "draws", 1, "")},
	{tabled("printed", "the same at the printed rate", forLife+", (ε, δ)"), setsOf(0, "draws", 1, "", printedRule)},
	{tabled("leaders", "`leaders`, Γ tree of the whole run", forLife+", ε"), setsOf(0, "leaders", 100, "", printedRule)},
	{plotted("halving", "halving, of worths alone", "for ever, ε"), halvingOf},
	{tabled("BanditDP", "BanditDP, of worths alone, γ = 0.2", forLife+", (ε, δ)"), explorersOf("ORIEL_SHARE=0.2")},
	{
		tabled("BanditDP, printed", "the same at printed rates, γ = 1", forLife+", (ε, δ)"),
		explorersOf("ORIEL_SHARE=1", printedDraws),
	},
	{
		tabled("BanditDP, k²", "the same with k² in place of k, γ = 1", forLife+", (ε, δ)"),
		explorersOf("ORIEL_SHARE=1", printedDraws),
	},
	{
		tabled("BanditDP, B.1", "drawn anew behind each round, B.1", forLife+", (ε, δ)"),
		explorersOf("ORIEL_SHARE=1", directDraws),
	},
	{
		tabled("Streeter–Golovin", "drawn for each event, no privacy", "none"),
		setsOf(public, "draws", 1, "", "ORIEL_RATE=bounded"),
	},
	{tabled("leaders, blt", "`leaders`, `blt` of the whole run", forLife+", (ε, δ)"), setsOf(0, "leaders", 100, "")},
	{tabled("shares", "`shares`, `blt` of the whole run", forLife+", (ε, δ)"), setsOf(0, sharesRule, 100, "")},
}

// setElements returns the setting that names the sites.
func setElements() string {
	names := make([]string, setSites)
	for a := range names {
		names[a] = strconv.Itoa(a)
	}
	return "ORIEL_ELEMENTS=" + strings.Join(names, ",")
}

// halvingOf returns the settings of operators/sets that find a set by successive halving, in a stream that changes
// several times.
func halvingOf(column int, steps uint64) []string {
	const batch, whole = 25, 400 // number of events of a round; number of rounds that suffice to find a set
	epoch := uint64(0)
	if column >= len(setBudgets) {
		epoch = max(whole, steps/batch/5)
	}
	return []string{
		"ORIEL_OPERATOR=sets", "ORIEL_RULE=halving", "ORIEL_PICK=" + strconv.Itoa(setPick), setElements(),
		"ORIEL_BATCH=" + number(batch), "ORIEL_PLAYS=" + number(batch), "ORIEL_DELAY=0",
		"ORIEL_TRIES=1", "ORIEL_EPOCH=" + strconv.FormatUint(epoch, 10), "ORIEL_MECHANISM=once-gamma",
		"ORIEL_WINDOW=lifetime", "ORIEL_EPSILON=" + number(setBudgets[column%len(setBudgets)]),
	}
}

// explorersOf returns the settings of operators/sets that draw a set after each exploration. In runs as short as these,
// all shares of explorations that the paper prints are 1, and at this share B.1 draws as often as the others.
func explorersOf(share string, printed ...string) func(int, uint64) []string {
	return func(column int, steps uint64) []string {
		return append([]string{
			"ORIEL_OPERATOR=sets", "ORIEL_RULE=draws", "ORIEL_PICK=" + strconv.Itoa(setPick), setElements(), share,
			"ORIEL_BATCH=1", "ORIEL_PLAYS=1", "ORIEL_DELAY=0", "ORIEL_MECHANISM=draws", "ORIEL_WINDOW=horizon",
			"ORIEL_HORIZON=" + strconv.FormatUint(steps, 10), "ORIEL_EPSILON=" + number(setBudgets[column%len(setBudgets)]),
			"ORIEL_DELTA=1e-6",
		}, printed...)
	}
}

// setsOf returns the settings of submodular with a rule, for the whole run or with decaying sums. An ε of 0 stands for
// the column's ε.
func setsOf(epsilon float64, rule string, every int, memory string, more ...string) func(int, uint64) []string {
	return func(column int, steps uint64) []string {
		e := cmp.Or(epsilon, setBudgets[column%len(setBudgets)])
		list := append([]string{
			"ORIEL_OPERATOR=submodular", "ORIEL_RULE=" + rule, "ORIEL_PICK=" + strconv.Itoa(setPick),
			"ORIEL_EMIT_EVERY=" + strconv.Itoa(every), "ORIEL_EPSILON=" + number(e),
		}, more...)
		if rule != "histogram" {
			list = append(list, "ORIEL_ELEMENTS="+strconv.Itoa(setSites))
		}
		switch {
		case rule == "leaders" && slices.Contains(more, printedRule):
			list = append(list, "ORIEL_MECHANISM=tree-gamma")
		case rule == "draws":
			list = append(list, "ORIEL_MECHANISM=draws", "ORIEL_DELTA=1e-6")
		default:
			list = append(list, "ORIEL_MECHANISM=blt", "ORIEL_DELTA=1e-6")
		}
		return append(list, lasting(memory, steps)...)
	}
}

// square is a world of sites and types of events at random points of the unit square.
type square struct {
	rng    *rand.Rand
	values [setTypes][]float64 // value of each site for each type
	shares []float64           // frequencies of the types; their sum is 1
	best   []float64           // set that the greedy algorithm finds for the frequencies
	lost   float64
}

func newSquare(seed uint64) *square {
	w := &square{rng: rand.New(rand.NewPCG(seed, 7)), shares: make([]float64, setTypes)}
	var sites [setSites][2]float64
	for a := range sites {
		sites[a] = [2]float64{w.rng.Float64(), w.rng.Float64()}
	}
	for j := range w.values {
		x, y := w.rng.Float64(), w.rng.Float64()
		for _, p := range sites {
			w.values[j] = append(w.values[j], max(0, 1-math.Hypot(x-p[0], y-p[1])/0.4))
		}
	}
	w.turn()
	return w
}

// turn draws new frequencies of types, and finds the greedy set for them.
func (w *square) turn() {
	sum := 0.0
	for j := range w.shares {
		w.shares[j] = math.Pow(100, w.rng.Float64())
		sum += w.shares[j]
	}
	for j := range w.shares {
		w.shares[j] /= sum
	}
	w.best = nil
	for range setPick {
		most, site := -1.0, 0.0
		for a := range setSites {
			value := 0.0
			for j, share := range w.shares {
				value += share * w.value(j, append(slices.Clone(w.best), float64(a)))
			}
			if value > most {
				most, site = value, float64(a)
			}
		}
		w.best = append(w.best, site)
	}
}

// value returns the value of a set for a type: the value of the set's best site.
func (w *square) value(of int, set []float64) (value float64) {
	for _, a := range set {
		if a >= 0 { // −1 stands for no element
			value = max(value, w.values[of][int(a)])
		}
	}
	return value
}

// mean returns the mean value, for a type, of a random set that contains each site independently with the site's
// probability.
func (w *square) mean(of int, shares []float64) (value float64) {
	order := make([]int, setSites)
	for a := range order {
		order[a] = a
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(w.values[of][b], w.values[of][a]) })
	none := 1.0
	for _, a := range order { // order has the best element first, whose value counts if the set contains it
		value += none * shares[a] * w.values[of][a]
		none *= 1 - shares[a]
	}
	return value
}

// draw draws the type of the next event.
func (w *square) draw() int {
	at, j := w.rng.Float64(), 0
	for j < setTypes-1 && at >= w.shares[j] {
		at -= w.shares[j]
		j++
	}
	return j
}

// file writes the values of sites for types in the form of ORIEL_TYPES.
func (w *square) file(folder string) (path string, err error) {
	var b strings.Builder
	for j, values := range w.values {
		fmt.Fprintf(&b, "t%d", j)
		for _, v := range values {
			b.WriteString(":" + strconv.FormatFloat(v, 'g', -1, 64))
		}
		b.WriteByte('\n')
	}
	path = filepath.Join(folder, "types")
	return path, os.WriteFile(path, []byte(b.String()), 0o600)
}

// seen is a square whose events return feedback on the set that was played.
type seen struct {
	*square
	Cell
	step uint64
}

// cost returns the value of the played set for the next event.
func (w *seen) cost(set []float64) float64 {
	if w.turnsAt(w.step) {
		w.turn()
	}
	w.step++
	of := w.draw()
	values := w.value(of, set)
	w.lost += w.value(of, w.best) - values
	return values
}

func (w *seen) regret() float64 { return w.lost }

// playSets sends each event, and scores the newest set that was public before it.
func playSets(ctx context.Context, c Cell) ([]Point, error) {
	w, list := newSquare(uint64(c.Seed)), setsPlayers[c.Row].settings(c.Column, c.Steps)
	if list[0] == "ORIEL_OPERATOR=sets" {
		return answer(ctx, list, keyOf("sets", c), &seen{square: w, Cell: c}, c.Steps)
	}
	typed := slices.Contains(list, "ORIEL_RULE=histogram")
	if typed {
		folder, err := os.MkdirTemp("", "oriel-types")
		if err != nil {
			return nil, err
		}
		defer func() { _ = os.RemoveAll(folder) }()
		path, err := w.file(folder)
		if err != nil {
			return nil, err
		}
		list = append(list, "ORIEL_TYPES="+path)
	}
	machine, _, err := open(list, keyOf("sets", c))
	if err != nil {
		return nil, err
	}
	set, step, value := []float64{0, 1, 2}, uint64(0), w.value // set, and its mean value, before the first decision
	if slices.Contains(list, "ORIEL_RULE="+sharesRule) {
		set, value = make([]float64, setSites), w.mean
		set[0], set[1], set[2] = 1, 1, 1
	}
	var r operators.Record
	var made []operators.Decision
	return measure(ctx, c.Steps, func() {
		if c.turnsAt(step) {
			w.turn()
		}
		step++
		of := w.draw()
		w.lost += w.value(of, w.best) - value(of, set)
		r.Identity.Offset++
		r.Event = event.Event{Vector: event.Vector{Values: w.values[of]}}
		if typed {
			r.Event = event.Event{Numbers: []float64{float64(of)}}
		}
		if made = machine.Add(made[:0], r); len(made) > 0 {
			set = append(set[:0], made[0].Point...)
		}
	}, func() float64 { return w.lost })
}
