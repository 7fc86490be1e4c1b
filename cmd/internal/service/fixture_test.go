package service_test

import (
	"testing"
	"time"

	"oriel/cmd/internal/servicetest"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/pipetest/logtest"
)

func TestMain(m *testing.M) { servicetest.Main(m, nil) }

// fixture is a deployment with the methods that the tests of this package need.
type fixture struct{ *servicetest.Fixture }

func newFixture(t *testing.T, partitions int, more map[string]string) *fixture {
	t.Helper()
	return &fixture{servicetest.New(t, partitions, more)}
}

// deleteTopic deletes a topic, and waits until the broker no longer describes it. A broker under load still describes a
// deleted topic for a moment.
func (f *fixture) deleteTopic(name string) {
	f.T.Helper()
	if err := logtest.Delete(f.Ctx(), f.Client, name); err != nil {
		f.T.Fatal(err)
	}
	f.Await(time.Minute, "topic "+name+" is gone", func() bool {
		cluster, err := topics.Describe(f.Ctx(), f.Client, name)
		_, there := cluster.Topics[name]
		return err == nil && !there
	})
}
