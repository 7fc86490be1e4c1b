package repotest

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"oriel/operators/optest/flighttest"
)

// UnpackFlights writes flights.csv into the folder home, as the commands in the texts do.
func UnpackFlights(t *testing.T, home string) {
	t.Helper()
	packed, err := os.Open(Path("cmd/oriel/demodata/flights.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = packed.Close() }()
	flights, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	table, err := io.ReadAll(flights)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "flights.csv"), table, 0o600); err != nil {
		t.Fatal(err)
	}
}

// EachFlight calls each for every flight of the file that has arrived. column returns the flight's value in a column,
// by the column's name; late is the arrival delay, minutes.
func EachFlight(t *testing.T, file string, each func(column func(name string) string, late float64)) {
	t.Helper()
	flighttest.EachRow(t, file, func(column func(name string) string) {
		// the value is NA for a flight that did not arrive
		if late, err := strconv.ParseFloat(column("arr_delay"), 64); err == nil {
			each(column, late)
		}
	})
}

// EachDemoFlight is like EachFlight, for the flights of the demo.
func EachDemoFlight(t *testing.T, each func(column func(name string) string, late float64)) {
	t.Helper()
	home := t.TempDir()
	UnpackFlights(t, home)
	EachFlight(t, filepath.Join(home, "flights.csv"), each)
}
