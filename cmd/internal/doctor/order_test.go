package doctor_test

import (
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/doctor"
	"oriel/cmd/internal/servicetest"
	"oriel/cmd/internal/settings"
	"oriel/cmd/internal/settings/files"
	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/order"
)

// later returns a clock that is ahead.
func later(by time.Duration) func() time.Time {
	return func() time.Time { return time.Now().Add(by) }
}

// order appends an order record without entries to the deployment's order log.
func (f patient) order(slot int64) {
	f.T.Helper()
	h := servicetest.Host()
	h.Environ = f.environ()
	s, d, _, err := h.Load(settings.Service)
	if err != nil {
		f.T.Fatal(err)
	}
	if d.Master, err = files.MasterKey(f.Ctx(), s.MasterKeyFile, ""); err != nil {
		f.T.Fatal(err)
	}
	d.Client = f.Client
	if d.Topics, err = deployment.CheckTopics(f.Ctx(), f.Client, d.Config, deployment.ByService); err != nil {
		f.T.Fatal(err)
	}
	o, err := d.Ordered(f.Ctx())
	if err != nil {
		f.T.Fatal(err)
	}
	var b records.Builder
	log := order.LogOf(o.Key, o.At, d.Topics.Input.ID)
	b.Append(nil, log.Append(nil, order.Record{Slot: slot}), nil, 0)
	if _, err := produce.Append(f.Ctx(), f.Client, f.Topic("order"), 0, &b); err != nil {
		f.T.Fatal(err)
	}
}

// keepSending sends events until the test ends.
func (f patient) keepSending() {
	done, ended := make(chan struct{}), make(chan struct{})
	f.T.Cleanup(func() { close(done); <-ended })
	go func() {
		defer close(ended)
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			case <-time.After(100 * time.Millisecond):
				var b records.Builder
				b.Append(nil, servicetest.Event(i).Value, nil, 0)
				if _, err := produce.Append(f.Ctx(), f.Client, f.Topic("events"), 0, &b); err != nil {
					return
				}
			}
		}
	}()
}

// TestClocksThatAgreeAreOk checks that records are watched whose times are the broker's, and only with leave to read
// records.
func TestClocksThatAgreeAreOk(t *testing.T) {
	t.Parallel()
	f := patient{servicetest.New(t, 2, map[string]string{"ORIEL_STREAM": "topic"})}
	alter("events", "message.timestamp.type", "LogAppendTime")(f)
	f.Must("topics")
	f.serve(3)
	f.keepSending()
	for record, want := range map[bool]string{
		true:  "ok       clocks: less than 2s apart: those of this machine and of the leaders of partitions: 1",
		false: "-        clocks: no record with a broker's time came within 2s",
	} {
		said, err := f.examine(doctor.Options{Record: record})
		if err != nil || !strings.Contains(said, want) || !strings.Contains(said, "ok       order: the newest records of") {
			t.Errorf("%v: want %q in %s", err, want, said)
		}
	}
}
