//go:build soak

package soak

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"oriel/pipeline/kafka"
)

// slot is the place of one process under test: its state directory, its proxies, its log.
type slot struct {
	*process
	dir     string
	pages   string // address of its HTTP pages, host:port
	letters bool   // the process runs `oriel letters`
	proxies []*proxy
	trap    atomic.Pointer[trap]
	disk    bool // the state directory has a disk of its own, which can be filled
}

func (s *slot) state() string { return filepath.Join(s.dir, "state") }

// ownDisk mounts a small disk below the state directory.
func (s *slot) ownDisk(ctx context.Context) error {
	output, err := exec.CommandContext(ctx, "mount", "-t", "tmpfs", "-o", "size=96m,mode=700", "tmpfs",
		s.dir).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s", strings.TrimSpace(string(output)))
	}
	s.disk = true
	return nil
}

func (s *slot) leaveDisk() error {
	if !s.disk {
		return nil
	}
	return syscall.Unmount(s.dir, 0)
}

// fill fills the slot's disk. The returned function frees the disk again.
func (s *slot) fill() (release func() error, err error) {
	path := filepath.Join(s.dir, "ballast")
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	for block := make([]byte, 1<<16); len(block) > 0; {
		if _, err := f.Write(block); err != nil {
			block = block[:len(block)/2] // smaller blocks fill the last bytes, too
		}
	}
	return func() error { return os.Remove(path) }, f.Close()
}

// supervise restarts the process when it ends by itself, and reports a violation.
func (s *slot) supervise(ctx context.Context, violation func(string, ...any)) {
	for ctx.Err() == nil {
		select {
		case <-s.child():
		case <-ctx.Done():
			return
		}
		if err, asked := s.outcome(); !asked {
			violation("%s ended by itself (%v); see %s", s.name, err, s.log)
			if kafka.Pause(ctx, time.Second) == nil {
				_ = s.start()
			}
		}
		_ = kafka.Pause(ctx, 100*time.Millisecond)
	}
}

// terminate sends SIGTERM and checks that it stops without an error.
func (s *slot) terminate(violation func(string, ...any)) {
	if !s.running() {
		return
	}
	s.signal(syscall.SIGTERM)
	if !s.ends(30 * time.Second) {
		violation("%s did not end within 30 s of SIGTERM; see %s", s.name, s.log)
		s.kill()
	} else if err, _ := s.outcome(); err != nil {
		violation("%s ended by SIGTERM: %v; see %s", s.name, err, s.log)
	}
}

// complaints reports the errors in the log as violations, above all a partition that has stopped until a person acts.
func (s *slot) complaints(violation func(string, ...any)) error {
	log, err := os.Open(s.log)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "level=ERROR") {
			violation("%s says %s; see %s", s.name, lines.Text(), s.log)
		}
	}
	return lines.Err()
}

func (s *slot) pagesFile() string { return s.log + ".pages" }

// owns reports whether the process says on its page that it owns the only stream of the topic.
func (s *slot) owns(ctx context.Context) bool {
	if s.letters {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.pages+"/readyz", nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false // the process is down or frozen
	}
	defer func() { _ = response.Body.Close() }()
	page, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	return err == nil && response.StatusCode == http.StatusOK && !strings.Contains(string(page), "standing by")
}

// savePages appends the process's pages to a file, which is later searched for canaries.
func (s *slot) savePages(ctx context.Context) {
	if s.letters {
		return // the process shows no page
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	f, err := os.OpenFile(s.pagesFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	for _, page := range []string{"metrics", "readyz", "healthz"} {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.pages+"/"+page, nil)
		if err != nil {
			return
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return // the process is down or frozen
		}
		fmt.Fprintf(f, "--- %s %s %s\n", clock(time.Now()), page, response.Status)
		_, _ = io.Copy(f, io.LimitReader(response.Body, 1<<20))
		_ = response.Body.Close()
	}
}

// archive has copies of the state directories of all processes.
type archive struct {
	dir    string
	copies []string
}

// keep copies the state directory of a process that is down.
func (a *archive) keep(s *slot) error {
	if _, err := os.Stat(s.state()); err != nil {
		return nil // there is no state yet
	}
	path := filepath.Join(a.dir, fmt.Sprintf("copy%d", len(a.copies)))
	if err := os.CopyFS(path, os.DirFS(s.state())); err != nil {
		return fmt.Errorf("copy of a state directory: %w", err)
	}
	a.copies = append(a.copies, path)
	return nil
}

// damage damages a state directory as a fault requires. The process must be down.
func (a *archive) damage(s *slot, how damage, r *rand.Rand) error {
	if _, err := os.Stat(s.state()); err != nil {
		return nil // there is no state yet
	}
	switch how {
	case deleted:
		return os.RemoveAll(s.state())
	case older:
		copied := a.copies[r.IntN(len(a.copies))]
		if err := os.RemoveAll(s.state()); err != nil {
			return err
		}
		return os.CopyFS(s.state(), os.DirFS(copied))
	case flipped, cut:
		return spoil(s.state(), how, r)
	default:
		return nil
	}
}

// spoil damages one file of a directory.
func spoil(dir string, how damage, r *rand.Rand) error {
	var files []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Size() > 0 {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return nil
	}
	path := files[r.IntN(len(files))]
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if how == cut {
		return os.Truncate(path, int64(r.IntN(len(content))))
	}
	for range 8 {
		content[r.IntN(len(content))] ^= 1 << r.IntN(8)
	}
	return os.WriteFile(path, content, 0o600)
}

// TestDamageHitsTheStore checks that damage finds the store's files, which are in a folder below the state directory.
func TestDamageHitsTheStore(t *testing.T) {
	for _, how := range []damage{same, deleted, older, flipped, cut} {
		s := &slot{dir: t.TempDir()}
		path := filepath.Join(s.state(), "store", "000002.log")
		write := func(content string) {
			t.Helper()
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		a := archive{dir: t.TempDir()}
		write("before")
		if err := a.keep(s); err != nil {
			t.Fatal(err)
		}
		write("afterwards")
		if err := a.damage(s, how, rand.New(rand.NewPCG(1, 1))); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(path)
		intact := string(content) == "afterwards"
		ok := map[damage]bool{
			same:    intact,
			deleted: os.IsNotExist(err),
			older:   string(content) == "before",
			flipped: len(content) == len("afterwards") && !intact,
			cut:     len(content) < len("afterwards") && bytes.HasPrefix([]byte("afterwards"), content),
		}[how]
		if !ok {
			t.Errorf("%s: the file holds %q, %v", how, content, err)
		}
	}
}

func TestAMissingStateDirectoryIsNotDamaged(t *testing.T) {
	s, a := &slot{dir: t.TempDir()}, archive{dir: t.TempDir()}
	if err := a.keep(s); err != nil {
		t.Fatal(err)
	}
	for _, how := range []damage{same, deleted, older, flipped, cut} {
		if err := a.damage(s, how, rand.New(rand.NewPCG(1, 1))); err != nil {
			t.Errorf("%s: %v", how, err)
		}
	}
}
