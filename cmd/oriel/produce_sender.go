package main

import (
	"context"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
)

// sender collects a batch for each partition and sends full batches, at no more than its rate.
type sender struct {
	client   *produce.Producer
	topic    string
	builders []records.Builder
	fixed    int32 // partition for all records; −1: no fixed partition
	next     int32
	rate     float64 // records per second; 0: unlimited
	began    time.Time
	taken    int
	sent     int
}

func newSender(client *produce.Producer, topic string, partitions int, fixed int32, rate float64) *sender {
	return &sender{
		client: client, topic: topic, builders: make([]records.Builder, partitions),
		fixed: fixed, rate: rate, began: time.Now(),
	}
}

const (
	sendBytes = 512 << 10 // size at which a batch is sent; a broker's default limit is 1 MiB
	// shortest pause of a sender with a rate; after the pause it sends all due records together
	sendPause = 100 * time.Millisecond
)

func (s *sender) send(ctx context.Context, e outgoing) error {
	partition := s.partition(e.place)
	b := &s.builders[partition]
	if b.Count() > 0 && b.Bytes()+len(e.key)+len(e.value) > sendBytes {
		if err := s.sendBatch(ctx, partition); err != nil {
			return err
		}
	}
	b.Append(e.key, e.value, nil, time.Now().UnixMilli())
	s.taken++
	return s.keepRate(ctx)
}

// partition returns the fixed partition, or the partition that place decides, or the next one in turn.
func (s *sender) partition(place []byte) int32 {
	switch {
	case s.fixed >= 0:
		return s.fixed
	case place != nil:
		return kafka.PartitionOf(place, len(s.builders))
	}
	p := s.next
	s.next = (s.next + 1) % int32(len(s.builders))
	return p
}

// keepRate sends the collected records and waits, as soon as the sender is ahead of its rate by one pause.
func (s *sender) keepRate(ctx context.Context) error {
	if s.rate == 0 {
		return nil
	}
	ahead := time.Duration(float64(s.taken)/s.rate*float64(time.Second)) - time.Since(s.began)
	if ahead < sendPause {
		return nil
	}
	if err := s.flush(ctx); err != nil {
		return err
	}
	select {
	case <-time.After(ahead):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *sender) sendBatch(ctx context.Context, partition int32) error {
	b := &s.builders[partition]
	if _, err := s.client.Produce(ctx, s.topic, partition, b); err != nil {
		return err
	}
	s.sent += b.Count()
	b.Reset()
	return nil
}

func (s *sender) flush(ctx context.Context) error {
	for p := range s.builders {
		if s.builders[p].Count() > 0 {
			if err := s.sendBatch(ctx, int32(p)); err != nil {
				return err
			}
		}
	}
	return nil
}
