package plan

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"oriel/cmd/internal/digits"
)

// SolvedSetting is a setting whose value Solve searches for. Its possible values are numbered in ascending order.
type SolvedSetting struct {
	Setting string // name of its environment variable
	Values  int
	Text    func(i int) string // the i-th value as text, as the variable would have it
	// input of a plan with this value, or the error if the settings are invalid
	Input func(text string) (Input, error)
	// Greater means that a greater value gives a smaller error. The solution is then the smallest sufficient value,
	// otherwise the greatest.
	Greater bool
}

// Solution is a value of the setting that reaches the target.
type Solution struct {
	Setting   string `json:"setting"`
	Value     string `json:"value"`
	Statistic string `json:"statistic"`
	// unit of Wanted and Half if the statistic is not a count and its unit is not the unit of the values
	Unit   string  `json:"unit,omitempty"`
	After  uint64  `json:"events,omitempty"` // number of events in the cell, if requested
	Wanted float64 `json:"wanted_half_width"`
	Half   float64 `json:"half_width"`
	Beside string  `json:"beside"` // what the adjacent value, which does not suffice, gives; empty: there is none
	// other settings that the value needs, NAME=value, separated by spaces; may be empty
	AlsoSet string `json:"also_set"`
}

// attempt is what one value of the setting gives.
type attempt struct {
	reached Reached
	err     error // error if the settings are invalid with the value
}

func (t attempt) within(half float64) bool { return t.err == nil && t.reached.Half <= half }

// half returns the half-width that the value gives, or +Inf if the settings are invalid.
func (t attempt) half() float64 {
	if t.err != nil {
		return math.Inf(1)
	}
	return t.reached.Half
}

// best returns the value with the smallest error, or the last value if no value has an error. It searches a grid of
// quarter octaves, and then narrows the interval between the neighbours of the best grid point by thirds.
func (k SolvedSetting) best(half func(i int) float64) int {
	const each = 4 // grid points per octave
	grid := []int{k.Values - 1}
	for e := 0; ; e++ {
		i := int(math.Exp2(float64(e)/each)) - 1
		if i >= k.Values {
			break
		}
		grid = append(grid, i)
	}
	slices.Sort(grid)
	grid = slices.Compact(grid)
	at := len(grid) - 1
	for j, i := range grid {
		if half(i) < half(grid[at]) {
			at = j
		}
	}
	best, low, high := grid[at], grid[max(at-1, 0)], grid[min(at+1, len(grid)-1)]
	for high-low > 2 {
		third := (high - low) / 3
		// The smaller third point is left of the minimum, or has no error yet.
		if a, b := half(low+third), half(high-third); a > b || math.IsInf(a, 1) {
			low += third
		} else {
			high -= third
		}
	}
	for i := low; i <= high; i++ {
		if half(i) < half(best) {
			best = i
		}
	}
	return best
}

// unreached returns the error that no value reaches the target. It says what the best value reaches.
func unreached(w Target, k SolvedSetting, best int, gives attempt) error {
	if gives.err != nil {
		return gives.err
	}
	what, of, at := strings.ToLower(strings.TrimPrefix(k.Setting, "ORIEL_")), w.Statistic, ""
	if w.After > 0 {
		of = fmt.Sprintf("%s over %d events of its cell", of, w.After)
	}
	if in, err := k.Input(k.Text(best)); err == nil && k.Setting != "ORIEL_EPSILON" {
		at = fmt.Sprintf(" at ε = %g", in.Configured.Budget.Epsilon)
	}
	if math.IsInf(gives.reached.Half, 1) {
		return fmt.Errorf("no %s reaches ± %g of a %s%s: even %s=%s %s", what, w.Half, of, at, k.Setting,
			k.Text(best), gives.says())
	}
	return fmt.Errorf("no %s reaches ± %g of a %s%s; the best, %s=%s, %s", what, w.Half, of, at, k.Setting,
		k.Text(best), gives.says())
}

