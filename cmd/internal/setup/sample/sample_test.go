package sample

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"oriel/pipeline/embedded"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/pipetest/brokertest"
)

// TestSampleOfATopic checks that a sample has the newest records of each partition, and the rate that follows from the
// times of all records. A partition that was loaded within a minute must give no rate.
func TestSampleOfATopic(t *testing.T) {
	client := brokertest.Client(t, brokertest.Embedded(t, embedded.Options{}).Addr(), kafka.Config{})
	if err := topics.Create(t.Context(), client, "orders", 3, 1, nil); err != nil {
		t.Fatal(err)
	}
	cluster, err := topics.Describe(t.Context(), client, "orders")
	if err != nil {
		t.Fatal(err)
	}
	producer, err := produce.New(t.Context(), client, "", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now().Add(-time.Hour)
	for p, apart := range []time.Duration{10 * time.Second, time.Second, 0} {
		if apart == 0 {
			continue // an empty partition
		}
		var b records.Builder
		for i := range 40 {
			value := fmt.Appendf(nil, `{"n":%d}`, i)
			if i == 39 {
				value = nil
			}
			timestamp := start.Add(apart * time.Duration(i)).UnixMilli()
			if p == 0 && i == 0 {
				timestamp = 0
			}
			headers := []records.Header{{Key: "trace-id", Value: []byte("t")}, {Key: "User-ID", Value: []byte("u")}}
			if i == 35 {
				headers[0].Key = "account"
			}
			b.Append(nil, value, headers, timestamp)
		}
		if _, err := producer.Produce(t.Context(), "orders", int32(p), &b); err != nil {
			t.Fatal(err)
		}
	}
	s, err := ReadTopic(t.Context(), client, cluster.Topics["orders"], 30)
	if err != nil || s.Partitions != 3 || s.Replicas != 1 || len(s.Records) != 18 || string(s.Records[0]) != `{"n":30}` {
		t.Errorf("%d records of %d partitions, %v", len(s.Records), s.Partitions, err)
	}
	if !slices.Equal(s.IDs, []string{"header:User-ID"}) || s.Appended {
		t.Errorf("ids in %q, the broker's time: %v", s.IDs, s.Appended)
	}
	if want := 0.1; math.Abs(s.Times.Rate-want) > 1e-9 {
		t.Errorf("%g a second, want %g", s.Times.Rate, want)
	}
}

// TestOddTimestampsMoveNoRate checks that records without a timestamp, or with one of 1970 or of next year, in any
// place, move no rate. Users saw a memory of 15 events in place of 180 000 from one such record. Nights count, because
// a memory of days has nights, and the months without the topic do not.
func TestOddTimestampsMoveNoRate(t *testing.T) {
	const n, apart, now, year = 4000, int64(14_000), int64(1.7e12), int64(365 * 86400e3)
	f := func(what string, want float64, timestamp func(k int64) int64) {
		t.Helper()
		var places []place
		for i := range int64(mostPlacesOf) {
			var records []place
			for k := range int64(window) {
				at := i*(n-window)/(mostPlacesOf-1) + k
				records = append(records, place{at, timestamp(at)})
			}
			if timed := timed(records); len(timed) > 0 {
				places = append(places, timed[len(timed)/2])
			}
		}
		var got Times
		got.add(0, places)
		if got.Rate < want*0.97 || got.Rate > want*1.03 || got.Low > got.High {
			t.Errorf("%s: %+v, want a rate of %g", what, got, want)
		}
	}
	steady := func(k int64) int64 { return now + k*apart }
	f("steady", 1000/float64(apart), steady)
	for _, bad := range []int64{-1, 0, now / 1000, now * 1000, now + year, now - year} {
		for _, at := range [][2]int64{{0, 1}, {0, 9}, {n - 1, n}, {n - 9, n}, {500, 600}, {500, 504}} {
			f(fmt.Sprint(bad, at), 1000/float64(apart), func(k int64) int64 {
				if at[0] <= k && k < at[1] {
					return bad
				}
				return steady(k)
			})
		}
	}
	for _, unit := range []func(int64) int64{
		func(ms int64) int64 { return ms / 1000 }, func(ms int64) int64 { return ms * 1000 },
	} {
		f("all in another unit", 0, func(k int64) int64 { return unit(steady(k)) })
	}
	const night = 12 * 3600_000
	withNights := func(k int64) int64 { return steady(k) + k/(n/4)*night*4/3 }
	f("nights", float64(n)*1e3/float64(n*apart+4*night), withNights)
	f("a load in bulk", 0, func(k int64) int64 { return now + k/500*3 })
	f("a gap of months", 1000/float64(apart), func(k int64) int64 { return steady(k) + k/(n/2)*year })
}

// TestTheFirstGap checks that notes name the gap with the lowest offset, and not the shortest one.
func TestTheFirstGap(t *testing.T) {
	var got Times
	var places []place
	ms := int64(1.7e12)
	for i := range int64(20) {
		places = append(places, place{100 * i, ms})
		ms += map[int64]int64{5: 1000 * 86400e3, 12: 10 * 86400e3}[i] + 60_000
	}
	got.add(3, places)
	if want := "offset 500 to 600 of partition 3"; got.gaps != 2 || got.firstGap != want {
		t.Errorf("%d gaps, the first from %s, want %s", got.gaps, got.firstGap, want)
	}
}
