package numbers

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"text/tabwriter"

	"oriel/schemas/text"
)

// Few is the note of an unknown number: its count is at most 12 standard deviations of its noise. There may be events,
// even many.
const Few = "too few events for the noise"

// Formats lists the formats in which rows can be written.
var Formats = []string{"table", "csv", "json", "parquet"}

// Write writes rows in a format, which must be one of Formats.
func Write(w io.Writer, format string, dimensions []string, rows []Row) error {
	switch format {
	case "table":
		return writeTable(w, dimensions, rows)
	case "csv":
		return writeCSV(w, dimensions, rows)
	case "json":
		return writeJSON(w, dimensions, rows)
	}
	return writeParquet(w, dimensions, rows)
}

// instant is the format of times: RFC 3339, with fractions of a second only if they are not zero.
const instant = "2006-01-02T15:04:05.999Z07:00"

// note returns the note of a row. It is empty if the row's number is known.
func (r Row) note() string {
	if math.IsNaN(r.Value) {
		return Few
	}
	return ""
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

func writeCSV(w io.Writer, dimensions []string, rows []Row) error {
	out := csv.NewWriter(w)
	if err := out.Write(header(dimensions)); err != nil {
		return err
	}
	number := func(x float64) string {
		if math.IsNaN(x) {
			return ""
		}
		return string(text.AppendFloat(nil, x))
	}
	for _, r := range rows {
		line := append([]string{r.Start.Format(instant), r.End.Format(instant)}, r.Places...)
		line = append(line, r.Statistic, number(r.Value), number(r.Low), number(r.High), number(r.Deviation),
			strconv.FormatUint(r.Steps, 10), r.note())
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// writeJSON writes one line for each row.
func writeJSON(w io.Writer, dimensions []string, rows []Row) error {
	content := func(dst []byte, name, value string) []byte {
		return text.AppendString(append(text.AppendString(append(dst, ','), name), ':'), value)
	}
	names := header(dimensions)
	var line []byte
	for _, r := range rows {
		line = append(line[:0], `{"start":`...)
		line = text.AppendString(line, r.Start.Format(instant))
		line = content(line, "end", r.End.Format(instant))
		for i, place := range r.Places {
			line = content(line, names[2+i], place)
		}
		line = content(line, "statistic", r.Statistic)
		for _, x := range []struct {
			name  string
			value float64
		}{{"value", r.Value}, {"low", r.Low}, {"high", r.High}, {"deviation", r.Deviation}} {
			line = append(append(append(line, `,"`...), x.name...), `":`...)
			if math.IsNaN(x.value) {
				line = append(line, "null"...)
			} else {
				line = text.AppendFloat(line, x.value)
			}
		}
		line = strconv.AppendUint(append(line, `,"steps":`...), r.Steps, 10)
		if note := r.note(); note != "" {
			line = content(line, "note", note)
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
		_, _ = fmt.Fprint(out, r.Start.Format(instant))
		for _, place := range r.Places {
			_, _ = fmt.Fprint(out, "\t", place)
		}
		ends := fmt.Sprintf("%.6g to %.6g", r.Low, r.High)
		switch {
		case math.IsNaN(r.Value) && math.IsNaN(r.Low):
			_, _ = fmt.Fprintf(out, "\t%s\t-\t%s\n", r.Statistic, Few)
		case math.IsNaN(r.Value):
			_, _ = fmt.Fprintf(out, "\t%s\t-\t%s; %s\n", r.Statistic, ends, Few)
		default:
			_, _ = fmt.Fprintf(out, "\t%s\t%.6g\t%s\n", r.Statistic, r.Value, ends)
		}
	}
	return out.Flush()
}
