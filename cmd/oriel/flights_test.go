package main

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// unpackFlights writes flights.csv to a folder, as README.md's commands do.
func unpackFlights(t *testing.T, home string) {
	t.Helper()
	packed, err := os.Open("demodata/flights.csv.gz")
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
