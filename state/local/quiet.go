package local

import (
	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// pebbleOptions returns options for a small copy that is often overwritten.
func pebbleOptions(disk vfs.FS) *pebble.Options {
	o := &pebble.Options{
		FS:     disk,
		Logger: quiet{},
		// By default a damaged block ends the process, even if the reader gets the error and can handle it.
		EventListener: &pebble.EventListener{DataCorruption: func(pebble.DataCorruptionInfo) {}},
		// The format is fixed, so that a new version of the library does not change the files by itself.
		FormatMajorVersion: pebble.FormatTableFormatV6,
		// The same few keys are written again and again. A larger table overwrites old values in memory; a smaller one
		// would write them to disk. Many values of MaxValue bytes fit in it.
		MemTableSize: 16 << 20,
		// Values are read once, at the start of a partition; the cache is for compactions.
		CacheSize: 8 << 20,
	}
	// Sealed values do not compress. Pebble has two implementations of zstd, chosen by the build: with cgo a C library,
	// without cgo one in Go. Without compression both builds write the same files.
	o.ApplyCompressionSettings(func() pebble.DBCompressionSettings { return pebble.DBCompressionNone })
	return o
}

// quiet discards Pebble's log messages. By default they go to standard error, and their texts quote keys.
type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}

// Fatalf must not return. Pebble calls it if a file is missing or cannot be written; an open store hides failed writes
// from Pebble. In Open the panic becomes ErrFailed. In a goroutine of Pebble it ends the process. This loses no data,
// and there is no better way.
func (quiet) Fatalf(string, ...any) { panic(fatal{}) }

type fatal struct{}

// Error returns the text that a process prints when this panic ends it.
func (fatal) Error() string {
	return "FATAL: state: the local store cannot be written; check the disk, then start again: the changelog has everything"
}
