package main

import (
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/servicetest"
)

// TestTailReadsAllPartitions checks that without --partition every partition is shown, each one in order. -n must count
// the decisions of all partitions, and the command must print that it waits.
func TestTailReadsAllPartitions(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 3, nil)
	topic := f.Env["ORIEL_INPUT_TOPIC"]
	for p, text := range []string{"a", "b", "c"} {
		f.Send(int32(p), servicetest.Value(text+"0"), servicetest.Value(text+"1"))
	}
	if said := f.Must("tail", "--topic", topic, "--raw", "--follow=false"); said != "a0\na1\nb0\nb1\nc0\nc1\n" {
		t.Errorf("without following: %q", said)
	}
	if said := f.Must("tail", "--topic", topic, "--raw", "--from-beginning", "-n", "4"); strings.Count(said, "\n") != 4 {
		t.Errorf("four of six: %q", said)
	}
	p := f.Start(nil, "tail", "--topic", topic, "--raw")
	f.Await(time.Minute, "a word that it waits", func() bool {
		return strings.Contains(p.Output(), "waiting for new decisions")
	})
	f.Send(2, servicetest.Value("c2"))
	f.Await(time.Minute, "the new record", func() bool { return strings.Contains(p.Output(), "c2\n") })
	if strings.Contains(p.Output(), "c1") {
		t.Error("an old record is shown")
	}
}
