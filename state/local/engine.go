package local

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"oriel/state"
	"oriel/state/frame"
)

// database is what a Store needs of Pebble. It has none of Pebble's types, because a package that imports a struct with
// a *pebble.DB in it compiles some 700 of Pebble's generic functions again, which takes about a second.
type database interface {
	load(partition int32) ([]state.Record, error)
	write(partition int32, records []state.Record, drop bool) error
	close() error
}

// engine is a Pebble database on a disk that may fail.
type engine struct {
	db   *pebble.DB
	disk *disk
}

// Keys in Pebble: the identity, and for each record recordKey ‖ partition u32 big-endian ‖ Record.Key. Values in
// Pebble: Record.Value ‖ CRC-32C u32 of Pebble's key and the value, so that swapped values are detected.
const (
	identityKey  = 1
	recordKey    = 2
	prefixSize   = 1 + 4
	checksumSize = 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func prefix(partition int32) []byte {
	if partition < 0 {
		panic(fmt.Sprintf("BUG: state: partition %d", partition))
	}
	return binary.BigEndian.AppendUint32([]byte{recordKey}, uint32(partition))
}

// prefixEnd returns the first key after all keys of the partition. Partitions are below 1<<31, so it does not wrap.
func prefixEnd(partition int32) []byte {
	return binary.BigEndian.AppendUint32([]byte{recordKey}, uint32(partition)+1)
}

func valueChecksum(key, value []byte) uint32 {
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, value)
}

func (e engine) close() error {
	err := e.db.Close()
	if lost := e.disk.lost(); lost != nil {
		err = lost
	}
	if err != nil {
		return own("close", err)
	}
	return nil
}

func (e engine) load(partition int32) ([]state.Record, error) {
	if err := e.disk.lost(); err != nil {
		return nil, own("read", err)
	}
	it, err := e.db.NewIter(&pebble.IterOptions{LowerBound: prefix(partition), UpperBound: prefixEnd(partition)})
	if err != nil {
		return nil, own("read", err)
	}
	var records []state.Record
	for ok := it.First(); ok; ok = it.Next() {
		key, value := it.Key(), it.Value()
		end := len(value) - checksumSize
		if end < 0 || valueChecksum(key, value[:end]) != binary.LittleEndian.Uint32(value[end:]) {
			_ = it.Close() // closing after a read error adds nothing to report
			return nil, fmt.Errorf("%w: stored value of partition %d does not match its checksum", frame.ErrCorrupt, partition)
		}
		records = append(records, state.Record{Key: slices.Clone(key[prefixSize:]), Value: slices.Clone(value[:end])})
	}
	if err := it.Close(); err != nil {
		if pebble.IsCorruptionError(err) {
			return nil, fmt.Errorf("%w: stored block of partition %d does not match its checksum", frame.ErrCorrupt, partition)
		}
		return nil, own("read", err)
	}
	return records, nil
}

func (e engine) write(partition int32, records []state.Record, drop bool) error {
	b := e.db.NewBatch()
	if drop {
		if err := b.DeleteRange(prefix(partition), prefixEnd(partition), nil); err != nil {
			return own("write", err)
		}
	}
	for _, r := range records {
		if r.Value == nil {
			if err := b.Delete(append(prefix(partition), r.Key...), nil); err != nil {
				return own("write", err)
			}
			continue
		}
		op := b.SetDeferred(prefixSize+len(r.Key), len(r.Value)+checksumSize)
		copy(op.Key, prefix(partition))
		copy(op.Key[prefixSize:], r.Key)
		copy(op.Value, r.Value)
		binary.LittleEndian.PutUint32(op.Value[len(r.Value):], valueChecksum(op.Key, r.Value))
		if err := op.Finish(); err != nil {
			return own("write", err)
		}
	}
	if err := e.commit(b); err != nil {
		return err
	}
	return b.Close()
}

// commit writes a batch. It fails if this write to the disk, or any before it, has failed.
func (e engine) commit(b *pebble.Batch) error {
	err := e.disk.lost()
	if err == nil {
		err = b.Commit(pebble.NoSync)
	}
	if err == nil {
		err = e.disk.lost()
	}
	if err != nil {
		return own("write", err)
	}
	return nil
}

// own replaces Pebble's error, whose text may quote keys, by one of this package; the operating system's error number
// is kept.
func own(doing string, err error) error {
	var number syscall.Errno
	if errors.As(err, &number) {
		return fmt.Errorf("%w: cannot %s: %w", state.ErrFailed, doing, number)
	}
	return fmt.Errorf("%w: cannot %s", state.ErrFailed, doing)
}

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
