package numbers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"oriel/cmd/internal/numbers/clock"
	"oriel/mechanisms/names"
	"oriel/schemas/decision"
)

// Listed adds up the counts of names that decisions of the operator names publish, by intervals of the clock.
type Listed struct {
	*clock.Arrivals
	each  float64                   // names of a person: ε of one name is ε divided by it
	laws  map[[2]float64]*names.Law // by threshold and deviation
	steps map[int64][]listedStep
	seen  map[string]uint64 // number of steps in which a name was published
}

// listedStep is the list of a step.
type listedStep struct {
	law    *names.Law
	counts map[string]int64
	end    int64  // with a cut: the largest count that found no room, otherwise 0
	last   string // with a cut: the last name of the list
	least  int64  // and its count
}

// NewListed returns a Listed for the decisions that a descriptor describes, or false if it does not describe names.
func NewListed(descriptor []byte, by clock.Clock) (*Listed, bool) {
	lines := bytes.Split(bytes.TrimSpace(descriptor), []byte("\n"))
	var d struct {
		Longest uint64 `json:"longest_list"`
		Each    uint64 `json:"names_of_a_person"`
	}
	if json.Unmarshal(lines[len(lines)-1], &d) != nil || d.Longest == 0 {
		return nil, false
	}
	return &Listed{
		Arrivals: clock.NewArrivals(by), each: float64(max(1, d.Each)), laws: map[[2]float64]*names.Law{},
		steps: map[int64][]listedStep{}, seen: map[string]uint64{},
	}, true
}

var errListed = errors.New("not a decision of the operator names: it has no list of names, threshold, deviation, more and cut")

// Add takes a decision and its time, ms. Decisions of a stream must come in order.
func (c *Listed) Add(d decision.Decision, ms int64) error {
	if err := c.Check(d); err != nil {
		return err
	}
	key, err := c.Interval(d, ms)
	if err != nil {
		return fmt.Errorf("stream %q, step %d: %w", d.Stream, d.Step, err)
	}
	var list []decision.Entry
	numbers := map[string]float64{}
	for _, x := range d.Extras {
		var f float64
		if x.Name == "names" {
			err = json.Unmarshal([]byte(x.JSON), &list)
		} else if json.Unmarshal([]byte(x.JSON), &f) == nil {
			numbers[x.Name] = f
		}
	}
	threshold, deviation := numbers["threshold"], numbers["deviation"]
	if err != nil || !(threshold >= 2 && threshold <= 1<<17) || !(deviation > 0) {
		return errListed
	}
	step := listedStep{law: c.law(d, threshold, deviation), counts: map[string]int64{}}
	for _, x := range list {
		step.counts[x.Name] = int64(x.Count)
		c.seen[x.Name]++
	}
	if n := len(list); numbers["more"] > 0 && n > 0 {
		step.end, step.last, step.least = int64(numbers["cut"]), list[n-1].Name, int64(list[n-1].Count)
	}
	c.Follow(d, ms)
	c.steps[key] = append(c.steps[key], step)
	return nil
}

// law returns the law of a step's counts (mechanisms/names/PROOF.md). For Laplace noise P(n ≥ k) is (r^k − r^τ)/(1 + r
// − 2r^τ) with r = e^−ε, for k from 1 to τ − 1. Normal noise is rounded to whole numbers, which adds 1/12 to its
// variance.
func (c *Listed) law(d decision.Decision, threshold, deviation float64) *names.Law {
	key := [2]float64{threshold, deviation}
	if law := c.laws[key]; law != nil {
		return law
	}
	var tails []float64
	if d.Mechanism == "once-laplace" {
		epsilon := d.Epsilon / c.each
		end := math.Exp(-epsilon * threshold)
		for k := 1.0; k < threshold; k++ {
			tails = append(tails, (math.Exp(-epsilon*k)-end)/(1+math.Exp(-epsilon)-2*end))
		}
	} else {
		sigma := math.Sqrt(max(deviation*deviation-1.0/12, 1e-6))
		for k := 1.0; k == 1 || tails[len(tails)-1] > 0x1p-63; k++ {
			tails = append(tails, math.Erfc((k-0.5)/(sigma*math.Sqrt2))/2)
		}
	}
	law := names.NewLaw(tails, int64(threshold))
	c.laws[key] = law
	return law
}

