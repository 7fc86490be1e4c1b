package repotest

import (
	"os"
	"strconv"
	"testing"
)

// Number reads a size for a test from the environment: a long run is the same test with other sizes.
func Number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: not a number", name)
	}
	return n
}
