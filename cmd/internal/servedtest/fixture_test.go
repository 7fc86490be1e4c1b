package servedtest

import (
	"strings"
	"testing"

	"oriel/cmd/internal/servicetest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/kafka/records"
)

func TestMain(m *testing.M) { servicetest.Main(m, nil) }

// fixture is a deployment with the methods that the tests of this package need.
type fixture struct{ *servicetest.Fixture }

func newFixture(t *testing.T, partitions int, more map[string]string) *fixture {
	t.Helper()
	return &fixture{servicetest.New(t, partitions, more)}
}

// auditDoesNotRefute audits the settings. So few runs can refute only an operator that leaks a value directly; the
// auditor's own tests use many runs. The short form checks the loss only up to an age of 8 steps, and audits one row of
// each test's table.
func (f *fixture) auditDoesNotRefute() {
	f.T.Helper()
	runs, steps := tiertest.Runs("2", "20"), tiertest.Runs("8", "0")
	text := f.Must("audit", "--runs", runs, "--steps", steps, "--seed", servicetest.Seed)
	if !strings.HasSuffix(text, "\nNot refuted.\n") {
		f.T.Errorf("audit: %s", text)
	}
}

// readOn returns all committed records of a partition of a topic. It takes the records in earlier from the caller, and
// reads only the later ones.
func (f *fixture) readOn(topic string, partition int32, earlier []records.Record) []records.Record {
	f.T.Helper()
	from := int64(-1)
	if n := len(earlier); n > 0 {
		from = earlier[n-1].Offset + 1
	}
	return append(earlier, f.ReadFrom(topic, partition, from, false)...)
}
