package local

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"oriel/state"
)

// follow makes numbered calls of Follow, from first to last; the two records of a partition always come from one call.
func follow(t *testing.T, s *Store, first, last int) {
	t.Helper()
	for n := first; n <= last; n++ {
		value := fmt.Sprintf("%d %s", n, strings.Repeat("x", 3000))
		if err := s.Follow(int32(n%2), rec("a", value, "b", value)); err != nil {
			t.Fatal(err)
		}
	}
}

// number returns the number of the call that wrote a partition's records, and 0 for none.
func number(t *testing.T, s *Store, partition int32) int {
	t.Helper()
	records, err := s.Load(partition)
	if err != nil {
		t.Fatal(err)
	}
	if len(records) == 0 {
		return 0
	}
	if len(records) != 2 || string(records[0].Value) != string(records[1].Value) {
		t.Fatalf("partition %d mixes two calls", partition)
	}
	text, _, _ := strings.Cut(string(records[0].Value), " ")
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestCrashLosesTheLastCallsOnly simulates a machine that stops and loses writes that were not synced. Each partition
// must have the records after some earlier call, and only the last calls may be lost.
func TestCrashLosesTheLastCallsOnly(t *testing.T) {
	source := rand.New(rand.NewPCG(5, 6))
	for _, percent := range []int{0, 10, 50, 90, 100} {
		for range 5 {
			disk := vfs.NewCrashableMem()
			s := openMem(t, disk)
			last := 1 + source.IntN(200)
			follow(t, s, 1, last)
			after := disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: source})
			closeStore(t, s)

			s = openMem(t, after)
			if s.SetAside() != nil && (percent == 0 || percent == 100) {
				t.Errorf("%d%%: set aside %+v", percent, s.SetAside())
			}
			even, odd := number(t, s, 0), number(t, s, 1)
			if max(even, odd) > last || max(even, odd)-min(even, odd) > 1 {
				t.Errorf("%d%%: partitions at calls %d and %d of %d", percent, even, odd, last)
			}
			follow(t, s, last+1, last+2) // the store must still work
			closeStore(t, s)
		}
	}
}

// TestCloseWritesEverything checks that after Close nothing is lost even if the machine stops immediately.
func TestCloseWritesEverything(t *testing.T) {
	disk := vfs.NewCrashableMem()
	s := openMem(t, disk)
	follow(t, s, 1, 50)
	closeStore(t, s)
	s = openMem(t, disk.CrashClone(vfs.CrashCloneCfg{}))
	defer closeStore(t, s)
	if number(t, s, 0) != 50 || number(t, s, 1) != 49 {
		t.Errorf("partitions at calls %d and %d", number(t, s, 0), number(t, s, 1))
	}
}

const childDir = "STATE_TEST_CHILD_DIR"

// TestChild is the child process of the tests below.
func TestChild(t *testing.T) {
	dir := os.Getenv(childDir)
	if dir == "" {
		t.Skip("run by other tests only")
	}
	s, err := Open(dir, testIdentity())
	if errors.Is(err, state.ErrLocked) {
		os.Exit(3)
	}
	if err != nil {
		t.Fatal(err)
	}
	follow(t, s, 1, 1000)
	for n := 1001; ; n++ { // writes until the test kills the process
		follow(t, s, n, n)
		if n == 2000 {
			fmt.Println("ready")
		}
	}
}

func child(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestChild$")
	c.Env = append(os.Environ(), childDir+"="+dir)
	return c
}

func TestAnotherProcessIsLockedOut(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s, err := Open(dir, testIdentity())
	if err != nil {
		t.Fatal(err)
	}
	defer closeStore(t, s)
	var exit *exec.ExitError
	if err := child(t, dir).Run(); !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("child: %v", err)
	}
}

// TestKillKeepsWholeCalls checks that kill -9 loses at most the writes that Pebble had not yet passed to the operating
// system.
func TestKillKeepsWholeCalls(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	c := child(t, dir)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 16)); err != nil {
		t.Error(err)
	}
	if err := c.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = c.Wait() // the error says that the process was killed

	s, err := Open(dir, testIdentity())
	if err != nil {
		t.Fatal(err)
	}
	defer closeStore(t, s)
	even, odd := number(t, s, 0), number(t, s, 1)
	if s.SetAside() != nil || min(even, odd) < 1000 || max(even, odd)-min(even, odd) > 1 {
		t.Errorf("partitions at calls %d and %d, set aside %+v", even, odd, s.SetAside())
	}
}
