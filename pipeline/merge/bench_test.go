package merge_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/memory"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/merge"
	"oriel/pipeline/order"
)

// processor returns the CPU time that the process has used.
func processor(tb testing.TB) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkReading reads a backlog of records of 100 bytes in batches of 100: first each partition alone, then all as
// one log whose ranges hold 20, 500 or 4000 records. The broker runs in the process, so its CPU time is included.
func BenchmarkReading(b *testing.B) {
	const each, batched = 60_000, 100
	for _, partitions := range []int32{12, 200} {
		e := newEnv(b, int(partitions), memory.NewBudget(256<<20))
		values := make([]string, batched)
		for i := range values {
			values[i] = strings.Repeat("x", 100)
		}
		count := int64(each*12/partitions) / batched * batched
		for p := range partitions {
			for range count / batched {
				e.send(p, records.NoCompression, values...)
			}
		}
		measure := func(name string, open func() []merge.Source, each int64) {
			b.Run(fmt.Sprintf("%s of %d", name, partitions), func(b *testing.B) {
				before := processor(b)
				for b.Loop() {
					for _, source := range open() {
						for n := int64(0); n < each; {
							batch, err := source.Fetch(b.Context())
							if err != nil {
								b.Fatal(err)
							}
							n += int64(len(batch.Records))
							batch.Release()
						}
						source.Close()
					}
				}
				b.ReportMetric(float64(processor(b)-before)/float64(int64(b.N)*count*int64(partitions)), "cpu-ns/record")
			})
		}
		measure("partitions", func() (all []merge.Source) {
			for p := range partitions {
				all = append(all, fetch.NewReader(e.client, names.Input, p, 0, fetch.Options{MaxWait: time.Second}))
			}
			return all
		}, count)
		at := e.first()
		for _, width := range []int64{20, 500, 4000} {
			for end := width; end < count+width; end += width {
				var entries []order.Entry
				for p := range partitions {
					entries = append(entries, order.Entry{Partition: p, End: min(end, count)})
				}
				e.order(e.log, entries...)
			}
			from := at
			from.Order = at.Order.Clone()
			measure(fmt.Sprintf("ranges of %d", width), func() []merge.Source {
				return []merge.Source{e.open(from)}
			}, count*int64(partitions))
			at.Order.Next += (count + width - 1) / width
		}
	}
}
