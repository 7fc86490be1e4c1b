//go:build !kafka

package kafka

import (
	"os"
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
)

// On a real broker tests share it, and the time of a take-over is what some of them measure.
func TestMain(m *testing.M) {
	tiertest.Waiting(6)
	os.Exit(m.Run())
}
