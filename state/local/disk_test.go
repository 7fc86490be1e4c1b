package local

import (
	"errors"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// refusing is a file that refuses to reserve space, as on some file systems.
type refusing struct{ vfs.File }

func (refusing) Preallocate(_, _ int64) error { return syscall.EOPNOTSUPP }

// TestOnlyFailedWritesLoseTheDisk checks that a failure to reserve space or to delete a file does not count as a lost
// disk. A failed write must, and Pebble must not get its error.
func TestOnlyFailedWritesLoseTheDisk(t *testing.T) {
	_, failing, fail := failingDisk(syscall.EIO)
	d := newDisk(failing, func() {})
	f, err := d.Create("a", vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	d.opened.Store(true)
	own := f.(*file)
	own.File = refusing{own.File}
	if err := f.Preallocate(0, 10); !errors.Is(err, syscall.EOPNOTSUPP) {
		t.Errorf("Preallocate: %v", err)
	}
	fail.Store(true)
	if err := d.Remove("a"); !errors.Is(err, syscall.EIO) {
		t.Errorf("Remove: %v", err)
	}
	if d.lost() != nil {
		t.Fatal("the disk is lost")
	}
	if n, err := f.Write([]byte("abc")); n != 3 || err != nil || !errors.Is(d.lost(), syscall.EIO) {
		t.Errorf("Write: %d, %v; lost: %v", n, err, d.lost())
	}
	fail.Store(false)
	if g, err := d.Create("b", vfs.WriteCategoryUnspecified); err != nil {
		t.Error(err)
	} else if _, err := g.Write([]byte("x")); err != nil {
		t.Error(err)
	}
	if _, err := failing.Stat("b"); err == nil {
		t.Error("a lost disk is written to")
	}
	if r, err := d.Open("b"); err != nil {
		t.Error(err)
	} else if err := r.Close(); err != nil {
		t.Error(err)
	}
}
