//go:build soak

package soak

import (
	"context"
	"encoding/binary"
	"fmt"
	"syscall"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/topics"
)

// maxPartitions is the largest number of partitions of the input.
const maxPartitions = 24

// grow adds partitions to the input, to which the producer sends from then on.
func (in *injector) grow(ctx context.Context, n int, f fault) (time.Time, error) {
	total := min(in.inputs+1+f.topic%2, maxPartitions)
	in.report.fault(n, f, fmt.Sprintf("the input, which has %d then", total))
	if err := topics.AddPartitions(ctx, in.cluster.client, inputTopic, total); err != nil {
		return time.Now(), err
	}
	in.inputs = total
	in.feeder.signal(syscall.SIGUSR1)
	return time.Now(), nil
}

// trim deletes the parts of the input and of the order log that are no longer needed, as retention and the stream's
// owner do over time. It saves the state for a replay, because earlier steps cannot be recomputed afterwards.
func (in *injector) trim(ctx context.Context, n int, f fault) (time.Time, error) {
	c := in.cluster.client
	in.report.fault(n, f, "all")
	from := time.Now()
	taken, err := in.standsAt(ctx, deploymentName)
	if err != nil {
		return from, err
	}
	statusesEnd, err := topics.BoundsOf(ctx, c, statuses, 0)
	if err != nil {
		return from, err
	}
	// A decision of a later transaction shows that the state has reached the group's offset, even if the group's own
	// transaction was torn.
	if _, _, err := in.settled(ctx, from); err != nil {
		in.report.violation("fault %d, %s: before it: %v", n, f.kind, err)
		return from, nil
	}
	patient, cancel := context.WithTimeout(ctx, recoveryLimit)
	defer cancel()
	if err := in.passed(patient, taken, statusesEnd.Stable); err != nil {
		in.report.violation("fault %d, %s: letters or the recorder do not follow: %v", n, f.kind, err)
		return from, nil
	}
	for p, before := range taken {
		if err := topics.DeleteRecords(ctx, c, inputTopic, int32(p), before); err != nil {
			return from, err
		}
	}
	if err := in.trimOrder(ctx, taken); err != nil {
		return from, err
	}
	return time.Now(), in.save(ctx)
}

// standsAt returns the offsets of a group in the partitions of the input. An offset is 0 where the group has committed
// none.
func (in *injector) standsAt(ctx context.Context, groupID string) ([]int64, error) {
	all := make([]int32, in.inputs)
	for p := range all {
		all[p] = int32(p)
	}
	found, err := group.CommittedOffsets(ctx, in.cluster.client, groupID, inputTopic, all)
	at := make([]int64, in.inputs)
	for _, o := range found {
		at[o.Partition] = max(o.Offset, 0)
	}
	return at, err
}

// passed waits until the dead letters of all records before these offsets are written, and the recorder has saved these
// records.
func (in *injector) passed(ctx context.Context, taken []int64, statusesEnd int64) error {
	for {
		recorded, err := in.standsAt(ctx, recordGroup)
		if err != nil {
			return err
		}
		lettered, err := group.CommittedOffset(ctx, in.cluster.client, deploymentName+".letters", statuses, 0)
		if err != nil {
			return err
		}
		behind := false
		for p := range taken {
			behind = behind || recorded[p] < taken[p]
		}
		if !behind && lettered >= statusesEnd {
			return nil
		}
		if err := kafka.Pause(ctx, 50*time.Millisecond); err != nil {
			return fmt.Errorf("recorded %v of %v, letters at %d of %d: %w", recorded, taken, lettered, statusesEnd, err)
		}
	}
}

// trimOrder deletes the first order records, as long as they name only consumed offsets.
func (in *injector) trimOrder(ctx context.Context, taken []int64) error {
	c := in.cluster.client
	described, err := topics.Describe(ctx, c, orderLog)
	if err != nil {
		return err
	}
	bounds, err := topics.BoundsOf(ctx, c, orderLog, 0)
	if err != nil {
		return err
	}
	before := bounds.Start
	for r, err := range fetch.Records(ctx, c, described.Topics[orderLog], 0, bounds.Start, bounds.High, true) {
		if err != nil {
			return err
		}
		if beyond(r.Value, taken) {
			break
		}
		before = r.Offset + 1
	}
	if before == bounds.Start {
		return nil
	}
	return topics.DeleteRecords(ctx, c, orderLog, 0, before)
}

// beyond reports whether an order record names an end offset that the group has not consumed yet.
func beyond(value []byte, taken []int64) bool {
	const head, sum = 17, 16
	partition := -1
	for b := value[head : len(value)-sum]; len(b) > 0; {
		var fields [3]uint64
		for i := range fields {
			field, n := binary.Uvarint(b)
			fields[i], b = field, b[n:]
		}
		partition += 1 + int(fields[0])
		if partition >= len(taken) || int64(fields[1]) > taken[partition] {
			return true
		}
	}
	return false
}
