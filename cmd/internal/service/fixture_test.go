package service_test

import (
	"testing"

	"oriel/cmd/internal/servicetest"
)

func TestMain(m *testing.M) { servicetest.Main(m, nil) }

// fixture is a deployment with the methods that the tests of this package need.
type fixture struct{ *servicetest.Fixture }

func newFixture(t *testing.T, partitions int, more map[string]string) *fixture {
	t.Helper()
	return &fixture{servicetest.New(t, partitions, more)}
}
