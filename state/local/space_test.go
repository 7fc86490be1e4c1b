package local

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"oriel/state"
)

// failingDisk is a memory disk whose writes fail while fail is set.
func failingDisk(number syscall.Errno) (memory *vfs.MemFS, disk vfs.FS, fail *atomic.Bool) {
	memory, fail = vfs.NewMem(), new(atomic.Bool)
	return memory, errorfs.Wrap(memory, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if fail.Load() && op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			return number
		}
		return nil
	})), fail
}

// TestAFullDiskIsWaitedFor checks that a full disk causes neither error nor loss, and that DiskFull is called.
func TestAFullDiskIsWaitedFor(t *testing.T) {
	memory, disk, fail := failingDisk(syscall.ENOSPC)
	told := make(chan bool, 100)
	s, err := Options{FS: disk, DiskFull: func(full bool) { told <- full }}.Open("data", testIdentity())
	if err != nil {
		t.Fatal(err)
	}
	follow(t, s, 1, 10)
	memory.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1000, TotalBytes: 1 << 40})
	fail.Store(true)
	done := make(chan struct{})
	go func() {
		defer close(done)
		follow(t, s, 11, 4000) // 12 MB exceed the buffers of the log
	}()
	if full := <-told; !full {
		t.Error("told that there is space")
	}
	select {
	case <-done:
		t.Error("writes do not wait")
	default:
	}
	fail.Store(false)
	memory.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1 << 30, TotalBytes: 1 << 40})
	<-done
	if full := <-told; full {
		t.Error("not told that there is space")
	}
	if number(t, s, 0) != 4000 || number(t, s, 1) != 3999 {
		t.Error("calls are lost")
	}
	closeStore(t, s)
}

// TestAStoreThatCannotBeWrittenFails checks that calls return an error, and keep returning it.
func TestAStoreThatCannotBeWrittenFails(t *testing.T) {
	_, disk, fail := failingDisk(syscall.EIO)
	s, err := Options{FS: disk}.Open("data", testIdentity())
	if err != nil {
		t.Fatal(err)
	}
	follow(t, s, 1, 3000) // enough that some records are in tables
	fail.Store(true)
	var writers sync.WaitGroup
	for p := range int32(4) {
		writers.Go(func() {
			var err error
			for err == nil {
				err = s.Follow(p, rec("a", strings.Repeat("x", 1000)))
			}
			if !errors.Is(err, state.ErrFailed) {
				t.Errorf("Follow: %v", err)
			}
		})
	}
	writers.Wait()
	if err := s.Replace(0, nil); !errors.Is(err, state.ErrFailed) {
		t.Errorf("Replace: %v", err)
	}
	if _, err := s.Load(0); !errors.Is(err, state.ErrFailed) {
		t.Errorf("Load: %v", err)
	}
	if err := s.Close(); !errors.Is(err, state.ErrFailed) || !errors.Is(err, syscall.EIO) {
		t.Errorf("Close: %v", err)
	}
	fail.Store(false)
	s, err = Options{FS: disk}.Open("data", testIdentity())
	if err != nil {
		t.Fatal(err)
	}
	if s.SetAside() != nil {
		t.Error("set aside, though what is on the disk is what was there before")
	}
	if n := number(t, s, 1); n == 0 || n > 2999 {
		t.Errorf("number %d, written was 2999 before the failure", n)
	}
	closeStore(t, s)
}

// TestCloseEndsTheWaitForSpace checks that a service can stop while a write waits for space.
func TestCloseEndsTheWaitForSpace(t *testing.T) {
	waiting := make(chan struct{}, 100)
	memory := vfs.NewMem()
	memory.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 0, TotalBytes: 1 << 40})
	s := newSpace(memory, "", func(full bool) {
		if full {
			waiting <- struct{}{}
		}
	})
	s.wait() // must return, because the store is not yet open
	s.opened.Store(true)
	done := make(chan struct{})
	go func() { s.wait(); close(done) }()
	<-waiting
	s.giveUp()
	s.giveUp()
	<-done
	s.wait()
}

// TestAFullDiskAtOpenIsAnError checks that Open neither waits nor sets files aside.
func TestAFullDiskAtOpenIsAnError(t *testing.T) {
	for _, number := range []syscall.Errno{syscall.ENOSPC, syscall.EIO, syscall.EROFS} {
		memory, disk, fail := failingDisk(number)
		s, err := Options{FS: disk}.Open("data", testIdentity())
		if err != nil {
			t.Fatal(err)
		}
		follow(t, s, 1, 10)
		closeStore(t, s)
		fail.Store(true)
		if s, err := (Options{FS: disk}).Open("data", testIdentity()); err == nil || errors.Is(err, errDamaged) ||
			errors.Is(err, state.ErrLocked) {
			t.Errorf("%v: store %v, error %v", number, s, err)
		}
		fail.Store(false)
		if _, err := memory.Stat("data/store.aside-1"); err == nil {
			t.Errorf("%v: set aside", number)
		}
	}
}

// TestAFullDiskIsReportedUntilAWriteSucceeds checks that DiskFull is called repeatedly while a write waits. Only a
// successful write ends the calls, not free space.
func TestAFullDiskIsReportedUntilAWriteSucceeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := vfs.NewMem()
		memory.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 0, TotalBytes: 1 << 40})
		var mu sync.Mutex
		var all []bool
		told := func() []bool {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(all)
		}
		s := newSpace(memory, "", func(full bool) {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, full)
		})
		s.opened.Store(true)
		go s.wait()
		time.Sleep(2*remindSpace + remindSpace/2)
		s.wrote() // a write that began before the disk was full ends now
		if want := []bool{true, true, true}; !slices.Equal(told(), want) {
			t.Errorf("told %v while a write waits, want %v", told(), want)
		}
		memory.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1 << 30, TotalBytes: 1 << 40})
		time.Sleep(2 * pollSpace)
		if len(told()) != 3 {
			t.Errorf("told %v before a write went through", told())
		}
		s.wrote()
		s.wrote()
		if want := []bool{true, true, true, false}; !slices.Equal(told(), want) {
			t.Errorf("told %v after a write went through, want %v", told(), want)
		}
	})
}
