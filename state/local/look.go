package local

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"oriel/state"
	"oriel/state/frame"
)

// Found describes the store that Look finds in a directory.
type Found struct {
	Begun   bool   // the folder has a store
	Held    bool   // another process has the store open, so its owner cannot be checked
	Damaged bool   // Open would move the files away and restore the store from the changelog
	Free    uint64 // free bytes of the disk
}

// ErrSpace reports a disk without enough room for a store.
var ErrSpace = errors.New("state: the disk has no room")

// Look checks whether Open would succeed. It creates no directory and writes no file. If no process has the store open,
// it holds the store's lock for a moment.
func (o Options) Look(dir string, id state.Identity) (Found, error) {
	o, dir = o.on(dir)
	exists, err := mayWrite(o.FS, dir)
	if err != nil {
		return Found{}, err
	}
	var found Found
	usage, err := o.FS.GetDiskUsage(exists)
	switch {
	case errors.Is(err, vfs.ErrUnsupported):
	case err != nil:
		return Found{}, fmt.Errorf("state: directory %s: %w", exists, osError(err))
	case usage.AvailBytes < enough(usage):
		return Found{Free: usage.AvailBytes}, fmt.Errorf("%w: directory %s has %d MiB left, and must have %d",
			ErrSpace, exists, usage.AvailBytes>>20, enough(usage)>>20)
	default:
		found.Free = usage.AvailBytes
	}
	if _, err := o.FS.Stat(o.FS.PathJoin(dir, lockName)); errors.Is(err, fs.ErrNotExist) {
		return found, nil // Open makes this file first, so without it there is no store
	}
	lock, err := lockDirectory(o.FS, dir)
	if errors.Is(err, state.ErrLocked) {
		found.Begun, found.Held = true, true
		return found, nil
	}
	if err != nil {
		return found, err
	}
	err = o.compare(&found, dir, id)
	return found, errors.Join(err, lock.Close())
}

// compare checks which deployment owns the store in a directory that this process has locked.
func (o Options) compare(found *Found, dir string, id state.Identity) error {
	files := o.FS.PathJoin(dir, storeName)
	if _, err := o.FS.Stat(files); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	found.Begun = true
	db, err := o.openReadOnly(files)
	if err != nil {
		found.Damaged = errors.Is(damagedOr(dir, err), errDamaged)
		if found.Damaged {
			return nil
		}
		return damagedOr(dir, err)
	}
	stored, closer, err := db.Get([]byte{identityKey})
	var owner state.Identity
	if err == nil {
		owner, err = state.ParseIdentity(stored)
		err = errors.Join(err, closer.Close())
	}
	closed := closePebble(db)
	switch {
	case errors.Is(err, pebble.ErrNotFound): // the store was begun but never written
	case err != nil:
		found.Damaged = true
	default:
		return errors.Join(owner.Compare(id, dir), closed)
	}
	return closed
}

func (o Options) openReadOnly(files string) (*pebble.DB, error) {
	options := pebbleOptions(o.FS)
	options.ReadOnly = true
	return openPebble(files, options)
}

// Copy reads the store of a directory, partition by partition, and writes nothing. It is a state.Store for an
// examination beside a process that may start at any time, so it holds the store's lock only while it reads.
type Copy struct {
	Options Options
	Dir     string // "": there is no store
	Damaged bool   // Look has found damage
}

// Load returns the records of a partition. It returns none if the directory has no store, or a process has it open.
func (c Copy) Load(partition int32) (records []state.Record, err error) {
	if c.Dir == "" {
		return nil, nil
	}
	o, dir := c.Options.on(c.Dir)
	files := o.FS.PathJoin(dir, storeName)
	if _, err := o.FS.Stat(files); err != nil {
		return nil, nil
	}
	lock, err := lockDirectory(o.FS, dir)
	if err != nil {
		return nil, nil // Look reports every error but this one: a process has the store open
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	db, err := o.openReadOnly(files)
	if err != nil {
		return nil, fmt.Errorf("%w: store in directory %s", frame.ErrCorrupt, dir)
	}
	records, err = engine{db, newDisk(o.FS, func() {})}.load(partition)
	return records, errors.Join(err, closePebble(db))
}

// MayHaveLost reports whether the store is damaged.
func (c Copy) MayHaveLost() bool { return c.Damaged }

// Follow refuses to write.
func (Copy) Follow(int32, []state.Record) error { return errReadOnly }

// Replace refuses to write.
func (Copy) Replace(int32, []state.Record) error { return errReadOnly }

var errReadOnly = errors.New("state: a copy is not written")

// mayWrite returns the directory, or its closest existing parent, if this process may create files there.
func mayWrite(disk vfs.FS, dir string) (exists string, err error) {
	for exists = dir; ; exists = disk.PathDir(exists) {
		info, err := disk.Stat(exists)
		switch {
		case err == nil && !info.IsDir(), errors.Is(err, syscall.ENOTDIR):
			return "", fmt.Errorf("state: directory %s: %w", exists, syscall.ENOTDIR)
		case errors.Is(err, fs.ErrNotExist) && exists != disk.PathDir(exists):
			continue
		case err != nil:
			return "", fmt.Errorf("state: directory %s: %w", exists, osError(err))
		}
		if err := access(exists); err != nil {
			return "", fmt.Errorf("state: directory %s cannot be written: %w", exists, err)
		}
		return exists, nil
	}
}
