package score

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
)

// Weight is a number of a model, and the names of the features that share it.
type Weight struct {
	Arm        string
	Name       string // name of the coordinate, for example "coordinate 7" if it is unknown
	Coordinate int
	Value      float64 // weight of the first named feature, including the feature's sign
	Deviation  float64 // deviation of the privacy noise; NaN: unknown
}

// Named adds names of features to the descriptor. A line "name" is a feature that is a number or boolean; a line
// "name=text" is a text feature.
func (d *Descriptor) Named(lines []string) {
	for _, line := range lines {
		name, text, isText := strings.Cut(line, "=")
		token := name
		if isText {
			token += "\x00" + text
		}
		n := d.Vector.name(line, token)
		if line != "" && !slices.Contains(d.Names, n) {
			d.Names = append(d.Names, n)
		}
	}
}

// Weights returns the weights of a model, the largest first. A coordinate that several features share has all their
// names (NameOf).
func (d *Descriptor) Weights(m *Model) []Weight {
	all := make([]Weight, len(m.Weights))
	for i, x := range m.Weights {
		w := Weight{Coordinate: i % d.Vector.Dimension, Value: x, Deviation: math.NaN()}
		if len(d.Arms) > 0 {
			w.Arm = d.Arms[i/d.Vector.Dimension]
		}
		if m.Noise > 0 {
			w.Deviation = m.Noise
		}
		if m.Deviations != nil {
			w.Deviation = m.Deviations[i]
		}
		name, sign := d.NameOf(w.Coordinate)
		w.Name, w.Value = name, sign*x
		all[i] = w
	}
	slices.SortStableFunc(all, func(a, b Weight) int { return cmp.Compare(math.Abs(b.Value), math.Abs(a.Value)) })
	return all
}

// NameOf returns the names of the features that share a coordinate, and the sign of the first. Each further name has
// its own sign in front if this sign differs from the first.
func (d *Descriptor) NameOf(coordinate int) (name string, sign float64) {
	for _, n := range d.Names {
		switch {
		case n.Index != coordinate:
		case name == "":
			name, sign = n.Name, n.Sign
		case n.Sign == sign:
			name += " + " + n.Name
		default:
			name += " − " + n.Name
		}
	}
	if name == "" {
		return fmt.Sprint("coordinate ", coordinate), 1
	}
	return name, sign
}

// PrintWeights prints the largest weights of a model as a table.
func (d *Descriptor) PrintWeights(w io.Writer, m *Model, top int) error {
	fmt.Fprintf(w, "stream %s, step %d\n", m.Stream, m.Step)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	arm := ""
	if len(d.Arms) > 0 {
		arm = "arm\t"
	}
	fmt.Fprintf(t, "%sfeature\tweight\t± noise\n", arm)
	for i, x := range d.Weights(m) {
		if i == top {
			break
		}
		noise := "unknown"
		if !math.IsNaN(x.Deviation) {
			noise = fmt.Sprintf("%.3g", x.Deviation)
		}
		if arm != "" {
			fmt.Fprintf(t, "%s\t", printable(x.Arm))
		}
		fmt.Fprintf(t, "%s\t%.4g\t%s\n", printable(x.Name), x.Value+0, noise) // −0 is 0
	}
	return t.Flush()
}

// printable returns a name without control characters, because they could move the terminal's cursor.
func printable(name string) string {
	quoted := fmt.Sprintf("%+q", name)
	if plain := quoted[1 : len(quoted)-1]; plain == name {
		return name
	}
	return strings.Trim(fmt.Sprintf("%q", name), `"`)
}
