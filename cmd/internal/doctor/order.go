package doctor

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"oriel/pipeline/changelog"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/order"
)

// checkOrder looks for order records that do not count, on which the stream of a whole topic waits.
func (e *examination) checkOrder(ctx context.Context) {
	const check = "order"
	d := e.deployed
	if e.service == nil {
		e.skipped(check, "the deployment must be opened before its order log can be read")
		return
	}
	o, err := ask(ctx, e, func(ctx context.Context) (changelog.Ordered, error) { return d.Ordered(ctx) })
	if e.refuse(check, err) {
		return
	}
	if o.At == nil {
		e.skipped(check, "no stream is opened")
		return
	}
	log := order.LogOf(o.Key, o.At, d.Topics.Input.ID)
	void, err := ask(ctx, e, func(ctx context.Context) (time.Duration, error) {
		return log.Void(ctx, d.Client, d.Topics.Order, o.At, o.Start, e.options.Now())
	})
	switch {
	case e.refuse(check, err):
	case void >= order.VoidFor:
		e.refuse(check, fmt.Errorf("for %v no record of %s has counted, so the stream stands still: the records' times are before the slots that "+
			"they close, or they name older leaders. Let NTP set the clocks of brokers and sequencer", void.Round(time.Second), d.Topics.Order.Name))
	default:
		e.ok(check, "the newest records of %s count", d.Topics.Order.Name)
	}
}

// clock says how far a clock is ahead of this computer's: between low and high.
type clock struct {
	name      string
	low, high time.Duration
}

// A watch of a topic's ends takes watchFor. By the clock, the order log has a record a second.
const (
	watchFor   = 2 * time.Second
	watchEvery = 50 * time.Millisecond
)

// checkClocks compares the clocks of the brokers that lead partitions, and this computer's. Kafka has no request for a
// broker's time, so checkClocks waits until a record comes to a topic whose records have the broker's time.
func (e *examination) checkClocks(ctx context.Context) {
	const check = "clocks"
	watched := []topics.Topic{e.deployed.Topics.Order}
	if e.options.Record {
		watched = append(watched, e.deployed.Topics.Input)
	}
	clocks := []clock{{name: "this machine"}}
	for _, topic := range watched {
		found, err := ask(ctx, e, func(ctx context.Context) ([]clock, error) { return e.watch(ctx, topic) })
		if e.refuse(check, err) {
			return
		}
		clocks = append(clocks, found...)
	}
	grace := cmp.Or(e.deployed.Config.StepGrace, order.DefaultGrace)
	ahead, behind, gap := apart(clocks)
	switch {
	case len(clocks) == 1:
		e.skipped(check, "no record with a broker's time came within %v", watchFor)
	case gap > grace:
		e.warn(check, "%s is ahead of %s by %v or more, and at most %v is right. A change of the leader would move records to other slots. Let "+
			"NTP set all clocks", ahead, behind, gap.Round(time.Millisecond), grace)
	default:
		e.ok(check, "less than %v apart: those of this machine and of the leaders of partitions: %d", grace, len(clocks)-1)
	}
}

// apart returns the two clocks that are apart the most, and by how much at least.
func apart(clocks []clock) (ahead, behind string, gap time.Duration) {
	for _, a := range clocks {
		for _, b := range clocks {
			if a.low-b.high > gap {
				ahead, behind, gap = a.name, b.name, a.low-b.high
			}
		}
	}
	return ahead, behind, gap
}

// watch reads the first record that comes to each partition of a topic while it is watched, and returns the clocks of
// their leaders.
func (e *examination) watch(ctx context.Context, topic topics.Topic) (clocks []clock, err error) {
	watching, cancel := context.WithTimeout(ctx, watchFor)
	ends := topics.NewHighEnds(e.deployed.Client, topic)
	defer func() { cancel(); ends.Wait() }()
	before := map[int32]int64{} // ends at the look before, which began at since
	known := map[int32]bool{}
	for since := e.options.Now(); len(known) < min(topic.Partitions, mostPartitions); {
		now := e.options.Now()
		reached, err := ends.Look(watching, watchFor)
		if watching.Err() != nil {
			return clocks, ctx.Err()
		}
		if err != nil && !kafka.Transient(err) {
			return nil, err
		}
		until := e.options.Now()
		for _, end := range reached {
			if last, met := before[end.Partition]; met && end.Offset > last && !known[end.Partition] {
				at, err := e.appended(ctx, topic, end)
				if err != nil {
					return nil, err
				}
				if known[end.Partition] = !at.IsZero(); known[end.Partition] {
					name := "the leader of " + kafka.PartitionName(topic.Name, end.Partition)
					clocks = append(clocks, clock{name, at.Sub(until), at.Sub(since)})
				}
			}
			before[end.Partition] = end.Offset
		}
		if since = now; kafka.Pause(watching, watchEvery) != nil {
			return clocks, ctx.Err()
		}
	}
	return clocks, nil
}

// appended returns the broker's time of the last record before an end. It is zero if there is no record, or if its time
// is the producer's.
func (e *examination) appended(ctx context.Context, topic topics.Topic, end topics.End) (at time.Time, err error) {
	for r, err := range fetch.Records(ctx, e.deployed.Client, topic, end.Partition, end.Offset-1, end.Offset, true) {
		if err != nil {
			return at, err
		}
		if r.Appended {
			at = time.UnixMilli(r.Timestamp)
		}
	}
	return at, nil
}
