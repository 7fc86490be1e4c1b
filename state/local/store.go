package local

import (
	"errors"
	"io"

	"oriel/state"
)

// Store is the local copy of the changelog's records for the partitions that this process owns, or owned: a restart
// reads it instead of the topic. Writes are not synced. A crash of the machine may lose the last calls, but never a
// part of a call. So a partition always has the records after some completed call.
//
// Methods may run concurrently for different partitions. Close must come after all of them.
type Store struct {
	db    database
	lock  io.Closer
	space *space
	aside *SetAside
}

// Load returns the partition's records, sorted by key; or none. After ErrCorrupt the partition cannot be used, and the
// caller must restore it from the changelog with Replace. The caller must also check, against the changelog's position,
// that the records are the newest.
func (s *Store) Load(partition int32) ([]state.Record, error) { return s.db.load(partition) }

// Follow writes records, replacing those of equal key, all or none; a nil value deletes the record. It must come AFTER
// the commit of the transaction that contains them. While the disk is full it waits, until there is space or
// StopWaiting is called. After ErrFailed the process may continue without a local copy, or restart, because the
// changelog has everything.
func (s *Store) Follow(partition int32, records []state.Record) error {
	return s.db.write(partition, records, false)
}

// Replace replaces all records of the partition by the given ones, either all or none.
func (s *Store) Replace(partition int32, records []state.Record) error {
	return s.db.write(partition, records, true)
}

// StopWaiting ends the wait of writes for space on a full disk, and makes later writes fail at once. It is for a
// service that must stop. The changelog has the records that were not written.
func (s *Store) StopWaiting() { s.space.giveUp() }

// Close writes everything to the disk and releases the directory.
func (s *Store) Close() error {
	s.space.giveUp()
	return errors.Join(s.db.close(), s.lock.Close())
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
