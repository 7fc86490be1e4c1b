package local

import (
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"oriel/state"
	"oriel/state/frame"
	"oriel/state/keys"
)

// filled makes a directory with a table, a log and a manifest, none of them empty.
func filled(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	s, err := Open(dir, testIdentity())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Follow(0, rec("a", "1", "b", strings.Repeat("x", 9000))); err != nil {
		t.Fatal(err)
	}
	if err := pebbleOf(s).Flush(); err != nil {
		t.Fatal(err)
	}
	if err := s.Follow(1, rec("a", "1")); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	return dir
}

// TestDamagedFilesAreSetAside damages each kind of file: emptied, filled with noise, or missing.
func TestDamagedFilesAreSetAside(t *testing.T) {
	noise := make([]byte, 4000)
	source := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte(source.Uint32())
	}
	for _, c := range []struct{ name, files string }{
		{"tables", "*.sst"}, {"manifest", "MANIFEST-*"}, {"format", "marker.format*"},
	} {
		for how, damage := range map[string]func(path string) error{
			"empty":   func(path string) error { return os.WriteFile(path, nil, 0o600) },
			"noise":   func(path string) error { return os.WriteFile(path, noise, 0o600) },
			"missing": os.Remove,
		} {
			if c.name == "format" && how != "missing" {
				continue // the file's name is its content
			}
			dir := filled(t)
			paths, err := filepath.Glob(filepath.Join(dir, storeName, c.files))
			if err != nil || len(paths) == 0 {
				t.Fatalf("%s: no files, %v", c.name, err)
			}
			for _, path := range paths {
				if err := damage(path); err != nil {
					t.Fatal(err)
				}
			}
			s, err := Open(dir, testIdentity())
			if err != nil {
				t.Errorf("%s, %s: %v", c.name, how, err)
				continue
			}
			aside := s.SetAside()
			if aside == nil || aside.Path != filepath.Join(dir, "store.aside-1") {
				t.Errorf("%s, %s: set aside %+v", c.name, how, aside)
			} else if _, err := os.Stat(aside.Path); err != nil {
				t.Errorf("%s, %s: %v", c.name, how, err)
			}
			wantRecords(t, s, 0, "")
			closeStore(t, s)
		}
	}
}

// TestNoFlippedBitIsBelieved flips bits of every file. Afterwards each partition must be empty, refused, or have the
// records after some completed call, and the process must not crash.
func TestNoFlippedBitIsBelieved(t *testing.T) {
	source := rand.New(rand.NewPCG(3, 4))
	big := strings.Repeat("x", 9000)
	for range 30 {
		dir := filled(t)
		paths, err := filepath.Glob(filepath.Join(dir, storeName, "*"))
		if err != nil {
			t.Fatal(err)
		}
		path := paths[source.IntN(len(paths))]
		b, err := os.ReadFile(path)
		if err != nil || len(b) == 0 {
			continue
		}
		at := source.IntN(8 * len(b))
		b[at/8] ^= 1 << (at % 8)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(dir, testIdentity())
		if err != nil {
			t.Errorf("%s, bit %d: %v", filepath.Base(path), at, err)
			continue
		}
		for p, want := range []string{"a=1 b=" + big + " ", "a=1 "} {
			records, err := s.Load(int32(p))
			if got := show(records); err == nil && got != "" && got != want {
				t.Errorf("%s, bit %d: partition %d is %.100q", filepath.Base(path), at, p, got)
			}
		}
		closeStore(t, s)
	}
}

func TestFilesWithoutAnIdentityAreSetAside(t *testing.T) {
	disk := vfs.NewMem()
	for n, damage := range []func(*Store) error{
		func(s *Store) error { return pebbleOf(s).Delete([]byte{identityKey}, pebble.Sync) },
		func(s *Store) error { return pebbleOf(s).Set([]byte{identityKey}, []byte("other"), pebble.Sync) },
	} {
		s := openMem(t, disk)
		if err := errors.Join(s.Follow(0, rec("a", "1")), damage(s)); err != nil {
			t.Fatal(err)
		}
		closeStore(t, s)
		s = openMem(t, disk)
		if a := s.SetAside(); a == nil || !strings.HasSuffix(a.Path, []string{"store.aside-1", "store.aside-2"}[n]) {
			t.Errorf("set aside %+v", a)
		}
		wantRecords(t, s, 0, "")
		closeStore(t, s)
	}
}

