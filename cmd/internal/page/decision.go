package page

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/score"
	"oriel/schemas/decision"
)

// Bounds on what the page shows of decisions, over all streams, because a decision may have a quarter of a million
// coordinates. Prometheus metrics have the same bound.
const (
	maxNumbers = 1000
	maxWeights = 200  // largest number of weights of a stream that are shown; the largest weights are
	maxTracked = 1000 // largest number of weights whose history is kept: 12 bytes per weight and sample, 5.4 MB in total
	maxChoices = 512  // number of the newest choices, from which shares are computed
)

// Kinds of decisions, which the page shows in different ways.
const (
	kindNumbers = "numbers" // statistics with names and intervals
	kindWeights = "weights" // coordinates, the largest first
	kindPlays   = "plays"   // actions, shown by their shares
	kindSet     = "set"     // a set of elements
	kindNames   = "names"   // names with counts
)

// decision is what the page shows of a stream's newest decision.
type shownDecision struct {
	kind        string
	stream      string
	index, step uint64
	until       *int64 // latest timestamp of the events before the decision, Unix ms; nil: the decision has none
	dimension   int
	at          []int    // indices of the shown coordinates
	names       []string // names of the shown weights
	values      []shown
	low, high   []shown // ends of the 95 % interval for the noise of privacy alone; NaN: unknown
	set         []string
	members     []member
	experiment  *experiment // nil: no experiment
	band        string      // description of the band; "": no band
}

// member is a number of a decision other than its coordinates.
type member struct {
	Name  string `json:"name"`
	Value shown  `json:"value"`
}

// shown is a number in the data for the browser: six digits, or null.
type shown float64

// MarshalJSON writes null for NaN.
func (x shown) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, float64(x), 'g', 6, 64), nil
}

// nothing is an unknown number.
var nothing = shown(math.NaN())

// normal is the half-width of an interval at 95 %, in standard deviations.
const normal = 1.959964

func isChoice(member string) bool { return member == "arm" || member == "set" }

// choiceOf is the action that a decision names, or "".
func choiceOf(d *decision.Decision) string {
	for _, x := range d.Extras {
		if isChoice(x.Name) {
			return text(x)
		}
	}
	return ""
}

func text(x decision.ExtraMember) (s string) {
	_ = json.Unmarshal([]byte(x.JSON), &s) // only members that are texts decode; for others s stays empty
	return s
}

func (p *Page) newDecision(d *decision.Decision) *shownDecision {
	v := &shownDecision{kind: kindWeights, stream: d.Stream, index: d.Index, step: d.Step, dimension: len(d.Point)}
	band, err := score.BandOf(d.Extras)
	if err == nil && band != nil {
		v.band = bandText(band, p.about.Vectors.Predicts)
	}
	lists := map[string][]float64{}
	var named []decision.Entry
	for _, x := range d.Extras {
		var list []float64
		if value, err := strconv.ParseFloat(x.JSON, 64); err == nil {
			switch {
			case x.Name == "time":
				until := int64(value)
				v.until = &until
			case v.band != "" && slices.Contains(bandMembers, x.Name):
			case !p.promised[x.Name] && (p.about.Experiment == nil || !slices.Contains(shownOnExperiments, x.Name)):
				v.members = append(v.members, member{x.Name, shown(value)})
			}
		} else if x.Name == "names" && json.Unmarshal([]byte(x.JSON), &named) == nil {
			v.kind = kindNames
		} else if json.Unmarshal([]byte(x.JSON), &list) == nil {
			lists[x.Name] = list
		} else if s := text(x); s != "" && (x.Name == "places" || isChoice(x.Name)) {
			v.kind, v.set = kindSet, strings.Split(s, ",")
			if isChoice(x.Name) {
				v.kind = kindPlays
			}
		}
	}
	if p.about.Experiment != nil {
		if f, err := p.about.Experiment.Read(*d); err == nil {
			v.experiment = newExperiment(p.about.Experiment, f)
		}
	}
	switch {
	case p.about.Numbers != nil:
		v.numbers(p.about, *d)
	case v.kind == kindNames:
		v.dimension = len(named)
		p.list(v, named)
	case v.kind == kindWeights && p.about.Sets:
		v.kind = kindSet
		for _, element := range d.Point {
			v.set = append(v.set, strconv.FormatFloat(element, 'g', -1, 64))
		}
	case v.kind == kindWeights:
		v.weights(p.about.Vectors, *d, lists)
	}
	return v
}

// list takes the first maxNumbers names of a decision. A name has the same number in all decisions, so that a history
// is that of one name; after maxTracked names others have none.
func (p *Page) list(v *shownDecision, named []decision.Entry) {
	for i, x := range named[:min(maxNumbers, len(named))] {
		at, known := p.numbered[x.Name]
		if !known {
			if at = len(p.numbered); at < maxTracked {
				p.numbered[x.Name] = at
			} else {
				at = maxTracked + i
			}
		}
		v.names = append(v.names, x.Name)
		v.show(at, float64(x.Count), float64(x.Low), float64(x.High))
	}
}

