package main

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"oriel/operators/optest"
)

// unpackFlights writes flights.csv to a folder, as README.md's commands do.
func unpackFlights(t *testing.T, home string) {
	t.Helper()
	packed, err := os.Open(modulePath("cmd/oriel/demodata/flights.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
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

// eachFlight tells each flight of the file, whose columns have names, that has arrived, and how many minutes late.
func eachFlight(t *testing.T, file string, each func(column func(name string) string, late float64)) {
	t.Helper()
	optest.EachRow(t, file, func(column func(name string) string) {
		if late, err := strconv.ParseFloat(column("arr_delay"), 64); err == nil { // NA where it did not arrive
			each(column, late)
		}
	})
}

// eachDemoFlight is eachFlight of the flights that the demo has.
func eachDemoFlight(t *testing.T, each func(column func(name string) string, late float64)) {
	t.Helper()
	home := t.TempDir()
	unpackFlights(t, home)
	eachFlight(t, filepath.Join(home, "flights.csv"), each)
}