// TestAFailingDiskIsNotFilledWithCopies checks that a service that keeps restarting does not fill the disk with damaged
// copies.
func TestAFailingDiskIsNotFilledWithCopies(t *testing.T) {
	disk := vfs.NewMem()
	for n := range maxAside + 1 {
		s := openMem(t, disk)
		if err := errors.Join(s.Follow(0, rec("a", "1")), pebbleOf(s).Delete([]byte{identityKey}, pebble.Sync)); err != nil {
			t.Fatal(err)
		}
		if (s.SetAside() == nil) != (n == 0) {
			t.Errorf("start %d: set aside %+v", n, s.SetAside())
		}
		closeStore(t, s)
	}
	if _, err := (Options{FS: disk}).Open("data", testIdentity()); !errors.Is(err, state.ErrFailed) ||
		!strings.Contains(err.Error(), "check the disk") {
		t.Errorf("error %v", err)
	}
}

// TestSystemErrorsAreNoDamage checks that files that cannot be read do not count as damaged.
func TestSystemErrorsAreNoDamage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(file, testIdentity()); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("a file as directory: %v", err)
	}
	dir := filled(t)
	if err := os.Remove(filepath.Join(dir, "LOCK")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "LOCK"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, testIdentity()); err == nil || errors.Is(err, state.ErrLocked) || errors.Is(err, errDamaged) {
		t.Errorf("a lock that cannot be made: %v", err)
	}
}

func TestDirectoriesAreForTheOwnerOnly(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes")
	}
	dir := filled(t)
	for _, path := range []string{dir, filepath.Join(dir, storeName)} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o700 {
			t.Errorf("%s has mode %04o", path, info.Mode().Perm())
		}
	}
}

// TestSealedRecordsLeaveNoClearTextOnDisk checks that neither state, nor seal key, nor the name of the stream is on
// disk.
func TestSealedRecordsLeaveNoClearTextOnDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	store, err := Open(dir, testIdentity())
	if err != nil {
		t.Fatal(err)
	}
	const stream, canary = "canary-stream", "canary-of-the-machine-state"
	i := state.NewIncarnation(state.Incarnation{Stream: stream})
	s, err := i.Sealer()
	if err != nil {
		t.Fatal(err)
	}
	key := keys.NewNameKey().Key(frame.KindState, stream)
	sealed := s.Seal(nil, state.Position{Next: 5, Step: 4, Semantics: 1}, []byte(canary))
	if err := store.Follow(0, []state.Record{{Key: key, Value: sealed}}); err != nil {
		t.Fatal(err)
	}
	closeStore(t, store)
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), "canary") || strings.Contains(string(b), string(i.SealKey[:])) {
			t.Errorf("%s holds it in clear", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestStoreIsQuiet checks that nothing is written to standard error, as Pebble's own logger would.
func TestStoreIsQuiet(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, stdout := os.Stderr, os.Stdout
	os.Stderr, os.Stdout = write, write
	dir := filled(t)
	tables, err := filepath.Glob(filepath.Join(dir, storeName, "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Errorf("no tables, %v", err)
	}
	for _, path := range tables {
		if err := os.WriteFile(path, make([]byte, 2000), 0o600); err != nil {
			t.Error(err)
		}
	}
	s, err := Open(dir, testIdentity())
	if err == nil {
		err = s.Close()
	}
	os.Stderr, os.Stdout = stderr, stdout
	if err := errors.Join(err, write.Close()); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(read); err != nil || len(b) > 0 {
		t.Errorf("printed %q, %v", b, err)
	}
}
