package state

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// pebbleOptions are those of a small, often overwritten copy of something else.
func pebbleOptions(disk vfs.FS) *pebble.Options {
	o := &pebble.Options{
		FS:     disk,
		Logger: quiet{},
		// By default a damaged block ends the process, also when a reader gets the error and knows what to do.
		EventListener: &pebble.EventListener{DataCorruption: func(pebble.DataCorruptionInfo) {}},
		// Fixed, so that a new version of the library does not change the files by itself.
		FormatMajorVersion: pebble.FormatTableFormatV6,
		// The same few keys are written again and again: a larger table meets its old values in memory, a smaller
		// one writes them out. A value of MaxValue fits many times.
		MemTableSize: 16 << 20,
		// Values are read once, at the start of a partition; the cache serves compactions.
		CacheSize: 8 << 20,
	}
	// Sealed values do not compress.
	o.ApplyCompressionSettings(func() pebble.DBCompressionSettings { return pebble.DBCompressionNone })
	return o
}

// quiet drops what Pebble logs: it writes to standard error otherwise, and its texts quote keys.
type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}

// Fatalf must not return. Pebble calls it when a file cannot be written, which an open store does not let it see, or cannot be found. In Open
// the panic becomes ErrFailed; in a goroutine of Pebble's it ends the process: nothing is lost, and nothing better can be done.
func (quiet) Fatalf(string, ...any) { panic(fatal{}) }

type fatal struct{}

// Error is what a process that ends by it prints.
func (fatal) Error() string {
	return "FATAL: state: the local store cannot be written; check the disk, then start again: the changelog has everything"
}

// minimumSpace must be free before writes go on after the disk was full: flushed tables and the log beside them. On a
// disk where that is much, a sixteenth of the disk.
const minimumSpace = 64 << 20

// pollSpace is the interval at which a full disk is looked at.
const pollSpace = 200 * time.Millisecond

// space makes writes wait while the disk is full. Pebble would take the error as fatal, and a full disk is not: the
// pipeline stops fetching while Follow waits, and goes on when someone has made room. While the store is being opened
// nothing waits: Open returns the error, and its caller decides.
type space struct {
	disk   vfs.FS
	path   string
	tell   func(full bool)
	opened atomic.Bool
	ended  chan struct{}
	once   sync.Once
}

func newSpace(disk vfs.FS, path string, tell func(bool)) *space {
	if tell == nil {
		tell = func(bool) {}
	}
	return &space{disk: disk, path: path, tell: tell, ended: make(chan struct{})}
}

// wait is called when a write found no space; when it returns, the write is tried once more.
func (s *space) wait() {
	if !s.opened.Load() {
		return
	}
	select {
	case <-s.ended:
		return
	default:
	}
	s.tell(true)
	defer s.tell(false)
	tick := time.NewTicker(pollSpace)
	defer tick.Stop()
	for {
		usage, err := s.disk.GetDiskUsage(s.path)
		if err != nil || usage.AvailBytes >= min(minimumSpace, usage.TotalBytes/16) {
			return
		}
		select {
		case <-s.ended:
			return
		case <-tick.C:
		}
	}
}

// giveUp ends the wait: the write fails.
func (s *space) giveUp() { s.once.Do(func() { close(s.ended) }) }
