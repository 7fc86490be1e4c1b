package bubbletest

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"oriel/cmd/internal/service"
	"oriel/cmd/internal/servicetest"
	"oriel/pipeline/pipetest/simtest"
)

// TestABrokenCoordinatorIsNamed checks that the log and /readyz name a broken coordinator, and that the service waits
// for it. They once said only that requests were tried again, while the only remedy was to restart one broker.
func TestABrokenCoordinatorIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newBubble(t, 1, nil, blind())
		const wait = 75 * time.Second
		var faults []simtest.Fault
		for _, api := range []string{"JoinGroup", "SyncGroup", "Heartbeat", "OffsetFetch", "DescribeGroups"} {
			faults = append(faults, simtest.Fault{
				Kind:  simtest.Kind{API: api, Partition: simtest.AnyPartition},
				Count: -1, Effect: simtest.Refused(kafkago.NotCoordinatorForGroup),
			})
		}
		c := d.Start("a", simtest.NewDisk(), service.Run)
		time.Sleep(10 * time.Second)
		if page := d.get(c, "/readyz"); page != "200\nready\n" {
			t.Fatalf("/readyz says %q", page)
		}
		d.Broker.Fail(faults...)
		time.Sleep(wait)
		page, log := d.get(c, "/readyz"), c.Out.String()
		for where, text := range map[string]string{"/readyz": page, "the log": log} {
			if !strings.Contains(text, "restart that broker") || !strings.Contains(text, " at "+d.Broker.Addr()) {
				t.Errorf("%s does not name the broker: %s", where, servicetest.EndOf(text))
			}
		}
		d.Broker.Mend()
		time.Sleep(20 * time.Second)
		if page := d.get(c, "/readyz"); page != "200\nready\n" {
			t.Errorf("mended, /readyz says %q", page)
		}
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
}
