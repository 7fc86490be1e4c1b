package local

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"oriel/state"
)

// Found is what Look finds in a directory.
type Found struct {
	Begun   bool   // a store is there
	Held    bool   // a process has it open, so that nobody can tell whose it is
	Damaged bool   // Open would set its files aside, and restore them from the changelog
	Free    uint64 // bytes that the disk has left for it
}

// ErrSpace reports a disk on which a store could not go on.
var ErrSpace = errors.New("state: the disk has no room")

// Look finds out whether Open would succeed. It makes no directory and writes no file. It takes the lock of a
// store that nobody has open for a moment.
func (o Options) Look(dir string, id state.Identity) (Found, error) {
	if o.FS == nil {
		o.FS = vfs.Default
		if absolute, err := filepath.Abs(dir); err == nil {
			dir = absolute
		}
	}
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
		return Found{Free: usage.AvailBytes}, fmt.Errorf("%w: directory %s has %d MiB left, and %d are needed",
			ErrSpace, exists, usage.AvailBytes>>20, enough(usage)>>20)
	default:
		found.Free = usage.AvailBytes
	}
	if _, err := o.FS.Stat(o.FS.PathJoin(dir, lockName)); errors.Is(err, fs.ErrNotExist) {
		return found, nil // Open makes this file first
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

// compare reads whose store it is that a locked directory has.
func (o Options) compare(found *Found, dir string, id state.Identity) error {
	files := o.FS.PathJoin(dir, storeName)
	if _, err := o.FS.Stat(files); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	found.Begun = true
	options := pebbleOptions(o.FS)
	options.ReadOnly = true
	db, err := openPebble(files, options)
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
	case errors.Is(err, pebble.ErrNotFound): // it was begun and never written
	case err != nil:
		found.Damaged = true
	default:
		return errors.Join(owner.Compare(id, dir), closed)
	}
	return closed
}

// mayWrite returns the directory itself, or the closest one above it that exists, where this process may make files.
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
