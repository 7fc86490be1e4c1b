package main

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/kafka"
)

// bombBytes is below what a batch is read to, so that all of it is unpacked.
const bombBytes = 60 << 20

// sendBomb appends a batch of one record of zeros, compressed to some kilobytes.
func (f *fixture) sendBomb(partition int32, codec kafka.Codec) {
	f.t.Helper()
	producer, err := f.client.NewProducer(f.ctx(), "", time.Minute)
	if err != nil {
		f.t.Fatal(err)
	}
	var b kafka.Builder
	b.Compress(codec)
	b.Append(nil, make([]byte, bombBytes), nil, time.Now().UnixMilli())
	if _, err := producer.Produce(f.ctx(), f.env["ORIEL_INPUT_TOPIC"], partition, &b); err != nil {
		f.t.Fatal(err)
	}
}

// peakMemory is the most RAM that a process ever had, bytes.
func peakMemory(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = status.Close() }()
	for lines := bufio.NewScanner(status); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), "VmHWM:"); ok {
			kibibytes, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(value), " kB"))
			if err != nil {
				t.Fatal(err)
			}
			return kibibytes << 10
		}
	}
	t.Fatal("no VmHWM")
	return 0
}

// TestMemoryIsBoundedWhateverArrives: a service with default settings once took 750 MB on a backlog, and 2.3 GB when
// bombs lay in it.
func TestMemoryIsBoundedWhateverArrives(t *testing.T) {
	const partitions, backlog, most = 4, 40_000, 256_000_000
	f := newFixture(t, partitions,
		map[string]string{"ORIEL_DIMENSION": "32", "ORIEL_WINDOW": "1024", "ORIEL_COMMIT_INTERVAL": "1s"})
	f.must("topics")
	for p := range int32(partitions) {
		for i, codec := range []kafka.Codec{kafka.Gzip, kafka.LZ4, kafka.Zstd, kafka.Gzip} {
			f.send(p, events(i*backlog/4, backlog/4)...)
			f.sendBomb(p, codec)
		}
	}
	run := f.start(nil, "run")
	const taken = backlog + 4
	f.awaitTaken(3*time.Minute, taken, taken, taken, taken)
	peak := peakMemory(t, run.cmd.Process.Pid)
	run.terminate()
	t.Logf("%.1f MB", float64(peak)/1e6)
	if peak > slack*most {
		t.Errorf("the service took %.1f MB, at most %.1f are allowed", float64(peak)/1e6, slack*most/1e6)
	}
	for p := range int32(partitions) {
		checkHistory(t, f, p, taken)
	}
}

// TestManyPartitionsGetOnWithLittleMemory: the least that the setting allows, a sixth of a MiB of it for each
// partition's fetches, and a bomb in each.
func TestManyPartitionsGetOnWithLittleMemory(t *testing.T) {
	const backlog, most = 4000, 256_000_000
	partitions := tiertest.Runs(8, 32)
	f := newFixture(t, partitions, map[string]string{"ORIEL_MEMORY_LIMIT": "83886080"})
	f.must("topics")
	want := make([]int64, partitions)
	for p := range want {
		f.send(int32(p), events(0, backlog/2)...)
		f.sendBomb(int32(p), kafka.Zstd)
		f.send(int32(p), events(backlog/2, backlog/2)...)
		want[p] = backlog + 1
	}
	run := f.start(nil, "run")
	f.awaitTaken(3*time.Minute, want...)
	if peak := peakMemory(t, run.cmd.Process.Pid); peak > slack*most {
		t.Errorf("the service took %.1f MB, at most %.1f are allowed", float64(peak)/1e6, slack*most/1e6)
	}
	run.terminate()
	for p := range int32(partitions) {
		checkHistory(t, f, p, backlog+1)
	}
	f.lettersWithin(partitions, backlog/2, most)
}

// lettersWithin has one process write a letter for the bomb of each partition, which lies at an offset.
func (f *fixture) lettersWithin(partitions, bomb int, most float64) {
	f.t.Helper()
	letters := f.start(nil, "letters")
	f.await(3*time.Minute, "a letter in each partition", func() bool {
		for p := range int32(partitions) {
			if len(f.read(f.topic("dead-letter"), p, false)) == 0 {
				return false
			}
		}
		return true
	})
	if peak := peakMemory(f.t, letters.cmd.Process.Pid); float64(peak) > slack*most {
		f.t.Errorf("oriel letters took %.1f MB, at most %.1f are allowed", float64(peak)/1e6, slack*most/1e6)
	} else {
		f.t.Logf("oriel letters took %.1f MB", float64(peak)/1e6)
	}
	letters.end()
	for p := range int32(partitions) {
		if got := reasons(
			f.read(f.topic("dead-letter"), p, false),
		); !slices.Equal(got, []string{fmt.Sprintf("%d too_large", bomb)}) {
			f.t.Errorf("partition %d: letters %q, want one for the bomb", p, got)
		}
	}
}
