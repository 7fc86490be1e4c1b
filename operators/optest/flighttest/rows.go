package flighttest

import (
	"encoding/csv"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"testing"
)

// EachRow calls each for every row of a CSV file whose first line names the columns.
func EachRow(tb testing.TB, file string, each func(column func(name string) string)) {
	tb.Helper()
	f, err := os.Open(file)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	rows := csv.NewReader(f)
	header, err := rows.Read()
	for err == nil {
		var row []string
		if row, err = rows.Read(); err == nil {
			each(func(name string) string {
				at := slices.Index(header, name)
				if at < 0 {
					tb.Fatalf("%s has no column %s", file, name)
				}
				return row[at]
			})
		}
	}
	if !errors.Is(err, io.EOF) {
		tb.Fatal(err)
	}
}

// EachFlight calls each for every flight that has arrived, in the order of the schedule. Files list months in another
// order. Flights of equal times keep their order in the file.
func EachFlight(tb testing.TB, file string, each func(column func(name string) string)) {
	tb.Helper()
	type flight struct {
		scheduled int // month, day and time as digits mmddhhmm
		column    func(name string) string
	}
	var all []flight
	EachRow(tb, file, func(column func(name string) string) {
		if delay := column("arr_delay"); delay == "NA" || delay == "" {
			return
		}
		at := 0
		for _, name := range []string{"month", "day", "sched_dep_time"} {
			x, err := strconv.Atoi(column(name))
			if err != nil {
				tb.Fatal(err)
			}
			at = 10000*at + x
		}
		all = append(all, flight{at, column})
	})
	slices.SortStableFunc(all, func(a, b flight) int { return a.scheduled - b.scheduled })
	for _, f := range all {
		each(f.column)
	}
}
