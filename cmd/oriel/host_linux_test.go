package main

import (
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"oriel/cmd/internal/program"
)

// TestNoCommandCanBeDumped checks that no command leaves a core dump, because it would contain keys and events. Once
// only `run` and `letters` forbade a dump, by a limit that the kernel ignores when it pipes dumps to a program.
func TestNoCommandCanBeDumped(t *testing.T) {
	var paths []string
	var walk func(cmd *cobra.Command, path string)
	walk = func(cmd *cobra.Command, path string) {
		if cmd.Runnable() {
			paths = append(paths, path)
		}
		for _, c := range cmd.Commands() {
			walk(c, strings.TrimSpace(path+" "+c.Name()))
		}
	}
	walk(root(), "")
	t.Cleanup(func() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0) })
	if len(paths) < 16 {
		t.Fatalf("commands %q", paths)
	}
	for _, path := range paths {
		if err := unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0); err != nil {
			t.Fatal(err)
		}
		all := root()
		cmd, _, err := all.Find(strings.Fields(path))
		if err != nil {
			t.Fatal(err)
		}
		ran := false
		cmd.Args, cmd.Run = nil, nil
		cmd.Flags().VisitAll(func(f *pflag.Flag) { f.Annotations = nil }) // makes all flags optional
		cmd.RunE = func(*cobra.Command, []string) error {
			ran = true
			dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
			if err != nil || dumpable != 0 {
				t.Errorf("oriel %s: PR_GET_DUMPABLE is %d, %v", path, dumpable, err)
			}
			// a limit of 0 cannot be raised again, so only the first command proves that it sets the limit
			var limit syscall.Rlimit
			if err := syscall.Getrlimit(syscall.RLIMIT_CORE, &limit); err != nil || limit.Cur != 0 {
				t.Errorf("oriel %s: a dump may have %d bytes, %v", path, limit.Cur, err)
			}
			return nil
		}
		all.SetArgs(strings.Fields(path))
		if code := program.Execute(t.Context(), all); code != 0 || !ran {
			t.Errorf("oriel %s: exit code %d, ran %t", path, code, ran)
		}
	}
}