// interval returns an interval of the count of a name in a step, at 1 − alpha. A step without the name hides counts up
// to a bound.
func (s *listedStep) interval(name string, alpha float64) (y, low, high int64) {
	y, has := s.counts[name]
	floor := s.law.Threshold
	switch {
	case !has && s.end > 0: // the name comes behind the last one of the list
		if floor = s.least; name > s.last {
			floor++
		}
	case has && s.end > 0: // the name comes before the first one that found no room, whose name is not public
		floor = s.end
	}
	if !has {
		return 0, 0, s.law.Hidden(floor, alpha)
	}
	low, high = s.law.Interval(y, floor, alpha)
	if s.end > 0 && y > s.end {
		other, most := s.law.Interval(y, floor+1, alpha)
		low, high = min(low, other), max(high, most)
	}
	return y, low, high
}

// ListedRow is the count of a name in an interval of the clock, added up over its steps, with an interval at 95 %.
type ListedRow struct {
	Start, End             time.Time
	Name                   string
	Value, Low, High       float64
	Published, Steps, Most uint64 // steps that publish the name, steps that are added up, and steps of the interval
}

// alpha is the probability that an interval misses the true count. Each step takes an equal part.
const alpha = 0.05

// Rows returns the rows of the intervals that a query selects: by interval, then by count. It uses only the fields
// Last, From and To of the query.
func (c *Listed) Rows(q Query) (rows []ListedRow, err error) {
	newest, _ := c.Newest(q.Last)
	for _, key := range slices.Sorted(maps.Keys(c.steps)) {
		start, end := c.Bounds(key)
		if !q.holds(c.Clock, start, end, newest) {
			continue
		}
		steps, from := c.steps[key], len(rows)
		all := map[string]bool{}
		for i := range steps {
			for name := range steps[i].counts {
				all[name] = true
			}
		}
		for _, name := range slices.Sorted(maps.Keys(all)) {
			row := ListedRow{Start: start, End: end, Name: name, Steps: uint64(len(steps)), Most: c.Steps()}
			for i := range steps {
				y, low, high := steps[i].interval(name, alpha/float64(len(steps)))
				row.Value, row.Low, row.High = row.Value+float64(y), row.Low+float64(low), row.High+float64(high)
				if y > 0 {
					row.Published++
				}
			}
			rows = append(rows, row)
		}
		slices.SortStableFunc(rows[from:], func(a, b ListedRow) int { return int(b.Value - a.Value) })
	}
	if rows == nil {
		return nil, errNothing
	}
	return rows, nil
}

// Cells returns the names that at least so many steps have published, as a value of ORIEL_CELLS, and how many of them
// cannot be in one because of their characters.
func (c *Listed) Cells(steps uint64) (cells string, left int) {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(c.seen)) {
		switch {
		case c.seen[name] < steps:
		case strings.ContainsAny(name, "|,") || strings.TrimSpace(name) != name:
			left++
		default:
			list = append(list, name)
		}
	}
	return "name=" + strings.Join(list, "|"), left
}

var listedHeader = []string{"start", "end", "name", "value", "low", "high", "published", "steps", "note"}

func (r ListedRow) cells() []any {
	cells := []any{r.Start, r.End, r.Name, r.Value, r.Low, r.High, r.Published, r.Steps}
	if r.Steps < r.Most {
		cells = append(cells, fmt.Sprintf("%d of %d steps", r.Steps, r.Most))
	}
	return cells
}

// Write writes the rows of a query in a format. In CSV a name that a spreadsheet would compute, because it starts with
// =, +, - or @, has an apostrophe before it.
func (c *Listed) Write(w io.Writer, format string, q Query) error {
	if q.By != nil || q.Total || q.Statistics != nil {
		return errors.New("--by, --total, --statistic: names have no cells and one statistic, their count")
	}
	rows, err := c.Rows(q)
	if err != nil {
		return err
	}
	switch format {
	case "csv":
		for i := range rows {
			if strings.ContainsRune("=+-@", rune(rows[i].Name[0])) {
				rows[i].Name = "'" + rows[i].Name
			}
		}
		return writeCSV(w, listedHeader, rows)
	case "json":
		return writeJSON(w, listedHeader, rows)
	case "table":
		out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(out, "start\tname\tcount\t95 % interval\tpublished in")
		for _, r := range rows {
			start, name := r.Start.Format(clock.Instant), strings.Map(printed, r.Name)
			_, _ = fmt.Fprintf(out, "%s\t%s\t%s\t%s to %s\t%d of %d steps\n", start, name, short(r.Value), short(r.Low),
				short(r.High), r.Published, r.Steps)
		}
		return out.Flush()
	}
	return fmt.Errorf("--format %s: names are written as table, csv or json", format)
}

// printed replaces a character that cannot be printed, so that no name can move the terminal's cursor.
func printed(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return '\uFFFD'
}
