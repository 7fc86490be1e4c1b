package tail

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"oriel/cmd/internal/digits"
	"oriel/schemas/decision"
)

// Show writes a decision as a line of the table, or as a line of JSON if raw is true.
func Show(out io.Writer, line []byte, raw bool) error {
	if raw {
		if text, err := decision.AppendLine(nil, line); err == nil {
			line = text
		}
		_, err := fmt.Fprintf(out, "%s\n", line)
		return err
	}
	d, err := decision.Parse(line)
	if err != nil {
		return errors.New("not a decision")
	}
	_, err = fmt.Fprintf(out, "%-8s %10d %-20s %10s %8s %10s  %s%s\n", d.Stream, d.Step, d.Mechanism,
		Window(d.Window), digits.Upper(d.Epsilon), digits.Upper(d.Delta),
		abbreviate(d.Point, marks(d.Extras)), further(dashed(d)))
	return err
}

// further returns the members that only some operators' decisions have, each as name=value. Each character that cannot
// be printed is replaced, so that the text cannot move the terminal's cursor.
func further(extras []decision.ExtraMember) string {
	const shown = 60 // largest number of characters shown of a value
	text := ""
	for _, x := range extras {
		value := []rune(x.JSON)
		if len(value) > shown {
			value = append(value[:shown], '…')
		}
		text += "  " + x.Name + "=" + string(value)
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '\uFFFD'
	}, text)
}

// Window formats W, in steps; 0 stands for a guarantee without a window.
func Window(window uint64) string {
	if window == 0 {
		return "life"
	}
	return strconv.FormatUint(window, 10)
}

// marks returns a decision's marks of the numbers that are shown. Without marks all numbers are shown.
func marks(extras []decision.ExtraMember) []float64 {
	var marks []float64
	for _, x := range extras {
		if x.Name == "shown" && json.Unmarshal([]byte(x.JSON), &marks) != nil {
			return nil
		}
	}
	return marks
}

// differences is the suffix of members with differences. The marks of these members follow the marks of the decision's
// own numbers.
const differences = "_difference"

// dashed returns the members of a decision, with a dash in place of each difference whose mark is 0. Marks are ordered
// by view, then by member. The number of views equals the number of deviations of counts.
func dashed(d decision.Decision) []decision.ExtraMember {
	marks, views := marks(d.Extras), 0
	var lists [][]json.Number // numbers of the differences, by member
	for _, x := range d.Extras {
		var list []json.Number
		if json.Unmarshal([]byte(x.JSON), &list) != nil {
			continue
		}
		switch {
		case x.Name == "count_deviation":
			views = len(list)
		case strings.HasSuffix(x.Name, differences):
			lists = append(lists, list)
		}
	}
	if views == 0 || len(lists) == 0 {
		return d.Extras
	}
	size, extras, member := len(lists[0])/views, slices.Clone(d.Extras), 0
	other := func(list []json.Number) bool { return len(list) != size*views }
	if size == 0 || slices.ContainsFunc(lists, other) || len(marks) != len(d.Point)+len(lists)*size*views {
		return d.Extras // there are no marks, or the members belong to another operator
	}
	for i, x := range extras {
		if !strings.HasSuffix(x.Name, differences) {
			continue
		}
		var shown []string
		for k, number := range lists[member] {
			view := k / size
			text := string(number)
			if marks[len(d.Point)+(view*len(lists)+member)*size+k%size] == 0 {
				text = "–"
			}
			shown = append(shown, text)
		}
		extras[i].JSON = "[" + strings.Join(shown, ",") + "]"
		member++
	}
	return extras
}

// abbreviate returns the first coordinates of a decision, with a dash in place of each coordinate whose mark is 0,
// because it is little more than noise.
func abbreviate(point, marks []float64) string {
	const shown = 6
	text := "["
	for i, v := range point {
		if i == shown {
			return text + " … " + strconv.Itoa(len(point)) + " coordinates]"
		}
		if i > 0 {
			text += " "
		}
		if i < len(marks) && marks[i] == 0 {
			text += "–"
			continue
		}
		text += strconv.FormatFloat(v+0, 'g', 4, 64) // −0 is 0
	}
	return text + "]"
}
