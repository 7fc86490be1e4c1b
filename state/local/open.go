package local

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"oriel/state"
)

// Options are the settings of a Store. The service uses the zero value.
type Options struct {
	FS vfs.FS // file system of the store; nil: the machine's

	// DiskFull is called with true when writes start to wait for space, and repeatedly while they wait. It is called
	// with false when a write succeeds again. It may be nil.
	DiskFull func(full bool)
}

// storeName is the directory of the files within the given one. It exists because the given directory may be a mounted
// volume, which cannot be renamed, but damaged files must be.
const storeName = "store"

// lockName is the file within the given directory that a process locks before it opens the store.
const lockName = "LOCK"

// Open opens or creates the local store in dir with the service's options: Options{}.Open.
func Open(dir string, id state.Identity) (*Store, error) { return Options{}.Open(dir, id) }

// Open opens the local store in dir, or creates it, for the deployment id. It does not touch files of another
// deployment (ErrForeign), or files in use (ErrLocked). It renames damaged files within dir, see Store.SetAside, and
// starts with an empty store, because the changelog has all of its content. It reads every block once, so that damage
// is found at the start and not later. An error of the operating system is returned unchanged.
func (o Options) Open(dir string, id state.Identity) (*Store, error) {
	o, dir = o.on(dir)
	if err := makeDirectory(o.FS, dir); err != nil {
		return nil, err
	}
	lock, err := lockDirectory(o.FS, dir)
	if err != nil {
		return nil, err
	}
	s, err := o.openLocked(dir, id)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	s.lock = lock
	return s, nil
}

// on returns the options with a file system, and the name of the directory on it.
func (o Options) on(dir string) (Options, string) {
	if o.FS != nil {
		return o, dir
	}
	o.FS = vfs.Default
	if absolute, err := filepath.Abs(dir); err == nil {
		dir = absolute // absolute, because the lock within a process compares names
	}
	return o, dir
}

// makeDirectory creates dir for its owner only, and makes its name durable if the parent allows it. Pebble syncs the
// files in it.
func makeDirectory(disk vfs.FS, dir string) error {
	if err := disk.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("state: directory %s: %w", dir, osError(err))
	}
	parent, err := disk.OpenDir(disk.PathDir(dir))
	if err != nil {
		return nil // an unreadable parent cannot be synced; if a crash loses dir, the changelog restores it
	}
	_ = parent.Sync() // an error is ignored, because the changelog can restore dir
	return parent.Close()
}

// lockDirectory takes the lock under which the files may be renamed; Pebble's own lock would be renamed with the files.
func lockDirectory(disk vfs.FS, dir string) (io.Closer, error) {
	lock, err := disk.Lock(disk.PathJoin(dir, lockName))
	var path *fs.PathError
	var number syscall.Errno
	switch {
	case err == nil:
		return lock, nil
	case errors.As(err, &path), // the lock file cannot be made, or
		errors.As(err, &number) && number != syscall.EAGAIN && number != syscall.EACCES: // the file system has no locks
		return nil, fmt.Errorf("state: lock in directory %s: %w", dir, osError(err))
	}
	return nil, fmt.Errorf("%w: %s; stop the other process, or give this one a directory of its own", state.ErrLocked, dir)
}

func (o Options) openLocked(dir string, id state.Identity) (*Store, error) {
	files := o.FS.PathJoin(dir, storeName)
	s, err := o.openFiles(dir, files, id)
	if err == nil || !errors.Is(err, errDamaged) {
		return s, err
	}
	aside, err := setAside(o.FS, dir, files)
	if err != nil {
		return nil, err
	}
	if s, err = o.openFiles(dir, files, id); err != nil {
		if errors.Is(err, errDamaged) {
			return nil, fmt.Errorf("%w: an empty store in %s does not open", state.ErrFailed, dir)
		}
		return nil, err
	}
	s.aside = aside
	return s, nil
}

// errDamaged means that the files must be set aside.
var errDamaged = errors.New("state: damaged files")

