package eval

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"oriel/cmd/internal/digits"
)

// Warning is printed with all figures.
const Warning = "These figures are computed from the events themselves, with noise that anyone can compute: they are for the data's owner.\n" +
	"Settings that were chosen by trying them on private data are outside the guarantee: choose on public or old data."

// Head begins the JSON report of numbers and of an experiment.
type Head struct {
	Warning string `json:"warning"`
	Events  int    `json:"events"`
	Null    int    `json:"null_events"` // number of events that count in no figure, although each takes its place in a batch
	Streams int    `json:"streams"`
	Seeds   int    `json:"seeds"`
}

// NewHead returns the head of a report, and the null events that r has counted. It fails if all events are null.
func NewHead(in Input, r *Runner, events, streams int) (h Head, reasons map[string]int, nulls string, err error) {
	h = Head{Warning: Warning, Events: events, Streams: streams, Seeds: in.Seeds}
	if h.Null, reasons, nulls = r.Nulls(); h.Null == events {
		err = NoEvents("no event counts", h.Null, nulls)
	}
	return h, reasons, nulls, err
}

// NoEventError is the error for a source of which no record is an event that can be scored or counted.
type NoEventError struct{ text string }

// Error implements error.
func (e *NoEventError) Error() string { return e.text }

// NoEvents returns a NoEventError with the number of null events and their reasons.
func NoEvents(problem string, null int, reasons string) error {
	return &NoEventError{fmt.Sprintf("%s: %d null events%s", problem, null, reasons)}
}

// Table is a table of text whose cells are aligned right.
type Table struct{ rows [][]string }

// Add adds a row. All rows have the same number of cells.
func (t *Table) Add(cells ...string) { t.rows = append(t.rows, cells) }

// Print writes the table.
func (t *Table) Print(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', tabwriter.AlignRight)
	for _, row := range t.rows {
		fmt.Fprintln(w, strings.Join(row, "\t")+"\t")
	}
	_ = w.Flush()
}

// Decimals formats a figure with a number of decimals. It is empty for a figure that does not exist.
func Decimals(x digits.Number, decimals int) string {
	if !x.Known() {
		return ""
	}
	return digits.Unsigned(strconv.FormatFloat(float64(x), 'f', decimals, 64))
}

// Steps formats a number of steps. It is empty for 0.
func Steps(n uint64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatUint(n, 10)
}
