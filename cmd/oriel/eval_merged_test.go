package main

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"oriel/cmd/internal/eval"
	"oriel/cmd/internal/eval/source"
	"oriel/cmd/internal/servicetest"
)

// TestAnOddTimestampKeepsBackNoPartition merges two partitions whose records alternate. A record of next year, of 1970
// or without a timestamp comes when its neighbours do, also as the first of its partition.
func TestAnOddTimestampKeepsBackNoPartition(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 2, nil)
	const each, now, year = 40, int64(1.7e12), int64(365 * 86400e3)
	odd := map[[2]int]int64{{0, 0}: now + year, {1, 10}: 0, {0, 20}: -1, {1, 30}: now + year, {0, 31}: now / 1000}
	for p := range 2 {
		list := servicetest.Events(0, 0)
		for i := range each {
			at, isOdd := odd[[2]int{p, i}]
			if !isOdd {
				at = now + int64(2*i+p)*1000
			}
			r := servicetest.Value(fmt.Sprint(2*i + p))
			r.Timestamp = at
			list = append(list, r)
		}
		f.Send(int32(p), list...)
	}
	topic, err := source.OpenTopic(t.Context(), f.Client, f.Env["ORIEL_INPUT_TOPIC"])
	if err != nil {
		t.Fatal(err)
	}
	var order []int
	err = source.Merged{Topic: topic}.Each(t.Context(), func(i eval.Item) error {
		number, err := strconv.Atoi(string(i.Record.Value))
		order = append(order, number)
		return err
	})
	if err != nil || len(order) != 2*each {
		t.Fatalf("%d records, %v", len(order), err)
	}
	for place, number := range order {
		if place < number-12 || place > number+12 {
			t.Errorf("record %d comes as number %d: %v", number, place, order)
			break
		}
	}
	if n := len(slices.Compact(slices.Sorted(slices.Values(order)))); n != 2*each {
		t.Errorf("%d different records", n)
	}
}
