package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/reproduce"
)

// reproduced runs `oriel reproduce`.
func reproduced(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	cmd := reproduceCommand()
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(&bytes.Buffer{})
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

// The short form of every experiment runs, prints its table and leaves its three files; a second call runs nothing
// again and says the same; more seeds are added; a wrong call has no files.
func TestReproduceInShort(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "made")
	whole, err := reproduced(t, "--short", "--out", folder)
	if err != nil {
		t.Fatal(err)
	}
	cells := func(name string) string {
		b, err := os.ReadFile(filepath.Join(folder, name+".csv"))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	before := map[string]string{}
	for _, name := range reproduce.Names() {
		before[name] = cells(name)
		table, err := os.ReadFile(filepath.Join(folder, name+".md"))
		if err != nil || !strings.Contains(whole, string(table)) {
			t.Errorf("%s: the table is not what is printed: %v", name, err)
		}
		if plot, err := os.ReadFile(filepath.Join(folder, name+".svg")); err != nil || !bytes.Contains(plot, []byte("<svg")) {
			t.Errorf("%s: no plot: %v", name, err)
		}
	}
	again, err := reproduced(t, "--short", "--out", folder)
	if err != nil || again != whole || cells("arms") != before["arms"] {
		t.Errorf("the second call differs: %v", err)
	}
	if _, err := reproduced(t, "arms", "--short", "--seeds", "3", "--out", folder); err != nil {
		t.Fatal(err)
	}
	two, three := before["arms"], cells("arms")
	if !strings.HasPrefix(three, two) || 2*strings.Count(three, "\n") != 3*strings.Count(two, "\n")-1 {
		t.Error("a third seed is not half as much as two, behind them")
	}
	if cells("bandit") != before["bandit"] {
		t.Error("an experiment that is not named is run")
	}
	for _, args := range [][]string{{"arm"}, {"arms", "--seeds", "-1"}, {"--out", ""}} {
		other := filepath.Join(t.TempDir(), "none")
		if !slices.Contains(args, "--out") {
			args = append(args, "--out", other)
		}
		var wrong exit.UsageError
		if _, err := reproduced(t, append(args, "--short")...); !errors.As(err, &wrong) {
			t.Errorf("%q: %v", args, err)
		}
		if _, err := os.Stat(other); err == nil {
			t.Errorf("%q leaves a folder", args)
		}
	}
}