func (o Options) openFiles(dir, files string, id state.Identity) (*Store, error) {
	if err := makeDirectory(o.FS, files); err != nil {
		return nil, err
	}
	space := newSpace(o.FS, files, o.DiskFull)
	lasting := newDisk(vfs.OnDiskFull(o.FS, space.wait), space.wrote)
	db, err := openPebble(files, pebbleOptions(lasting))
	if err != nil {
		return nil, damagedOr(dir, err)
	}
	if err := checkFiles(db, dir, id); err != nil {
		return nil, errors.Join(err, closePebble(db))
	}
	space.opened.Store(true)
	lasting.opened.Store(true)
	return &Store{db: engine{db, lasting}, space: space}, nil
}

// openPebble turns panics into errDamaged, because Pebble panics on invalid bytes that it has read from the disk. The
// exception is the panic of quiet.Fatalf, which means that a file cannot be written.
func openPebble(files string, o *pebble.Options) (db *pebble.DB, err error) {
	defer func() {
		switch r := recover(); r {
		case nil:
		case fatal{}:
			db, err = nil, state.ErrFailed
		default:
			db, err = nil, errDamaged
		}
	}()
	return pebble.Open(files, o)
}

func closePebble(db *pebble.DB) error {
	if err := db.Close(); err != nil {
		return own("close", err)
	}
	return nil
}

// damagedOr returns an error of the operating system unchanged, because then the files are intact, and reports any
// other error as damage. A missing file counts as damage.
func damagedOr(dir string, err error) error {
	if errors.Is(err, state.ErrFailed) {
		return fmt.Errorf("%w: directory %s cannot be written", state.ErrFailed, dir)
	}
	var number syscall.Errno
	if !pebble.IsCorruptionError(err) && errors.As(err, &number) && number != syscall.ENOENT {
		return fmt.Errorf("state: store in directory %s: %w", dir, number)
	}
	return errDamaged
}

// checkFiles reads every block and compares the identity. In an empty store it writes the identity.
func checkFiles(db *pebble.DB, dir string, id state.Identity) error {
	it, err := db.NewIter(nil)
	if err != nil {
		return damagedOr(dir, err)
	}
	var stored []byte
	n := 0
	for ok := it.First(); ok; ok = it.Next() {
		if key := it.Key(); len(key) == 1 && key[0] == identityKey {
			stored = append([]byte{}, it.Value()...)
		}
		n++
	}
	if err := it.Close(); err != nil {
		return damagedOr(dir, err)
	}
	if n == 0 {
		if err := db.Set([]byte{identityKey}, id.Append(nil), pebble.Sync); err != nil {
			return damagedOr(dir, err)
		}
		return nil
	}
	owner, err := state.ParseIdentity(stored)
	if err != nil {
		return errDamaged
	}
	return owner.Compare(id, dir)
}

// maxAside bounds the number of damaged copies, because each start with a failing disk could otherwise add a copy.
const maxAside = 9

// setAside renames the files to the first free name.
func setAside(disk vfs.FS, dir, files string) (*SetAside, error) {
	for n := 1; n <= maxAside; n++ {
		path := fmt.Sprintf("%s.aside-%d", files, n)
		switch _, err := disk.Stat(path); {
		case err == nil:
			continue
		case !errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("state: directory %s: %w", path, osError(err))
		}
		if err := disk.Rename(files, path); err != nil {
			return nil, fmt.Errorf("state: directory %s: %w", path, osError(err))
		}
		return &SetAside{Path: path, Reason: "damaged files in " + dir}, nil
	}
	return nil, fmt.Errorf("%w: files in directory %s were damaged %d times; check the disk, then delete the copies %s.aside-*",
		state.ErrFailed, dir, maxAside+1, files)
}

// osError returns the operating system's error without the stack trace that Pebble wraps around it.
func osError(err error) error {
	var number syscall.Errno
	if errors.As(err, &number) {
		return number
	}
	return err
}
