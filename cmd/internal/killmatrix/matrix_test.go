package killmatrix

import (
	"context"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"oriel/mechanisms/mechtest/tiertest"
)

var (
	sample = flag.Int("sample", 0, "plant so many faults, drawn among those that histories need not find; 0: all")
	seed   = flag.Uint64("seed", 1, "of the sample")
)

// The smallest number of faults in total, and in each place.
const (
	least        = 120
	leastOfPlace = 5
)

// TestFaultsStand checks that each text to replace is still in its file and that each killer exists. A fault whose text
// has changed would plant nothing, and a missing test would find nothing.
func TestFaultsStand(t *testing.T) {
	count, changes := 0, map[string]string{}
	for _, p := range read(t) {
		if p.name != equivalents {
			if count += len(p.faults); len(p.faults) < leastOfPlace {
				t.Errorf("%s: %d faults", p.name, len(p.faults))
			}
		}
		for _, f := range p.faults {
			content, err := f.planted()
			if err != nil {
				t.Errorf("%s: %v", p.name, err)
				continue
			}
			change := f.file + "\n" + string(content)
			if other, twice := changes[change]; twice {
				t.Errorf("%s: %q is the change of %q", p.name, f.breaks, other)
			}
			changes[change] = f.breaks
			for _, k := range f.killers {
				if !k.exists(t) {
					t.Errorf("%s: %q: %s has no test %s", p.name, f.breaks, k.folder, k.name)
				}
			}
		}
	}
	if count < least {
		t.Errorf("%d faults, want %d", count, least)
	}
}

// exists reports whether the folder declares the test and, for a mode of the audit, the machine.
func (k killer) exists(t *testing.T) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, k.folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	machine, _, _ := strings.Cut(k.name, ": ")
	test, named := false, k.mode != byPairs && k.mode != byAttack
	for _, name := range files {
		content := string(sources(t, name))
		test = test || strings.Contains(content, "\nfunc "+k.top()+"(")
		named = named || strings.Contains(content, "\""+machine+"\": {")
	}
	if k.mode == byStory {
		_, err := os.Stat(filepath.Join(root, "operators", k.name, "testdata", "stories"))
		return test && err == nil
	}
	return test && named
}

// known caches the files that sources has read.
var known = map[string][]byte{}

// sources returns a file's content, which it reads once.
func sources(t *testing.T, name string) []byte {
	t.Helper()
	if content, some := known[name]; some {
		return content
	}
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	known[name] = content
	return content
}

// TestEachFaultIsFound plants each fault, or a sample of the faults, and checks that each killer of the fault fails.
// Most of the time is spent on builds, some seconds for each killer.
func TestEachFaultIsFound(t *testing.T) {
	tiertest.Slow(t, "TestFaultsStand")
	places := slices.DeleteFunc(read(t), func(p place) bool { return p.name == equivalents })
	if *sample > 0 {
		t.Logf("a sample of %d, seed %d", *sample, *seed)
		places = sampled(places)
	}
	for _, p := range places {
		t.Run(p.name, func(t *testing.T) {
			for _, f := range p.faults {
				t.Run(f.breaks, func(t *testing.T) {
					t.Parallel()
					f.find(t)
				})
			}
		})
	}
}

// sampled returns a random sample of the faults, without the faults that random histories must find.
func sampled(places []place) []place {
	type row struct{ place, fault int }
	var all []row
	for i := range places {
		for j := range places[i].faults {
			f := &places[i].faults[j]
			f.killers = slices.DeleteFunc(f.killers, func(k killer) bool { return k.mode == byHistories })
			if len(f.killers) > 0 {
				all = append(all, row{i, j})
			}
		}
	}
	random := rand.New(rand.NewPCG(*seed, 0))
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	drawn := make([]place, len(places))
	for _, x := range all[:min(*sample, len(all))] {
		drawn[x.place].name = places[x.place].name
		drawn[x.place].faults = append(drawn[x.place].faults, places[x.place].faults[x.fault])
	}
	return slices.DeleteFunc(drawn, func(p place) bool { return len(p.faults) == 0 })
}

// find checks that every killer fails.
func (f fault) find(t *testing.T) {
	t.Helper()
	overlay := f.overlay(t)
	for _, k := range f.killers {
		start := time.Now()
		said, failed := k.fails(t, overlay)
		switch took := time.Since(start).Round(time.Second); {
		case strings.Contains(said, "[build failed]") || strings.Contains(said, "[setup failed]"):
			t.Errorf("%s: does not build: %s", f.file, said)
		case !failed:
			t.Errorf("%s: alive after %s: %s %s: %s", f.file, took, k.folder, k.run, said)
		case k.says != nil && !k.says.MatchString(said):
			t.Errorf("%s: %s fails for another reason: %s", f.file, k.name, said)
		default:
			t.Logf("%s: killed by %s %s in %s", f.file, k.mode, k.name, took)
		}
	}
}

// overlay writes the changed file, and the -overlay file that makes the go tool read it in place of the original. It
// returns the path of the -overlay file.
func (f fault) overlay(t *testing.T) string {
	t.Helper()
	content, err := f.planted()
	if err != nil {
		t.Fatal(err)
	}
	path, err := filepath.Abs(filepath.Join(root, f.file))
	if err != nil {
		t.Fatal(err)
	}
	mutant := filepath.Join(t.TempDir(), filepath.Base(f.file))
	list, err := json.Marshal(map[string]map[string]string{"Replace": {path: mutant}})
	if err != nil {
		t.Fatal(err)
	}
	overlay := mutant + ".json"
	for name, b := range map[string][]byte{mutant: content, overlay: list} {
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return overlay
}

// noTests matches the output of go test for a pattern that selects no test.
var noTests = regexp.MustCompile(`\[no tests to run\]`)

// fails runs the killer and reports whether it fails. The test runs in its short form, because only a fault that the
// default tier finds counts as found.
func (k killer) fails(t *testing.T, overlay string) (said string, failed bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	args := []string{
		"test", "-vet=off", "-count=1", "-timeout=3m", "-overlay", overlay, "-run", k.run, "oriel/" + k.folder,
	}
	cmd := exec.CommandContext(ctx, "go", append(args, k.args...)...)
	cmd.Dir = root
	cmd.Env = append(cmd.Environ(), "TEST_LONG=")
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("%s %s: %v", k.folder, k.run, ctx.Err())
	}
	if noTests.Match(out) {
		return string(out), false
	}
	return string(out), err != nil
}
