//go:build bench

package bench

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/group"
)

// service is one deployment, run by one process.
type service struct {
	binary, name, input, brokers, key, dir string

	set settings
}

// result is the time and memory of one run.
type result struct {
	took      time.Duration
	processor time.Duration // processor time of the service without the broker
	peak      int64         // peak memory in RAM, bytes
}

// command returns a command that runs the binary. It ends with the test.
func (s *service) command(t *testing.T, arg string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), s.binary, arg)
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(),
		"ORIEL_BROKERS="+s.brokers, "ORIEL_NAME="+s.name, "ORIEL_INPUT_TOPIC="+s.input, "ORIEL_START=earliest",
		"ORIEL_STREAM=partition",
		"ORIEL_ALLOW_SINGLE_REPLICA=true", "ORIEL_EPSILON=1", "ORIEL_DELTA=1e-6",
		"ORIEL_STATE_DIR="+s.dir, "ORIEL_MASTER_KEY_FILE="+s.key, "ORIEL_HTTP_ADDR=127.0.0.1:0", "ORIEL_LOG_LEVEL=warn",
	)
	if s.set.setting("ORIEL_OPERATOR") == "" {
		cmd.Env = append(cmd.Env,
			"ORIEL_OPERATOR=coco", "ORIEL_UPDATE=projection", "ORIEL_LOSS=logistic",
			"ORIEL_SET=l2-ball", "ORIEL_RADIUS=5", "ORIEL_DIMENSION=32", "ORIEL_STRONG_CONVEXITY=0.001",
			"ORIEL_FEATURES_RANGE=distance:0:5000,hour:0:24:cyclic,month:1:13:cyclic",
			"ORIEL_MECHANISM=tree-gaussian", "ORIEL_WINDOW=1024", "ORIEL_CLIP=1",
		)
	}
	cmd.Env = append(cmd.Env, s.set...) // if a name appears twice, the last value counts
	return cmd
}

// measure runs the service over the complete input. The clock starts when the first partition's state is committed,
// which is before the first fetch, and stops when the last offset is committed.
func (s *service) measure(t *testing.T, client *kafka.Client, ends []int64) (r result) {
	t.Helper()
	if err := s.command(t, "topics").Run(); err != nil {
		t.Fatalf("%s: oriel topics: %v", s.name, err)
	}
	run := s.command(t, "run")
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	var failure error
	ended := make(chan struct{})
	go func() {
		failure = run.Wait()
		close(ended)
	}()
	t.Cleanup(func() { <-ended })
	var began time.Time
	for done := 0; done < len(ends); {
		offset, err := group.CommittedOffset(t.Context(), client, s.name, s.input, int32(done))
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		if began.IsZero() && offset >= 0 {
			began = time.Now()
		}
		if offset >= ends[done] {
			done++
		}
		select {
		case <-ended:
			t.Fatalf("%s: oriel run ended before the end of the input: %v", s.name, failure)
		case <-time.After(5 * time.Millisecond):
		}
	}
	r.took = time.Since(began)
	r.peak = peakMemory(t, run.Process.Pid)
	if err := run.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
	if <-ended; failure != nil {
		t.Fatalf("%s: oriel run: %v", s.name, failure)
	}
	r.processor = run.ProcessState.UserTime() + run.ProcessState.SystemTime()
	return r
}

// peakMemory returns the most memory that a process ever had in RAM, bytes: VmHWM of Linux.
func peakMemory(t *testing.T, pid int) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kibibytes, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kibibytes << 10
		}
	}
	t.Fatal("no VmHWM in /proc: this measurement needs Linux")
	return 0
}