// numbers takes the first maxNumbers numbers of a decision.
func (v *shownDecision) numbers(about About, d decision.Decision) {
	v.kind, v.dimension = kindNumbers, len(about.Numbers.Names)
	all, err := about.Numbers.Read(d)
	if err != nil { // the decision has no intervals
		return
	}
	for i, x := range all[:min(maxNumbers, len(all))] {
		if !x.Shown {
			x.Value, x.Low, x.High = math.NaN(), math.NaN(), math.NaN()
		}
		v.show(i, x.Value, x.Low, x.High)
	}
}

// weights takes the largest coordinates of a decision. If a decision explores around a centre, it takes the coordinates
// of the centre.
func (v *shownDecision) weights(about score.Descriptor, d decision.Decision, lists map[string][]float64) {
	point := d.Point
	if centre := lists["centre"]; len(centre) == len(point) {
		point = centre
	}
	order := make([]int, len(point))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(math.Abs(point[j]), math.Abs(point[i])), cmp.Compare(i, j))
	})
	deviations, half := lists["deviation"], math.NaN()
	if about.Noise != nil {
		half = normal * about.Noise.At(d.Step)
	}
	for _, i := range order[:min(maxWeights, len(order))] {
		if len(deviations) == len(point) {
			half = normal * deviations[i]
		}
		coordinate := i
		if about.Vector.Dimension > 0 {
			coordinate %= about.Vector.Dimension
		}
		name, sign := about.NameOf(coordinate)
		if len(about.Arms) > 0 {
			name = about.Arms[i/about.Vector.Dimension] + ": " + name
		}
		v.names = append(v.names, name)
		v.show(i, sign*point[i], sign*point[i]-half, sign*point[i]+half)
	}
}

func (v *shownDecision) show(i int, value, low, high float64) {
	v.at = append(v.at, i)
	v.values, v.low, v.high = append(v.values, shown(value)), append(v.low, shown(low)), append(v.high, shown(high))
}

// course assigns the numbers of a stream to slots in samples. A coordinate gets a slot when it is first shown.
type course struct{ slots map[int]int }

// row returns a decision in the form of samples: value, low and high of each slot; NaN: not shown. It assigns slots to
// new coordinates as long as there are fewer than room slots.
func (c *course) row(d *shownDecision, room int) []float32 {
	if c.slots == nil {
		c.slots = map[int]int{}
	}
	for _, i := range d.at {
		if _, has := c.slots[i]; !has && len(c.slots) < room {
			c.slots[i] = len(c.slots)
		}
	}
	row := make([]float32, 3*len(c.slots))
	for k := range row {
		row[k] = float32(math.NaN())
	}
	for k, i := range d.at {
		if slot, has := c.slots[i]; has {
			row[3*slot], row[3*slot+1], row[3*slot+2] = float32(d.values[k]), float32(d.low[k]), float32(d.high[k])
		}
	}
	return row
}

// choices are the newest actions that a stream's decisions have named, the oldest first.
type choices struct{ newest []string }

func (c *choices) add(name string) {
	if name == "" { // the model has no name for it
		return
	}
	if len(c.newest) == maxChoices {
		c.newest = append(c.newest[:0], c.newest[1:]...)
	}
	c.newest = append(c.newest, name)
}

// share is the number of times that an action was named.
type share struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// shares returns counts by action, the most frequent action first.
func (c *choices) shares() (all []share) {
	counts := map[string]int{}
	for _, name := range c.newest {
		counts[name]++
	}
	for name, count := range counts {
		all = append(all, share{name, count})
	}
	slices.SortFunc(all, func(a, b share) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Name, b.Name))
	})
	return all
}

// bandMembers are the members of decisions that bandText puts into words.
var bandMembers = []string{"band_low", "band_high", "band_level", "band_error_most"}

// bandText describes in words the band of a decision, and the guaranteed coverage of all events so far.
func bandText(b *score.Band, predicts string) string {
	level := digits.Four(100*b.Level) + " %"
	text := "A band from prediction " + signed(b.Low) + " to prediction " + signed(b.High) + " must hold the labels of " +
		level + " of all events in the long run. "
	if predicts == score.LogOdds {
		text = "A set of labels must hold the label of " + level + " of all events in the long run. It has each label to " +
			"which the model gives a probability of at least " + digits.Four(1-b.High) + ". "
	}
	if b.MaxError >= max(b.Level, 1-b.Level) {
		text += "There are too few events yet to bound the share that was within"
	} else {
		text += "The share of all events so far that was within differs from " + level + " by at most " +
			digits.Upper(100*b.MaxError) + " percentage points, whatever the events were, with probability 95 % over the noise; null events count as within, and many of them raise it further"
	}
	return text + ". This is not a probability for one event."
}

func signed(x float64) string {
	if x < 0 {
		return "− " + digits.Four(-x)
	}
	return "+ " + digits.Four(x)
}
