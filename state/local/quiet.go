package local

import (
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
	// Sealed values do not compress. Pebble has two implementations of zstd, of which the build takes one: with cgo a C
	// library, without cgo one in Go. Because nothing is compressed, both builds write the same files.
	o.ApplyCompressionSettings(func() pebble.DBCompressionSettings { return pebble.DBCompressionNone })
	return o
}

// quiet drops what Pebble logs: it writes to standard error otherwise, and its texts quote keys.
type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}

// Fatalf must not return. Pebble calls it when a file cannot be written, which an open store does not let it see, or
// cannot be found. In Open the panic becomes ErrFailed; in a goroutine of Pebble's it ends the process: nothing is
// lost, and nothing better can be done.
func (quiet) Fatalf(string, ...any) { panic(fatal{}) }

type fatal struct{}

// Error is what a process that ends by it prints.
func (fatal) Error() string {
	return "FATAL: state: the local store cannot be written; check the disk, then start again: the changelog has everything"
}
