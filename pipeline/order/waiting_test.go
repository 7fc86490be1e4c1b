package order_test

import (
	"os"
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
)

func TestMain(m *testing.M) {
	tiertest.Waiting(6)
	os.Exit(m.Run())
}
