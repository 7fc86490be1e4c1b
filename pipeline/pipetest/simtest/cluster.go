package simtest

import (
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"oriel/pipeline/kafka"
)

// Cluster starts a cluster whose answers a test may replace, and returns a client of it. It must be called in a bubble;
// both end in the test's clean-up.
func Cluster(t testing.TB, o ...kfake.Opt) (*kfake.Cluster, *kafka.Client) {
	t.Helper()
	var n network
	t.Cleanup(func() { time.Sleep(settled) })
	cluster, err := kfake.NewCluster(slices.Concat(o, []kfake.Opt{kfake.ListenFn(n.Listen)})...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	c, err := kafka.New(kafka.Config{Brokers: cluster.ListenAddrs(), Dial: n.Dial})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return cluster, c
}
