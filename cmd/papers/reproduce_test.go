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
	"oriel/cmd/papers/internal/reproduce"
	"oriel/mechanisms/mechtest/tiertest"
)

// reproduced runs `papers reproduce`.
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

// TestReproduceInShort checks that the short form of every experiment runs, prints its table and writes its three
// files. A second call must run nothing again and print the same, and must add further seeds on request. A wrong call
// must write no files. Without --seeds a short form has two seeds. In the short tier every experiment runs one seed, of
// 200 steps, and one experiment adds the other seed. Sets run 1000 steps, because a row publishes every 1000 steps.
func TestReproduceInShort(t *testing.T) { // not parallel, because it may change the variable with all experiments
	experiments := slices.Clone(reproduce.All)
	t.Cleanup(func() { copy(reproduce.All, experiments) })
	for i, e := range experiments {
		few := uint64(200)
		if e.Name == "sets" {
			few = 1000
		}
		reproduce.All[i].Short = tiertest.Runs(min(few, e.Short), e.Short)
	}
	folder := filepath.Join(t.TempDir(), "made")
	all := tiertest.Runs([]string{"--short", "--seeds", "1"}, []string{"--short"})
	whole, err := reproduced(t, append(all, "--out", folder)...)
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
	again, err := reproduced(t, append(all, "--out", folder)...)
	if err != nil || again != whole || cells("arms") != before["arms"] {
		t.Errorf("the second call differs: %v", err)
	}
	one := tiertest.Runs([]string{"arms", "--short"}, []string{"arms", "--short", "--seeds", "3"})
	if _, err := reproduced(t, append(one, "--out", folder)...); err != nil {
		t.Fatal(err)
	}
	seeds := tiertest.Runs(1, 2)
	few, more := before["arms"], cells("arms")
	if !strings.HasPrefix(more, few) || seeds*strings.Count(more, "\n") != (seeds+1)*strings.Count(few, "\n")-1 {
		t.Errorf("one seed more is not as much as each of %d, behind them", seeds)
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
