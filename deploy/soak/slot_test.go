//go:build soak

package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

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
