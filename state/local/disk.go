package local

import (
	"os"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// disk is a file system that stays unchanged from the first failed write on, as if the machine had crashed there. Later
// writes go to memory, and Pebble gets no error. The reason is that Pebble panics on most write errors, in its own
// goroutines or with locks held, which ends the process. Before opened is set, Pebble gets the error.
type disk struct {
	vfs.FS
	memory *vfs.MemFS // file system of files made after the failure
	wrote  func()     // called after each successful write
	opened atomic.Bool
	failed atomic.Pointer[error]
}

func newDisk(fs vfs.FS, wrote func()) *disk { return &disk{FS: fs, memory: vfs.NewMem(), wrote: wrote} }

// lost returns the first write error, or nil.
func (d *disk) lost() error {
	if err := d.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// noteError records a write error. It returns the error while the store is being opened, and nil later.
func (d *disk) noteError(err error) error {
	if err == nil || !d.opened.Load() {
		return err
	}
	d.failed.CompareAndSwap(nil, &err)
	return nil
}

// change runs do, which changes the directory. Once the disk is lost it does nothing.
func (d *disk) change(do func() error) error {
	if d.lost() != nil {
		return nil
	}
	return d.noteError(do())
}

// attempt runs an operation whose failure Pebble can tolerate: reserving space, which some file systems cannot do, and
// deleting.
func (d *disk) attempt(do func() error) error {
	if d.lost() != nil {
		return nil
	}
	return do()
}

// make opens a file for writing. The file is in memory if the disk is already lost, or is lost by this call.
func (d *disk) make(name string, open func() (vfs.File, error)) (vfs.File, error) {
	if d.lost() == nil {
		f, err := open()
		if err == nil {
			return &file{f, d}, nil
		}
		if err = d.noteError(err); err != nil {
			return nil, err
		}
	}
	if err := d.memory.MkdirAll(d.memory.PathDir(name), 0o700); err != nil {
		return nil, err
	}
	return d.memory.Create(name, vfs.WriteCategoryUnspecified)
}

func (d *disk) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return d.make(name, func() (vfs.File, error) { return d.FS.Create(name, c) })
}

func (d *disk) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return d.make(to, func() (vfs.File, error) { return d.FS.ReuseForWrite(from, to, c) })
}

func (d *disk) OpenReadWrite(name string, c vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	return d.make(name, func() (vfs.File, error) { return d.FS.OpenReadWrite(name, c, o...) })
}

func (d *disk) Open(name string, o ...vfs.OpenOption) (vfs.File, error) {
	if d.lost() != nil {
		if f, err := d.memory.Open(name, o...); err == nil {
			return f, nil
		}
	}
	return d.FS.Open(name, o...)
}

func (d *disk) OpenDir(name string) (vfs.File, error) {
	f, err := d.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return &file{f, d}, nil
}

func (d *disk) Link(from, to string) error {
	return d.change(func() error { return d.FS.Link(from, to) })
}

func (d *disk) Remove(name string) error { return d.attempt(func() error { return d.FS.Remove(name) }) }

func (d *disk) RemoveAll(name string) error {
	return d.attempt(func() error { return d.FS.RemoveAll(name) })
}

func (d *disk) Rename(from, to string) error {
	return d.change(func() error { return d.FS.Rename(from, to) })
}

func (d *disk) MkdirAll(name string, mode os.FileMode) error {
	return d.change(func() error { return d.FS.MkdirAll(name, mode) })
}

func (d *disk) Unwrap() vfs.FS { return d.FS }

// file is a file on a disk that may fail.
type file struct {
	vfs.File
	disk *disk
}

func (f *file) Write(p []byte) (int, error) {
	return f.written(p, func() (int, error) { return f.File.Write(p) })
}

func (f *file) WriteAt(p []byte, at int64) (int, error) {
	return f.written(p, func() (int, error) { return f.File.WriteAt(p, at) })
}

func (f *file) written(p []byte, write func() (int, error)) (int, error) {
	if f.disk.lost() != nil {
		return len(p), nil
	}
	n, err := write()
	if err == nil {
		f.disk.wrote()
	}
	if err = f.disk.noteError(err); err != nil {
		return n, err
	}
	return len(p), nil
}

func (f *file) Preallocate(offset, length int64) error {
	return f.disk.attempt(func() error { return f.File.Preallocate(offset, length) })
}

func (f *file) Sync() error { return f.disk.change(f.File.Sync) }

func (f *file) SyncData() error { return f.disk.change(f.File.SyncData) }

func (f *file) SyncTo(length int64) (full bool, err error) {
	err = f.disk.change(func() (err error) {
		full, err = f.File.SyncTo(length)
		return err
	})
	return full, err
}

func (f *file) Close() error { return f.disk.noteError(f.File.Close()) }
