package local

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// minimumSpace must be free before writes continue after the disk was full: for flushed tables and the log. On a small
// disk it is a sixteenth of the disk.
const minimumSpace = 64 << 20

// enough returns how many bytes of a disk must be free.
func enough(disk vfs.DiskUsage) uint64 { return min(minimumSpace, disk.TotalBytes/16) }

// A full disk is checked every pollSpace, and DiskFull is called again every remindSpace.
const (
	pollSpace   = 200 * time.Millisecond
	remindSpace = 10 * time.Second
)

// space makes writes wait while the disk is full. Pebble would treat the error as fatal, but a full disk is not: the
// pipeline stops fetching while Follow waits, and continues when there is room again. While the store is being opened
// nothing waits: Open returns the error, and its caller decides.
type space struct {
	disk   vfs.FS
	path   string
	notify func(full bool)
	opened atomic.Bool
	ended  chan struct{}
	once   sync.Once

	waiting atomic.Bool // a write waits for space
	full    atomic.Bool // the last write found no space, and none has succeeded since
}

func newSpace(disk vfs.FS, path string, notify func(bool)) *space {
	if notify == nil {
		notify = func(bool) {}
	}
	return &space{disk: disk, path: path, notify: notify, ended: make(chan struct{})}
}

// wait is called when a write finds no space. When it returns, the write is tried once more.
func (s *space) wait() {
	if !s.opened.Load() {
		return
	}
	select {
	case <-s.ended:
		return
	default:
	}
	s.waiting.Store(true)
	defer s.waiting.Store(false)
	s.full.Store(true)
	s.notify(true)
	tick, remind := time.NewTicker(pollSpace), time.NewTicker(remindSpace)
	defer tick.Stop()
	defer remind.Stop()
	for {
		usage, err := s.disk.GetDiskUsage(s.path)
		if err != nil || usage.AvailBytes >= enough(usage) {
			return
		}
		select {
		case <-s.ended:
			return
		case <-tick.C:
		case <-remind.C:
			s.notify(true)
		}
	}
}

// wrote is called when a write succeeds. A write that began before the disk was full has no effect here.
func (s *space) wrote() {
	if s.full.Load() && !s.waiting.Load() && s.full.CompareAndSwap(true, false) {
		s.notify(false)
	}
}

// giveUp ends the wait, so that the write fails.
func (s *space) giveUp() { s.once.Do(func() { close(s.ended) }) }
