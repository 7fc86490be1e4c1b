package race

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/eval"
	"oriel/operators"
)

// Print prints the report as readable text.
func (r *Report) Print(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d events in %s, each scored with the decision that was public before it; labels %s later; %s.\n",
		r.Events, digits.Counted(r.Streams, "stream"), r.Delay, digits.Counted(r.Seeds, "seed"))
	if r.Null > 0 {
		fmt.Fprintf(&b, "null events: %d%s\n", r.Null, r.nulls)
	}
	if r.Undefined > 0 {
		fmt.Fprintf(&b, "events without a finite loss at some decision, not scored there: %d\n", r.Undefined)
	}
	b.WriteString("\n")
	r.PrintRows(&b)
	name := NoPrivacy
	if r.references() > 1 {
		name = "without noise"
	}
	base := r.base()
	b.WriteString("\n" + name + ": the same learner over the same clipped gradients; computed without privacy.\n" +
		base + ": " + bases[base] + "\n")
	if r.Rows[0].Gain.Known() {
		b.WriteString("gain: the share of what " + name + " is gained over the " + base + ".\n")
	}
	if r.band != nil {
		fmt.Fprintf(&b, "within band: the share of events within the band that was public before them; ORIEL_BAND is %g.\n", r.band.Level)
	}
	r.printReliability(&b)
	fmt.Fprintf(&b, "\n%s\n", eval.Warning)
	_, err := io.WriteString(out, b.String())
	return err
}

// bases describes the last row, by its name.
var bases = map[string]string{
	BaseRate: "what fits all events before best and looks at no feature, running; computed without privacy.",
	baseName(operators.Growth): "all wealth spread evenly before each event. log wealth: the natural logarithm of what 1 " +
		"has become, 0 at first.",
	baseName(operators.Nothing): "the decision before any event, kept for ever.",
}

// column is a figure of the table. A column that has no figure in any row is omitted.
type column struct {
	head string
	of   func(*Row) string
}

// measured returns a column with the mean over the seeds and, if there are several seeds, the worst value.
func measured(head string, decimals int, several bool, of func(*Row) Figure) column {
	return column{head, func(row *Row) string {
		f := of(row)
		text := eval.Decimals(f.Mean, decimals)
		if several && row.Kind == KindPrivate && text != "" {
			text += " (" + eval.Decimals(f.Worst, decimals) + ")"
		}
		return text
	}}
}

func private(of func(*Row) string) func(*Row) string {
	return func(row *Row) string {
		if row.Kind != KindPrivate {
			return ""
		}
		return of(row)
	}
}

func (r *Report) columns() []column {
	several := r.Seeds > 1
	return []column{
		{"", func(row *Row) string { return row.Name }},
		{"ε", private(func(row *Row) string { return digits.Upper(row.Epsilon) })},
		{"W", func(row *Row) string { return eval.Steps(row.Window) }},
		{"memory", func(row *Row) string { return eval.Steps(row.Memory) }},
		{"ε at 10⁶ steps", private(func(row *Row) string { return digits.Upper(row.Aged) })},
		measured("loss", 4, several, func(row *Row) Figure {
			if row.Wealth.Mean.Known() { // log wealth is minus the loss, and is easier to read
				return Figure{digits.None, digits.None}
			}
			return row.Loss
		}),
		measured("log wealth", 3, several, func(row *Row) Figure { return row.Wealth }),
		measured("AUC", 3, several, func(row *Row) Figure { return row.AUC }),
		measured("AUC, 2nd half", 3, several, func(row *Row) Figure { return row.LateAUC }),
		measured("accuracy", 3, several, func(row *Row) Figure { return row.Accuracy }),
		measured("ECE", 4, several, func(row *Row) Figure { return row.ECE }),
		measured("R²", 4, several, func(row *Row) Figure { return row.R2 }),
		measured("coverage", 3, several, func(row *Row) Figure { return row.Coverage }),
		measured("within band", 4, several, func(row *Row) Figure { return row.Within }),
		measured("band width", 3, several, func(row *Row) Figure { return row.Width }),
		{"without noise", func(row *Row) string {
			if r.references() == 1 {
				return "" // the only reference has a row of its own
			}
			if row.wealthWithoutNoise.Known() {
				return eval.Decimals(row.wealthWithoutNoise, 3)
			}
			return eval.Decimals(row.WithoutNoise, 4)
		}},
		{"gain", func(row *Row) string {
			if !row.Gain.Known() {
				return ""
			}
			return eval.Decimals(100*row.Gain, 0) + " %"
		}},
	}
}

// PrintRows prints the table of predictors.
func (r *Report) PrintRows(out io.Writer) {
	var table digits.Table
	used := slices.DeleteFunc(r.columns(), func(c column) bool {
		return !slices.ContainsFunc(r.Rows, func(row Row) bool { return c.of(&row) != "" })
	})
	var heads []string
	for _, c := range used {
		if heads = append(heads, c.head); r.Seeds > 1 && (c.head == "loss" || c.head == "AUC" || c.head == "log wealth") {
			heads[len(heads)-1] += ", mean (worst)"
		}
	}
	table.Add(heads...)
	for i := range r.Rows {
		if r.Rows[i].Kind == KindReference && r.references() > 1 {
			continue // several references are shown in a column instead
		}
		var cells []string
		for _, c := range used {
			cells = append(cells, c.of(&r.Rows[i]))
		}
		table.Add(cells...)
	}
	_, _ = io.WriteString(out, table.Right())
}

// printReliability compares predicted probabilities with shares, for the first row and its reference.
func (r *Report) printReliability(out io.Writer) {
	first := &r.Rows[0]
	if first.Reliability == nil {
		return
	}
	fmt.Fprintf(out, "\nCalibration of %s, ε = %g: events by predicted probability, and how many came true\n", first.Name,
		first.Epsilon)
	var table digits.Table
	table.Add("predicted", "mean", "came true", "share of events")
	whole := 0.0
	for _, b := range first.Reliability {
		whole += b.Weight
	}
	for k, b := range first.Reliability {
		if b.Weight > 0 {
			table.Add(fmt.Sprintf("%.2f–%.2f", float64(k)/reliable, float64(k+1)/reliable), fmt.Sprintf("%.3f", b.Predicted),
				fmt.Sprintf("%.3f", b.Share), fmt.Sprintf("%.1f %%", 100*b.Weight/whole))
		}
	}
	_, _ = io.WriteString(out, table.Right())
}
