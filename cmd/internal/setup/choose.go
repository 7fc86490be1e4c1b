package setup

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"oriel/cmd/internal/settings/values"
	"oriel/operators/setting"
	"oriel/schemas/mapping"
	"oriel/schemas/text"
)

// ParseRange parses name:low:high. The name may be a path.
func ParseRange(text string) (Range, error) {
	parts := strings.Split(text, ":")
	if len(parts) < 3 {
		return Range{}, fmt.Errorf("%q is not name:low:high, with low below high", text)
	}
	n := len(parts)
	ends, ok := setting.ParseRange(parts[n-2], parts[n-1])
	name := strings.TrimSpace(strings.Join(parts[:n-2], ":"))
	if !ok || name == "" {
		return Range{}, fmt.Errorf("%q is not name:low:high, with low below high, both up to 1e12 in size", text)
	}
	return Range{Name: name, Low: ends.Low, High: ends.High}, nil
}

// Confirm parses the user's answer about proposed ranges. "proposed", "yes" and "y" confirm all; "none" confirms none;
// any other answer lists the public ranges. Components of times, such as the hour, have known ranges and need no
// confirmation.
func Confirm(answer string, proposed []Range) (ranges []Range, err error) {
	all := slices.Contains([]string{"y", "yes", "proposed"}, strings.ToLower(answer))
	ranges = []Range{}
	for _, r := range proposed {
		if r.Cyclic || all {
			ranges = append(ranges, r)
		}
	}
	if all || answer == "none" {
		return ranges, nil
	}
	for text := range strings.SplitSeq(answer, ",") {
		r, err := ParseRange(text)
		if err != nil {
			return nil, err
		}
		same := func(p Range) bool { return p.Name == r.Name && !p.Cyclic }
		if !slices.ContainsFunc(proposed, same) {
			return nil, fmt.Errorf("%q: not a number of the mapping; its numbers are %s", r.Name, Names(proposed))
		}
		ranges = append(ranges, r)
	}
	return ranges, nil
}

// Names lists the names of the numbers that need a range.
func Names(ranges []Range) string {
	var names []string
	for _, r := range ranges {
		if !r.Cyclic {
			names = append(names, r.Name)
		}
	}
	return strings.Join(names, ", ")
}

// Find returns the item with this name. If the name is a path, it returns a new item for the path.
func Find(items []Item, name string) (Item, error) {
	if strings.HasPrefix(name, "/") {
		path, err := mapping.ParsePath(name)
		return Item{Name: column(path[max(0, len(path)-1):]), Path: path, As: "number"}, err
	}
	var names []string
	for _, item := range items {
		if strings.EqualFold(item.Name, name) {
			item.Name = strings.ToLower(item.Name)
			return item, nil
		}
		names = append(names, item.Name)
	}
	return Item{}, fmt.Errorf("%q: the records have %s; another place is named by its path, /a/b", name, strings.Join(names, ", "))
}

// column returns the name of an aggregate's column for a path, in lower case.
func column(path mapping.Path) string { return strings.ToLower(strings.Join(path, "_")) }

// CellItems returns the members of a row that cells names; cells has the form of ORIEL_CELLS.
func CellItems(items []Item, cells string) (found []Item, err error) {
	if cells == "none" || cells == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(cells, ",") {
		name, places, ok := strings.Cut(part, "=")
		if !ok || places == "" {
			return nil, fmt.Errorf("%q is neither name=place|place nor name=from:to:bins", part)
		}
		item, err := Find(items, strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		if item.As == "number" && strings.Contains(places, "|") {
			item.As = ""
		}
		found = append(found, item)
	}
	return found, nil
}

// Memory parses the length of time from which the user wants to learn: a number of events, or a time such as 30d or
// 12h. For a time, the rate, in events a second, must be known.
func Memory(s string, rate float64) (events uint64, err error) {
	const most = 1 << 50
	if n, err := text.ParseCount(s); err == nil {
		if n < 2 || n > most {
			return 0, fmt.Errorf("%d events: not from 2 to 2^50", n)
		}
		return n, nil
	}
	d, err := values.Duration(s)
	if err != nil {
		return 0, fmt.Errorf("%q is neither a number of events nor a length of time such as 12h or 30d", s)
	}
	switch n := d.Seconds() * rate; {
	case !(rate > 0):
		return 0, fmt.Errorf("%q: a time needs --rate, events a second of the topic; or say a number of events", s)
	case !(n >= 2 && n <= most):
		return 0, fmt.Errorf("%q: that is %.3g events, not from 2 to 2^50", s, n)
	default:
		return uint64(math.Ceil(n)), nil
	}
}

// Accuracy parses ε, or ± followed by the error that the user wants in place of an ε.
func Accuracy(s string) (epsilon, half float64, err error) {
	rest, isError := strings.CutPrefix(s, "±")
	if !isError {
		rest, isError = strings.CutPrefix(s, "+-")
	}
	x, err := text.ParseNumber(rest)
	switch {
	case err != nil || !(x > 0) || x > 1e300:
		return 0, 0, fmt.Errorf("%q is neither ε, a number above 0, nor an error such as ±2", s)
	case isError:
		return 0, x, nil
	case x > 50:
		return 0, 0, fmt.Errorf("ε = %g promises nothing: probabilities change by a factor of e^%g; 0.1 to 10 are usual", x, x)
	}
	return x, 0, nil
}

// Known returns an error that names paths at which no record of the sample has a value. It ignores the elements of
// lists and the entries of maps.
func Known(columns []Column, paths []mapping.Path) error {
	var names []string
	for i := range columns {
		names = append(names, columns[i].Path.String())
	}
	for _, path := range paths {
		known := func(c Column) bool {
			inside := c.IsList || c.IsOther
			return slices.Equal(c.Path, path) || inside && len(c.Path) < len(path) && slices.Equal(c.Path, path[:len(c.Path)])
		}
		if !slices.ContainsFunc(columns, known) {
			return fmt.Errorf("no record has a place %s; the places are %s", path, strings.Join(names, ", "))
		}
	}
	return nil
}

// RangeAt proposes a range for the number at a path. The user must confirm the range. It returns false if the path has
// no number.
func RangeAt(columns []Column, path mapping.Path, name string) (Range, bool) {
	for i := range columns {
		if c := &columns[i]; slices.Equal(c.Path, path) && c.isNumber() {
			low, high := c.around()
			return Range{Name: name, Low: low, High: high}, true
		}
	}
	return Range{}, false
}
