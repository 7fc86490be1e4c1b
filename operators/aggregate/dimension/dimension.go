package dimension

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"oriel/operators/setting"
)

// MaxCells bounds the cells of a specification.
const MaxCells = 1 << 20

// Dimension is one column of events along which cells are divided: a public list of texts, or bins of equal width over
// a public range.
type Dimension struct {
	Name     string
	Choices  []string
	From, To float64 // ends of a range; bin j is [Edge(j), Edge(j+1))
	Bins     int
}

// Size returns the number of places along the dimension.
func (d Dimension) Size() int {
	if d.Choices != nil {
		return len(d.Choices)
	}
	return d.Bins
}

// Edge returns the lower edge of bin j.
func (d Dimension) Edge(j int) float64 {
	return d.From + float64(float64(float64(j)*(d.To-d.From))/float64(d.Bins))
}

// Place returns the place of an event's number along the dimension, or −1 for none. ok is false for a number that no
// decoder produces.
func (d Dimension) Place(x float64) (place int, ok bool) {
	if d.Choices != nil {
		ok = x == math.Trunc(x) && x >= -1 && x < float64(len(d.Choices))
		if !ok {
			return -1, false
		}
		return int(x), true
	}
	switch {
	case !(math.Abs(x) <= math.MaxFloat64):
		return -1, false
	case x < d.From || x >= d.To:
		return -1, true
	}
	// j is a guess that rounding may put off by one or two bins. The comparison with the edges corrects it.
	j := max(0, min(d.Bins-1, int(float64((x-d.From)/(d.To-d.From)*float64(d.Bins)))))
	for j > 0 && x < d.Edge(j) {
		j--
	}
	for j < d.Bins-1 && x >= d.Edge(j+1) {
		j++
	}
	return j, true
}

// Label returns a readable name of a place.
func (d Dimension) Label(place int) string {
	if d.Choices != nil {
		return d.Name + "=" + d.Choices[place]
	}
	return d.Name + "=" + setting.Decimal(d.Edge(place)) + ":" + setting.Decimal(d.Edge(place+1))
}

// Canonical returns the text of the dimension in the specification.
func (d Dimension) Canonical() string {
	if d.Choices != nil {
		return d.Name + "=" + strings.Join(d.Choices, "|")
	}
	return d.Name + "=" + setting.Decimal(d.From) + ":" + setting.Decimal(d.To) + ":" + strconv.Itoa(d.Bins)
}

// Parse parses name=text|text|… or name=from:to:bins.
func Parse(text string) (d Dimension, ok bool) {
	name, rest, found := strings.Cut(text, "=")
	d.Name = strings.TrimSpace(name)
	if !found || !IsName(d.Name) {
		return d, false
	}
	if parts := strings.Split(rest, ":"); len(parts) == 3 && !strings.Contains(rest, "|") {
		bins, err := setting.ParseInt(parts[2])
		if r, ok := setting.ParseRange(parts[0], parts[1]); ok && err == nil && bins >= 1 && bins <= MaxCells {
			d.From, d.To, d.Bins = r.Low, r.High, bins
			return d, true
		}
		return d, false
	}
	for choice := range strings.SplitSeq(rest, "|") {
		choice = strings.TrimSpace(choice)
		if choice == "" || slices.Contains(d.Choices, choice) {
			return d, false
		}
		d.Choices = append(d.Choices, choice)
	}
	return d, true
}

// IsName reports whether a text is the name of a member of events.
func IsName(text string) bool {
	for i, c := range []byte(text) {
		if !(c >= 'a' && c <= 'z' || i > 0 && (c >= '0' && c <= '9' || c == '_')) {
			return false
		}
	}
	return text != ""
}
