package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/repotest"
	"oriel/cmd/internal/servicetest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/schemas/decision"
)

// extended is oriel with one more operator. In the short form it is this test binary as a child process, which adds the
// operator of testdata/toy to the table of operators (see TestMain). In the long form it is built from a copy of this
// module that differs only in a new folder under operators, a row in cmd/internal/registry and an example of settings;
// the tests of the copy run too.
type extended struct {
	t      *testing.T
	dir    string // folder of the copy; empty in the short form
	binary string
	env    []string
}

// rows are the changes that a new operator needs outside its folder.
var rows = []struct{ file, old, new string }{
	{
		"cmd/internal/registry/registry.go",
		"\t\"oriel/operators/coco\"\n", "\t\"oriel/operators/coco\"\n\t\"oriel/operators/toy\"\n",
	},
	{"cmd/internal/registry/registry.go", "\tcoco.Definition,\n", "\tcoco.Definition,\n\ttoy.Definition,\n"},
}

func grow(t *testing.T) *extended {
	t.Helper()
	if tiertest.Runs(true, false) {
		return &extended{t: t, binary: os.Args[0]}
	}
	g := &extended{t: t, dir: t.TempDir(), binary: filepath.Join(t.TempDir(), "oriel")}
	g.copyModule(repotest.Path(""))
	toy, err := filepath.Glob("testdata/toy/*.go")
	if err != nil || len(toy) == 0 {
		t.Fatalf("no toy: %v", err)
	}
	for _, file := range toy {
		g.copy(file, filepath.Join("operators/toy", filepath.Base(file)))
	}
	g.copy("testdata/toy/toy.env", "deploy/examples/toy.env")
	for _, row := range rows {
		if text := g.read(row.file); strings.Count(text, row.old) != 1 {
			t.Fatalf("%s: no place for a row", row.file)
		} else {
			g.write(row.file, strings.Replace(text, row.old, row.new, 1))
		}
	}
	g.run("go", servicetest.BuildArgs("./cmd/oriel", g.binary)...)
	return g
}

// copyModule copies the files that git tracks or would track.
func (g *extended) copyModule(root string) {
	g.t.Helper()
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		g.t.Fatal(err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		g.copy(filepath.Join(root, name), name)
	}
	g.run("git", "init", "-q") // lint examines the files that git would track
}

func (g *extended) copy(from, to string) {
	g.t.Helper()
	content, err := os.ReadFile(from)
	if os.IsNotExist(err) {
		return // the file is tracked, but deleted in the working tree
	}
	if err != nil {
		g.t.Fatal(err)
	}
	g.write(to, string(content))
}

// write writes a file of the copy.
func (g *extended) write(name, content string) {
	g.t.Helper()
	name = filepath.Join(g.dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		g.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		g.t.Fatal(err)
	}
}

// read returns the content of a file of the copy.
func (g *extended) read(name string) string {
	g.t.Helper()
	content, err := os.ReadFile(filepath.Join(g.dir, name))
	if err != nil {
		g.t.Fatal(err)
	}
	return string(content)
}

// run runs a program, and returns its standard output.
func (g *extended) run(name string, args ...string) string {
	g.t.Helper()
	out, problems := g.try(name, args...)
	if problems != "" {
		g.t.Fatalf("%s %s: %s\n%s", filepath.Base(name), strings.Join(args, " "), problems, out)
	}
	return out
}

// command returns a program with the settings as its environment.
func (g *extended) command(name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(g.t.Context(), name, args...)
	cmd.Dir = g.dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}, g.env...)
	if g.dir == "" {
		cmd.Env = append(cmd.Env, "TEST_CHILD=1", "TEST_TOY=1")
	} else {
		cmd.Env = append(cmd.Env, goEnv()...)
	}
	if testing.CoverMode() != "" { // without a folder for coverage, the child would print a warning when it ends
		cmd.Env = append(cmd.Env, "GOCOVERDIR="+g.t.TempDir())
	}
	return cmd
}

