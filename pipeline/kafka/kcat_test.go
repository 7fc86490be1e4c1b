//go:build kafka

package kafka_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/pipetest/brokertest"
)

// TestKcatReadsWhatWeWriteAndWritesWhatWeRead tests codec and transactions against librdkafka.
func TestKcatReadsWhatWeWriteAndWritesWhatWeRead(t *testing.T) {
	addr := brokertest.Real(t)
	c := brokertest.Client(t, addr, kafka.Config{})
	ctx, topic := t.Context(), fmt.Sprint("kcat-", time.Now().UnixNano())
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(topics.Create(ctx, c, topic, 1, 1, nil))
	end := func() int64 {
		t.Helper()
		for {
			b, err := topics.BoundsOf(ctx, c, topic, 0)
			check(err)
			if b.Stable == b.High {
				return b.High
			}
		}
	}

	p, err := produce.New(ctx, c, topic, time.Minute)
	check(err)
	var want []string
	for codec := records.NoCompression; codec <= records.Zstd; codec++ {
		for _, commit := range []bool{true, false} {
			var b records.Builder
			b.Compress(codec)
			for i := range 100 {
				v := fmt.Sprintf("%s-%d-%t", codec, i, commit)
				b.Append([]byte("k"+v), []byte(v), []records.Header{{Key: "h", Value: []byte(v)}}, time.Now().UnixMilli())
				if commit {
					want = append(want, "k"+v+" "+v+" h="+v)
				}
			}
			check(p.Begin(ctx, []kafka.TopicPartition{{Topic: topic}}))
			_, err := p.Produce(ctx, topic, 0, &b)
			check(err)
			check(p.End(ctx, commit))
		}
	}
	end()
	out, err := exec.Command("kcat", "-b", addr, "-C", "-q", "-t", topic, "-e",
		"-X", "isolation.level=read_committed", "-f", `%k %s %h\n`).Output()
	check(err)
	if got := strings.TrimSpace(string(out)); got != strings.Join(want, "\n") {
		t.Fatalf("kcat reads %d lines, want %d, or others", strings.Count(got, "\n")+1, len(want))
	}

	for _, codec := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
		var in []string
		for i := range 1000 {
			in = append(in, fmt.Sprintf("%s-%d-%s", codec, i, strings.Repeat("x", i%50)))
		}
		next := end()
		produce := exec.Command("kcat", "-b", addr, "-P", "-t", topic, "-p", "0", "-z", codec)
		produce.Stdin = strings.NewReader(strings.Join(in, "\n"))
		check(produce.Run())
		r := fetch.NewReader(c, topic, 0, next, fetch.Options{})
		var got []string
		for last := end(); next < last; {
			batch, err := r.Fetch(ctx)
			check(err)
			for _, record := range batch.Records {
				got = append(got, string(record.Value))
			}
			next = batch.Next
			batch.Release()
		}
		if strings.Join(got, "\n") != strings.Join(in, "\n") {
			t.Fatalf("%s: %d records of kcat's %d, or others", codec, len(got), len(in))
		}
	}
}
