package aggregate

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"oriel/operators"
	"oriel/schemas/text"
)

// maxCells bounds the cells of a specification.
const maxCells = 1 << 20

// dimension is one column of events along which cells are divided: a public list of texts, or bins of equal width over
// a public range.
type dimension struct {
	name     string
	choices  []string
	from, to float64 // ends of a range; bin j is [edge(j), edge(j+1))
	bins     int
}

// size returns the number of places along the dimension.
func (d dimension) size() int {
	if d.choices != nil {
		return len(d.choices)
	}
	return d.bins
}

// edge returns the lower edge of bin j.
func (d dimension) edge(j int) float64 {
	return d.from + float64(float64(float64(j)*(d.to-d.from))/float64(d.bins))
}

// place returns the place of an event's number along the dimension, or −1 for none. ok is false for a number that no
// decoder produces.
func (d dimension) place(x float64) (place int, ok bool) {
	if d.choices != nil {
		ok = x == math.Trunc(x) && x >= -1 && x < float64(len(d.choices))
		if !ok {
			return -1, false
		}
		return int(x), true
	}
	switch {
	case !(math.Abs(x) <= math.MaxFloat64):
		return -1, false
	case x < d.from || x >= d.to:
		return -1, true
	}
	// j is a guess that rounding may put off by one or two bins. The comparison with the edges corrects it.
	j := max(0, min(d.bins-1, int(float64((x-d.from)/(d.to-d.from)*float64(d.bins)))))
	for j > 0 && x < d.edge(j) {
		j--
	}
	for j < d.bins-1 && x >= d.edge(j+1) {
		j++
	}
	return j, true
}

// label returns a readable name of a place.
func (d dimension) label(place int) string {
	if d.choices != nil {
		return d.name + "=" + d.choices[place]
	}
	return d.name + "=" + decimal(d.edge(place)) + ":" + decimal(d.edge(place+1))
}

func decimal(x float64) string { return string(text.AppendFloat(nil, x)) }

// canonical returns the text of the dimension in the specification.
func (d dimension) canonical() string {
	if d.choices != nil {
		return d.name + "=" + strings.Join(d.choices, "|")
	}
	return d.name + "=" + decimal(d.from) + ":" + decimal(d.to) + ":" + strconv.Itoa(d.bins)
}

// parseDimension parses name=text|text|… or name=from:to:bins.
func parseDimension(s string) (d dimension, ok bool) {
	name, rest, found := strings.Cut(s, "=")
	d.name = strings.TrimSpace(name)
	if !found || !isName(d.name) {
		return d, false
	}
	if parts := strings.Split(rest, ":"); len(parts) == 3 && !strings.Contains(rest, "|") {
		bins, err := text.ParseInt(parts[2])
		if r, ok := operators.ParseRange(parts[0], parts[1]); ok && err == nil && bins >= 1 && bins <= maxCells {
			d.from, d.to, d.bins = r.Low, r.High, bins
			return d, true
		}
		return d, false
	}
	for choice := range strings.SplitSeq(rest, "|") {
		choice = strings.TrimSpace(choice)
		if choice == "" || slices.Contains(d.choices, choice) {
			return d, false
		}
		d.choices = append(d.choices, choice)
	}
	return d, true
}

// isName reports whether a text is the name of a member of events.
func isName(text string) bool {
	for i, c := range []byte(text) {
		if !(c >= 'a' && c <= 'z' || i > 0 && (c >= '0' && c <= '9' || c == '_')) {
			return false
		}
	}
	return text != ""
}