// try runs a program that may fail, and returns its standard output and standard error.
func (g *extended) try(name string, args ...string) (out, problems string) {
	cmd := g.command(name, args...)
	var standard, errors bytes.Buffer
	cmd.Stdout, cmd.Stderr = &standard, &errors
	if err := cmd.Run(); err != nil {
		return standard.String(), fmt.Sprintf("%v: %s", err, errors.String())
	}
	return standard.String(), ""
}

// goEnv returns the environment for the go command, with the caches and the CGO_ENABLED of this test's build. Another
// value of CGO_ENABLED would compile nearly all packages again.
func goEnv() []string {
	var env []string
	for _, line := range os.Environ() {
		ofGo := strings.HasPrefix(line, "GO") || strings.HasPrefix(line, "CGO_")
		if ofGo && !strings.HasPrefix(line, "GOCOVERDIR=") {
			env = append(env, line)
		}
	}
	return env
}

// toyEnv returns the settings of a deployment of the toy.
func toyEnv(more ...string) []string {
	return append([]string{
		"ORIEL_OPERATOR=toy", "ORIEL_TOY_ARMS=left,right,middle", "ORIEL_TOY_DIMENSION=3",
		"ORIEL_MECHANISM=tree-gaussian",
		"ORIEL_WINDOW=8", "ORIEL_EPSILON=20", "ORIEL_DELTA=1e-6",
	}, more...)
}

// TestANewOperatorIsAFolderARowAndAnExample adds an operator that uses every optional feature, and runs every command.
// In the long form it builds the module with the operator, regenerates the settings table, and runs the tests that
// examine every operator.
func TestANewOperatorIsAFolderARowAndAnExample(t *testing.T) {
	t.Parallel()
	g := grow(t)
	f := newFixture(t, 2, nil)
	g.env = toyEnv("ORIEL_STATE_DIR="+f.Env["ORIEL_STATE_DIR"], "ORIEL_TOY_LABEL=set")
	for _, name := range []string{
		"BROKERS", "NAME", "INPUT_TOPIC", "STREAM", "START", "ALLOW_SINGLE_REPLICA", "MASTER_KEY_FILE", "HTTP_ADDR",
		"COMMIT_INTERVAL",
	} {
		g.env = append(g.env, "ORIEL_"+name+"="+f.Env["ORIEL_"+name])
	}
	g.describes()
	g.promises()
	g.overpays()
	g.serves(f)
	if g.dir != "" {
		g.env = nil
		g.tests()
	}
}

// tests runs the tests of the copy that examine the toy.
func (g *extended) tests() {
	g.t.Helper()
	g.run("go", "test", "./cmd/internal/settings", "-run", "TestTheSettingsTable", "-rewrite")
	table, err := os.ReadFile(filepath.Join(g.dir, "deploy/SETTINGS.md"))
	if err != nil || !strings.Contains(string(table), "**ORIEL_OPERATOR=toy: an operator of a test**") ||
		!strings.Contains(string(table), "| `ORIEL_TOY_ARMS` | name,… | at least two words | required | what can be played |") {
		g.t.Errorf("the settings table lacks the toy: %v", err)
	}
	g.run("go", "test", "-count=1", "./operators/toy", "./cmd/internal/lint", "./cmd/internal/registry",
		"./cmd/internal/settings")
}

