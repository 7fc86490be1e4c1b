package numbers

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"oriel/cmd/internal/numbers/clock"
	"oriel/schemas/text"
)

// Few is the note of an unknown number: its count is at most 12 standard deviations of its noise. There may be events,
// even many.
const Few = "too few events for the noise"

// Formats lists the formats in which rows can be written.
var Formats = []string{"table", "csv", "json", "parquet"}

// Write writes the rows of a query in a format, which must be one of Formats.
func (c *Collector) Write(w io.Writer, format string, q Query) error {
	rows, err := c.Rows(q)
	if err != nil {
		return err
	}
	return Write(w, format, c.names.dimensions, rows)
}

// Write writes rows in a format, which must be one of Formats.
func Write(w io.Writer, format string, dimensions []string, rows []Row) error {
	switch format {
	case "table":
		return writeTable(w, dimensions, rows)
	case "csv":
		return writeCSV(w, header(dimensions), rows)
	case "json":
		return writeJSON(w, header(dimensions), rows)
	}
	return writeParquet(w, dimensions, rows)
}

// note returns the note of a row. It is empty if the row's number is known and of all steps of the interval.
func (r Row) note() string {
	var notes []string
	if math.IsNaN(r.Value) {
		notes = append(notes, Few)
	}
	if r.Steps < r.Of {
		notes = append(notes, fmt.Sprintf("%d of %d steps", r.Steps, r.Of))
	}
	return strings.Join(notes, "; ")
}

// header returns the columns of every format, in order. The dimensions come after the column named end. A dimension
// that has the name of another column is called cell_NAME.
func header(dimensions []string) []string {
	before, after := []string{"start", "end"}, []string{"statistic", "value", "low", "high", "deviation", "steps", "note"}
	names := before
	for _, name := range dimensions {
		if slices.Contains(before, name) || slices.Contains(after, name) {
			name = "cell_" + name
		}
		names = append(names, name)
	}
	return append(names, after...)
}

// cells returns the cells of a row, in the order of header. A note is left out if it is empty.
func (r Row) cells() []any {
	cells := []any{r.Start, r.End}
	for _, place := range r.Places {
		cells = append(cells, place)
	}
	cells = append(cells, r.Statistic, r.Value, r.Low, r.High, r.Deviation, r.Steps)
	if note := r.note(); note != "" {
		cells = append(cells, note)
	}
	return cells
}

// celled is a row of cells, which are times, texts, numbers and booleans. A number that is unknown is NaN.
type celled interface{ cells() []any }

// cellText returns a cell as text, and whether JSON has it in quotes. An unknown number is "".
func cellText(cell any) (value string, quoted bool) {
	switch x := cell.(type) {
	case time.Time:
		return x.Format(clock.Instant), true
	case string:
		return x, true
	case bool:
		return strconv.FormatBool(x), false
	case uint64:
		return strconv.FormatUint(x, 10), false
	case float64:
		if !math.IsInf(x, 0) && !math.IsNaN(x) {
			return string(text.AppendFloat(nil, x)), false
		}
	}
	return "", false
}

func writeCSV[R celled](w io.Writer, header []string, rows []R) error {
	out := csv.NewWriter(w)
	if err := out.Write(header); err != nil {
		return err
	}
	for _, r := range rows {
		line := make([]string, len(header))
		for i, cell := range r.cells() {
			line[i], _ = cellText(cell)
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// writeJSON writes one line for each row.
func writeJSON[R celled](w io.Writer, header []string, rows []R) error {
	var line []byte
	for _, r := range rows {
		line = append(line[:0], '{')
		for i, cell := range r.cells() {
			if i > 0 {
				line = append(line, ',')
			}
			line = append(text.AppendString(line, header[i]), ':')
			switch value, quoted := cellText(cell); {
			case quoted:
				line = text.AppendString(line, value)
			case value == "":
				line = append(line, "null"...)
			default:
				line = append(line, value...)
			}
		}
		if _, err := w.Write(append(line, "}\n"...)); err != nil {
			return err
		}
	}
	return nil
}

func writeTable(w io.Writer, dimensions []string, rows []Row) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprint(out, "start")
	for _, name := range append(dimensions[:len(dimensions):len(dimensions)], "statistic", "value", "95 % interval") {
		_, _ = fmt.Fprint(out, "\t", name)
	}
	_, _ = fmt.Fprintln(out)
	for _, r := range rows {
		_, _ = fmt.Fprint(out, r.Start.Format(clock.Instant))
		for _, place := range r.Places {
			_, _ = fmt.Fprint(out, "\t", place)
		}
		value, last := "-", []string{r.note()}
		if !math.IsNaN(r.Value) {
			value = short(r.Value)
		}
		if !math.IsNaN(r.Low) {
			last = slices.Insert(last, 0, short(r.Low)+" to "+short(r.High))
		}
		_, _ = fmt.Fprintf(out, "\t%s\t%s\t%s\n", r.Statistic, value, strings.TrimSuffix(strings.Join(last, "; "), "; "))
	}
	return out.Flush()
}

// short returns a number with all digits if it is whole, as counts are without normal noise, otherwise with six digits.
func short(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1<<53 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'g', 6, 64)
}
