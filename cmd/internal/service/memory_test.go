package service_test

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"oriel/cmd/internal/servicetest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
)

// bombBytes is the decompressed size of a bomb. It is below the largest batch that is read, so that all of it is
// decompressed.
const bombBytes = 60 << 20

// bomb is a batch with one record of zeros. Tests share it, because to build it takes longer than to compress it.
var bomb struct {
	sync.Mutex
	batch records.Builder
}

// sendBomb appends a batch with a compression bomb: one record of zeros, compressed to some kilobytes.
func (f *fixture) sendBomb(partition int32, codec records.Codec) {
	f.T.Helper()
	producer, err := produce.New(f.Ctx(), f.Client, "", time.Minute)
	if err != nil {
		f.T.Fatal(err)
	}
	bomb.Lock()
	defer bomb.Unlock()
	if bomb.batch.Count() == 0 {
		bomb.batch.Append(nil, make([]byte, bombBytes), nil, time.Now().UnixMilli())
	}
	bomb.batch.Compress(codec)
	if _, err := producer.Produce(f.Ctx(), f.Env["ORIEL_INPUT_TOPIC"], partition, &bomb.batch); err != nil {
		f.T.Fatal(err)
	}
}

// peakMemory returns the largest resident memory that a process has ever had, bytes.
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

// TestMemoryIsBoundedWhateverArrives checks the memory of a service that consumes a backlog, with and without
// compression bombs. With default settings it once took 750 MB without bombs and 2.3 GB with them.
func TestMemoryIsBoundedWhateverArrives(t *testing.T) {
	t.Parallel()
	const backlog, most = 40_000, 256_000_000
	partitions := tiertest.Runs(1, 4)
	f := newFixture(t, partitions,
		map[string]string{"ORIEL_DIMENSION": "32", "ORIEL_WINDOW": "1024", "ORIEL_COMMIT_INTERVAL": "1s"})
	f.Must("topics")
	for p := range int32(partitions) {
		for i, codec := range []records.Codec{records.Gzip, records.LZ4, records.Zstd, records.Gzip} {
			f.Send(p, servicetest.Events(i*backlog/4, backlog/4)...)
			f.sendBomb(p, codec)
		}
	}
	run := f.Start(nil, "run")
	const taken = backlog + 4
	f.AwaitTaken(3*time.Minute, slices.Repeat([]int64{taken}, partitions)...)
	peak := peakMemory(t, run.Cmd.Process.Pid)
	run.Terminate()
	t.Logf("%.1f MB", float64(peak)/1e6)
	if peak > tiertest.Slack*most {
		t.Errorf("the service took %.1f MB, at most %.1f are allowed", float64(peak)/1e6, tiertest.Slack*most/1e6)
	}
	for p := range int32(partitions) {
		f.CheckHistory(p, taken)
	}
}

// TestManyPartitionsProgressWithLittleMemory checks that all partitions make progress with the smallest memory that the
// setting allows: a sixth of a MiB for the fetches of each partition, and a compression bomb in each.
func TestManyPartitionsProgressWithLittleMemory(t *testing.T) {
	t.Parallel()
	const backlog, most = 4000, 256_000_000
	partitions := tiertest.Runs(4, 32)
	f := newFixture(t, partitions, map[string]string{"ORIEL_MEMORY_LIMIT": "83886080"})
	f.Must("topics")
	want := make([]int64, partitions)
	for p := range want {
		f.Send(int32(p), servicetest.Events(0, backlog/2)...)
		f.sendBomb(int32(p), records.Zstd)
		f.Send(int32(p), servicetest.Events(backlog/2, backlog/2)...)
		want[p] = backlog + 1
	}
	run := f.Start(nil, "run")
	f.AwaitTaken(3*time.Minute, want...)
	if peak := peakMemory(t, run.Cmd.Process.Pid); peak > tiertest.Slack*most {
		t.Errorf("the service took %.1f MB, at most %.1f are allowed", float64(peak)/1e6, tiertest.Slack*most/1e6)
	}
	run.Terminate()
	for p := range int32(partitions) {
		f.CheckHistory(p, backlog+1)
	}
	f.lettersWithin(partitions, backlog/2, most)
}

// lettersWithin checks that one process writes a dead letter for the bomb at the given offset of each partition, within
// a memory limit.
func (f *fixture) lettersWithin(partitions, bomb int, most float64) {
	f.T.Helper()
	letters := f.Start(nil, "letters")
	f.Await(3*time.Minute, "a letter in each partition", func() bool {
		for p := range int32(partitions) {
			if len(f.Read(f.Topic("dead-letter"), p, false)) == 0 {
				return false
			}
		}
		return true
	})
	if peak := peakMemory(f.T, letters.Cmd.Process.Pid); float64(peak) > tiertest.Slack*most {
		f.T.Errorf("oriel letters took %.1f MB, at most %.1f are allowed", float64(peak)/1e6, tiertest.Slack*most/1e6)
	} else {
		f.T.Logf("oriel letters took %.1f MB", float64(peak)/1e6)
	}
	letters.End()
	for p := range int32(partitions) {
		if got := servicetest.Reasons(
			f.Read(f.Topic("dead-letter"), p, false),
		); !slices.Equal(got, []string{fmt.Sprintf("%d too_large", bomb)}) {
			f.T.Errorf("partition %d: letters %q, want one for the bomb", p, got)
		}
	}
}
