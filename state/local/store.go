package local

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"syscall"

	"github.com/cockroachdb/pebble/v2"

	"oriel/state"
)

// Store is the local copy of the changelog's records for the partitions that this process owns, or owned: a restart
// reads it instead of the topic. Writes are not synced. A crash of the machine may lose the last calls, but never a
// part of a call. So a partition always has the records after some completed call.
//
// Methods may run concurrently for different partitions. Close must come after all of them.
type Store struct {
	db    *pebble.DB
	disk  *disk
	lock  io.Closer
	space *space
	aside *SetAside
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

// Load returns the partition's records, sorted by key; or none. After ErrCorrupt the partition cannot be used, and the
// caller must restore it from the changelog with Replace. The caller must also check, against the changelog's position,
// that the records are the newest.
func (s *Store) Load(partition int32) ([]state.Record, error) {
	if err := s.disk.lost(); err != nil {
		return nil, own("read", err)
	}
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: prefix(partition), UpperBound: prefixEnd(partition)})
	if err != nil {
		return nil, own("read", err)
	}
	var records []state.Record
	for ok := it.First(); ok; ok = it.Next() {
		key, value := it.Key(), it.Value()
		end := len(value) - checksumSize
		if end < 0 || valueChecksum(key, value[:end]) != binary.LittleEndian.Uint32(value[end:]) {
			_ = it.Close() // closing after a read error adds nothing to report
			return nil, fmt.Errorf("%w: stored value of partition %d does not match its checksum", state.ErrCorrupt, partition)
		}
		records = append(records, state.Record{Key: slices.Clone(key[prefixSize:]), Value: slices.Clone(value[:end])})
	}
	if err := it.Close(); err != nil {
		if pebble.IsCorruptionError(err) {
			return nil, fmt.Errorf("%w: stored block of partition %d does not match its checksum", state.ErrCorrupt, partition)
		}
		return nil, own("read", err)
	}
	return records, nil
}

// Follow writes records, replacing those of equal key, all or none. It must come AFTER the commit of the transaction
// that contains them. While the disk is full it waits, until there is space or StopWaiting is called. After ErrFailed
// the process may continue without a local copy, or restart, because the changelog has everything.
func (s *Store) Follow(partition int32, records []state.Record) error {
	return s.write(partition, records, false)
}

// Replace replaces all records of the partition by the given ones, either all or none.
func (s *Store) Replace(partition int32, records []state.Record) error {
	return s.write(partition, records, true)
}

func (s *Store) write(partition int32, records []state.Record, drop bool) error {
	b := s.db.NewBatch()
	if drop {
		if err := b.DeleteRange(prefix(partition), prefixEnd(partition), nil); err != nil {
			return own("write", err)
		}
	}
	for _, r := range records {
		op := b.SetDeferred(prefixSize+len(r.Key), len(r.Value)+checksumSize)
		copy(op.Key, prefix(partition))
		copy(op.Key[prefixSize:], r.Key)
		copy(op.Value, r.Value)
		binary.LittleEndian.PutUint32(op.Value[len(r.Value):], valueChecksum(op.Key, r.Value))
		if err := op.Finish(); err != nil {
			return own("write", err)
		}
	}
	if err := s.commit(b); err != nil {
		return err
	}
	return b.Close()
}

// commit writes a batch. It fails if this write to the disk, or any before it, has failed.
func (s *Store) commit(b *pebble.Batch) error {
	err := s.disk.lost()
	if err == nil {
		err = b.Commit(pebble.NoSync)
	}
	if err == nil {
		err = s.disk.lost()
	}
	if err != nil {
		return own("write", err)
	}
	return nil
}

// StopWaiting ends the wait of writes for space on a full disk, and makes later writes fail at once. It is for a
// service that must stop. The changelog has the records that were not written.
func (s *Store) StopWaiting() { s.space.giveUp() }

// Close writes everything to the disk and releases the directory.
func (s *Store) Close() error {
	s.space.giveUp()
	err := s.db.Close()
	if lost := s.disk.lost(); lost != nil {
		err = lost
	}
	if err != nil {
		err = own("close", err)
	}
	return errors.Join(err, s.lock.Close())
}

// SetAside describes the files that Open could not use and renamed.
type SetAside struct {
	Path   string // path of the files moved away; a person may inspect and delete them
	Reason string
}

// SetAside returns the files that Open set aside, or nil. The caller should log it, because the start takes longer, and
// a disk may be failing.
func (s *Store) SetAside() *SetAside { return s.aside }

// MayHaveLost reports whether Open set files aside. They may have held the state of any partition.
func (s *Store) MayHaveLost() bool { return s.aside != nil }

// own replaces Pebble's error, whose text may quote keys, by one of this package; the operating system's error number
// is kept.
func own(doing string, err error) error {
	var number syscall.Errno
	if errors.As(err, &number) {
		return fmt.Errorf("%w: cannot %s: %w", state.ErrFailed, doing, number)
	}
	return fmt.Errorf("%w: cannot %s", state.ErrFailed, doing)
}