// says describes in words the error that the value gives, or the reason why there is none.
func (t attempt) says() string {
	switch {
	case t.err != nil:
		return "is refused: " + t.err.Error()
	case math.IsInf(t.reached.Half, 1):
		return "gives none: " + t.reached.Why
	}
	return "gives ± " + digits.Upper(t.reached.Half)
}

// Solve finds a value of a setting that reaches the target although the next value does not. It plans every value that
// it tries as `oriel run` would, so the solution holds once it is in the settings. Solve assumes that errors are
// monotone in the setting. If they are only nearly monotone (because another filter has other poles), the setting may
// have other such values.
func Solve(w Target, k SolvedSetting) (Solution, error) {
	seen := map[int]attempt{}
	var broken error // an error that does not depend on the value: the target is wrong
	try := func(i int) attempt {
		if t, ok := seen[i]; ok || broken != nil {
			return t
		}
		var t attempt
		in, err := k.Input(k.Text(i))
		if t.err = err; err == nil {
			if t.reached, err = w.Error(in); err != nil {
				if in.fits() {
					broken = err
				}
				t.err = err
			}
		}
		seen[i] = t
		return t
	}
	at, beside := sort.Search(k.Values, func(i int) bool { return try(i).within(w.Half) == k.Greater }), 0
	if k.Greater {
		beside = at - 1
	} else {
		at, beside = at-1, at
	}
	if broken != nil {
		return Solution{}, broken
	}
	if at < 0 || at >= k.Values {
		best := k.best(func(i int) float64 { return try(i).half() })
		if broken != nil {
			return Solution{}, broken
		}
		if !try(best).within(w.Half) {
			return Solution{}, unreached(w, k, best, try(best))
		}
		// Along the range errors first fall and then rise; beyond the best value they are monotone.
		at = best + sort.Search(k.Values-best, func(i int) bool { return !try(best + i).within(w.Half) }) - 1
		beside = at + 1
		if k.Greater {
			at = sort.Search(best, func(i int) bool { return try(i).within(w.Half) })
			beside = at - 1
		}
	}
	s := Solution{
		Setting: k.Setting, Value: k.Text(at), Statistic: w.Statistic, After: w.After, Wanted: w.Half,
		Half: try(at).reached.Half, Unit: try(at).reached.Unit,
	}
	if beside >= 0 && beside < k.Values {
		s.Beside = fmt.Sprintf("%s=%s %s", k.Setting, k.Text(beside), try(beside).says())
	}
	return s, nil
}

// fits reports whether a plan fits the input. If a plan fits, the target is what failed.
func (in Input) fits() bool {
	_, err := open(in.Configured)
	return err == nil
}

// lines returns the solution as readable text.
func (s *Solution) lines() string {
	what, unit := "a "+s.Statistic, ""
	if s.Unit != "" {
		unit = " " + s.Unit
	}
	if s.After > 0 {
		what += " over " + strconv.FormatUint(s.After, 10) + " events of its cell"
	}
	text := fmt.Sprintf("solved: %s=%s", s.Setting, s.Value)
	if s.AlsoSet != "" {
		text += " " + s.AlsoSet
	}
	text += fmt.Sprintf(" gives ± %s%s of %s, where ± %g is wanted", digits.Four(s.Half), unit, what, s.Wanted)
	if s.Beside != "" {
		text += "\n" + strings.Repeat(" ", len("solved: ")) + s.Beside
	}
	return text + "\n"
}

// Epsilons returns the values of ε with four digits, from 10⁻⁴ to below 10³, in ascending order: how many there are,
// and the text of each.
func Epsilons() (values int, text func(i int) string) {
	const decades, each = 7, 9000
	return decades * each, func(i int) string {
		x, err := strconv.ParseFloat(fmt.Sprintf("%de%d", each/9+i%each, i/each-7), 64)
		if err != nil {
			panic("BUG: plan: an epsilon that does not read back")
		}
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
}