// describes runs the commands that need no machine.
func (g *extended) describes() {
	g.t.Helper()
	shown := g.run(g.binary, "config")
	for _, want := range []string{
		"\nORIEL_TOY_ARMS=left,right,middle\n", "\n# ORIEL_TOY_CLIP=1\n", "# ORIEL_OPERATOR=toy: an operator of a test\n",
	} {
		if !strings.Contains(shown, want) || strings.Contains(shown, "ORIEL_LOSS") {
			g.t.Errorf("config lacks %q:\n%s", want, shown)
		}
	}
	if help := g.run(g.binary, "run", "--help"); !strings.Contains(help, "ORIEL_TOY_TIMEOUT") ||
		!strings.Contains(help, "coco, toy") {
		g.t.Error("the help of run does not know the toy")
	}
	whole := g.env
	g.env = append(slices.Clone(whole), "ORIEL_TOY_ARMS=left", "ORIEL_SET=box")
	_, problems := g.try(g.binary, "config")
	for _, want := range []string{
		"ORIEL_TOY_ARMS: 1 arms: not at least two", "ORIEL_SET: not a setting of ORIEL_OPERATOR=toy, but of coco",
	} {
		if !strings.Contains(problems, want) {
			g.t.Errorf("config does not refuse: %q in %s", want, problems)
		}
	}
	g.env = whole
	var events, decisions struct{ Properties map[string]any }
	for what, schema := range map[string]any{"events": &events, "decisions": &decisions} {
		if err := json.Unmarshal([]byte(g.run(g.binary, "schema", what)), schema); err != nil {
			g.t.Error(err)
		}
	}
	if events.Properties["context"] == nil || events.Properties["reward"] == nil || decisions.Properties["play"] == nil {
		g.t.Errorf("schemas: events %v, decisions %v", events.Properties, decisions.Properties)
	}
}

// promises runs the commands that need a machine and no broker.
func (g *extended) promises() {
	g.t.Helper()
	var report struct {
		Setting struct{ Mechanism string }
	}
	err := json.Unmarshal([]byte(g.run(g.binary, "plan", "--json")), &report)
	if err != nil || report.Setting.Mechanism != "tree-gaussian" {
		g.t.Errorf("plan: %v, %+v", err, report)
	}
	shown := g.run(g.binary, "plan")
	for _, want := range []string{"Decisions hold draws of the stream's own, whose scores are of releases"} {
		if !strings.Contains(shown, want) {
			g.t.Errorf("plan lacks %q:\n%s", want, shown)
		}
	}
	runs := tiertest.Runs("300", "2500")
	whole := g.run(g.binary, "audit", "--runs", runs, "--seed", servicetest.Seed, "--position", "1")
	if !strings.HasSuffix(whole, "\nNot refuted.\n") || strings.Contains(whole, "Not tested") ||
		!strings.Contains(whole, "the same releases and draws") {
		g.t.Errorf("audit: %s", whole)
	}
	_, problems := g.try(g.binary, "audit", "--runs", "2", "--component", "1")
	if !strings.Contains(problems, "component 1 of a contribution that has 1") {
		g.t.Errorf("audit of a part that is not there: %s", problems)
	}
}

// overpays makes the toy add a constant instead of rewards, beside short contexts. An exchange of an event then moves
// the sums little, while the clip covers twice its length. `oriel plan` must warn about the excess, and must not warn
// before the change.
func (g *extended) overpays() {
	g.t.Helper()
	const warning = "warning: ORIEL_OPERATOR=toy pays for more than an exchange of one event can move. " +
		"The noise of its contributions is for a sensitivity of 2, and the largest move found is 1."
	if problems := g.warnings(); problems != "" {
		g.t.Errorf("plan of the toy: %s", problems)
	}
	problems := g.warnings("ORIEL_TOY_CONSTANT=1")
	if !strings.HasPrefix(problems, warning) || strings.Count(problems, "\n") != 1 {
		g.t.Errorf("plan of a toy that overpays: %s", problems)
	}
}

// warnings returns the standard error of `oriel plan`, with a window that by itself causes no warning.
func (g *extended) warnings(more ...string) string {
	g.t.Helper()
	cmd := g.command(g.binary, "plan")
	cmd.Env = append(append(cmd.Env, "ORIEL_WINDOW=16"), more...)
	var problems bytes.Buffer
	cmd.Stderr = &problems
	if err := cmd.Run(); err != nil {
		g.t.Fatalf("plan: %v: %s", err, problems.String())
	}
	return problems.String()
}

