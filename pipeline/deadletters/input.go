package deadletters

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
)

// input finds records by partition and offset, ascending within a partition. It holds records of one partition at a
// time, because records of two partitions would wait for each other's memory.
type input struct {
	client    *kafka.Client
	topic     topics.Topic
	partition int32 // the partition asked for last

	reader *fetch.Reader
	batch  *fetch.Batch // the Batch that is being searched
	next   int64        // position of reader
	start  int64        // start of the partition when it was looked up: retention has deleted earlier records
	asked  bool         // start is known
}

// inputPatience is the time for which a record that the service has taken may be missing from the input, because a
// broker that has just become leader may lag behind.
const inputPatience = 10 * time.Second

// record returns the record at an offset, valid until the next call, or nil if retention has deleted it. If the record
// is missing for another reason, it returns an error, because the service has read the record as committed.
func (in *input) record(ctx context.Context, partition int32, offset int64) (*records.Record, error) {
	if in.partition != partition {
		in.release()
		in.partition, in.asked = partition, false
	}
	if !in.asked { // asked at once, because a fetch below the start is believed only after repeated failures
		bounds, err := topics.BoundsOf(ctx, in.client, in.topic.Name, in.partition)
		if err != nil {
			return nil, err
		}
		in.start, in.asked = bounds.Start, true
	}
	for since := time.Now(); offset >= in.start; {
		if b := in.batch; b != nil && b.From <= offset && offset < b.Next {
			at, found := slices.BinarySearchFunc(b.Records, offset, func(r records.Record, offset int64) int {
				return cmp.Compare(r.Offset, offset)
			})
			if !found {
				return nil, in.missing(offset, "the input has no record at this offset")
			}
			return &b.Records[at], nil
		}
		in.letGo()
		if in.reader == nil || in.next != offset {
			in.release()
			in.reader = fetch.NewReader(in.client, in.topic.Name, in.partition, offset, fetch.Options{
				ID: in.topic.ID, MaxWait: 250 * time.Millisecond,
			})
			in.next = offset
		}
		batch, err := in.reader.Fetch(ctx)
		if errors.Is(err, kafka.ErrOffsetOutOfRange) {
			bounds, boundsErr := topics.BoundsOf(ctx, in.client, in.topic.Name, in.partition)
			if boundsErr != nil {
				return nil, boundsErr
			}
			if in.start = bounds.Start; offset < in.start {
				break
			}
		}
		if err != nil {
			return nil, err
		}
		in.batch, in.next = batch, batch.Next
		if batch.Next <= offset && time.Since(since) > inputPatience {
			return nil, in.missing(offset, fmt.Sprintf("the input ends at %d", batch.Stable))
		}
	}
	return nil, nil
}

func (in *input) missing(offset int64, found string) error {
	return &notice.StopError{
		Partition: in.partition,
		Reason:    fmt.Sprintf("the service took a record at offset %d of topic %q, but %s", offset, in.topic.Name, found),
		Remedy: "Records were removed or replaced on the brokers; " +
			"restore the topic, or open a new deployment under another ORIEL_NAME",
	}
}

// release frees the memory of all records held. A later call can read them again.
func (in *input) release() {
	in.letGo()
	if in.reader != nil {
		in.reader.Close()
		in.reader = nil
	}
}

func (in *input) letGo() {
	if in.batch != nil {
		in.batch.Release()
		in.batch = nil
	}
}
