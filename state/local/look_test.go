package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"oriel/state"
	"oriel/state/frame"
)

// files lists everything below a directory with mode, size and time, except the times of lock files.
func files(t *testing.T, dir string) string {
	t.Helper()
	var text strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		at := info.ModTime().String()
		if d.Name() == lockName {
			at = ""
		}
		_, err = fmt.Fprintln(&text, path, info.Mode(), info.Size(), at)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// settled lists the files once Pebble has written in the background what it still had to write.
func settled(t *testing.T, dir string) string {
	t.Helper()
	for last := files(t, dir); ; {
		time.Sleep(20 * time.Millisecond)
		now := files(t, dir)
		if now == last {
			return now
		}
		last = now
	}
}

// TestLookChangesNothing checks the store and its owner that Look reports, and that no file or time has changed
// afterwards.
func TestLookChangesNothing(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	dir, own := filepath.Join(parent, "a", "b"), testIdentity()
	other := own
	other.Name = "other"
	look := func(id state.Identity, begun, held bool, want error) {
		t.Helper()
		before := settled(t, parent)
		found, err := Options{}.Look(dir, id)
		if found.Begun != begun || found.Held != held || !errors.Is(err, want) {
			t.Errorf("found %+v: %v, want %v", found, err, want)
		}
		if after := files(t, parent); after != before {
			t.Errorf("there was\n%sand there is\n%s", before, after)
		}
	}
	look(own, false, false, nil)
	store, err := Open(dir, own)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Follow(0, []state.Record{{Key: []byte("k"), Value: []byte("v")}}); err != nil {
		t.Fatal(err)
	}
	look(other, true, true, nil)
	closeStore(t, store)
	look(own, true, false, nil)
	look(other, true, false, frame.ErrForeign)
	manifests, err := filepath.Glob(filepath.Join(dir, storeName, "MANIFEST-*"))
	if err != nil || len(manifests) == 0 {
		t.Fatalf("manifests %v: %v", manifests, err)
	}
	for _, name := range manifests {
		if err := os.WriteFile(name, []byte("damaged"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if found, err := (Options{}).Look(dir, own); err != nil || !found.Damaged {
		t.Errorf("damaged files: %+v, %v", found, err)
	}
}

// TestLookFindsTheDiskFull checks that Look reports a full disk as a store would.
func TestLookFindsTheDiskFull(t *testing.T) {
	disk := vfs.NewMem()
	disk.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: minimumSpace - 1, TotalBytes: 1 << 40})
	if _, err := (Options{FS: disk}).Look("state", testIdentity()); !errors.Is(err, ErrSpace) {
		t.Errorf("a full disk: %v", err)
	}
	disk.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: minimumSpace, TotalBytes: 1 << 40})
	if _, err := (Options{FS: disk}).Look("state", testIdentity()); err != nil {
		t.Errorf("a disk with room: %v", err)
	}
}