// sends sends feedback with its keys to both partitions, malformed values included.
func (g *extended) sends(f *fixture, from, to int) {
	g.t.Helper()
	for step := from; step < to; step++ {
		key, value := fmt.Sprintf("play-%d", 2*step), fmt.Sprintf(`{"context":[0.1,-0.2,%d],"reward":0.5}`, step%3)
		switch step % 10 {
		case 3:
			value = "no event"
		case 5:
			key = "play-of-nobody"
		case 7:
			key = fmt.Sprintf("play-%d", 2*step-2) // repeats a key whose feedback was already sent
		case 9:
			value = `{"context":{"indices":[2],"values":[0.7]},"reward":-1}`
		}
		for p := range int32(2) {
			f.Send(p, servicetest.OfUser(key, servicetest.Value(value)))
		}
	}
}

// serves runs the service, kills it in the middle, and checks the published decisions.
func (g *extended) serves(f *fixture) {
	g.t.Helper()
	const half, whole = 60, 120
	start := func() *servicetest.Process { return f.Launch(g.command(g.binary, "run")) }
	g.run(g.binary, "topics")
	d := f.Read(f.Topic("descriptor"), 0, false)
	if len(d) != 1 || !bytes.Contains(d[0].Value, []byte(`"arms":["left","right","middle"]`)) {
		g.t.Errorf("descriptor: %d records, %+v", len(d), d)
	}
	g.sends(f, 0, half)
	first := start()
	f.AwaitTaken(time.Minute, half/2, half/2)
	_ = first.Cmd.Process.Kill() // dies at an arbitrary point, as by kill -9
	<-first.Done
	// the second process ends the transaction that the first one left open; the checkpoint waits for this
	second := start()
	file := filepath.Join(g.t.TempDir(), "saved")
	g.run(g.binary, "replay", "--save", file, "--partition", "0")
	g.sends(f, half, whole)
	f.AwaitTaken(time.Minute, whole, whole)
	second.Terminate()
	for p := range int32(2) {
		g.checkDecisions(f, "decisions", p, whole, 1)
		g.checkDecisions(f, "plays", p, whole+1, 0)
	}
	said := g.run(g.binary, "replay", "--check", "--from", file, "--partition", "0")
	if !strings.Contains(said, "all equal") {
		g.t.Errorf("replay --check: %s", said)
	}
	shown := g.run(
		g.binary, "tail", "--topic", f.Topic("plays"), "--partition", "0", "--from-beginning", "--follow=false",
	)
	if !strings.Contains(shown, `play="play-0"`) || strings.Count(shown, "\n") != whole+2 {
		g.t.Errorf("tail: %d lines\n%s", strings.Count(shown, "\n"), servicetest.EndOf(shown))
	}
}

// checkDecisions checks that a topic has every second index, in order. Sums have odd indices; actions have even ones,
// starting with the action before the first record.
func (g *extended) checkDecisions(f *fixture, topic string, partition int32, want, first int) {
	g.t.Helper()
	decisions := f.Read(f.Topic(topic), partition, false)
	if len(decisions) != want {
		g.t.Fatalf("%d decisions, want %d", len(decisions), want)
	}
	for i, r := range decisions {
		d, err := decision.Parse(r.Value)
		index, play, own := 2*i+first, first == 0, len(d.Extras)
		if d.Time() != decision.NoTime {
			own--
		}
		if err != nil || d.Index != uint64(index) || d.Step != uint64(index+1)/2 ||
			(own == 3) != play || len(d.Point) != 3+first {
			g.t.Fatalf("decision %d: %v: %s", index, err, r.Value)
		}
		if play && d.Extras[1].JSON != fmt.Sprintf("%q", fmt.Sprintf("play-%d", index)) {
			g.t.Errorf("decision %d: %s", index, r.Value)
		}
	}
}
