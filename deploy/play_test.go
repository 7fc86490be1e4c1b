//go:build promtool

package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPythonReaderReturnsActionsToCarryOut checks deploy/python/oriel/decisions.py, which the text about feedback loops
// names. The reader must return an action only for decisions that answer a context. The test reads decisions that
// machines have made.
func TestPythonReaderReturnsActionsToCarryOut(t *testing.T) {
	const script = `
import json, sys
sys.path.insert(0, "../deploy/python/oriel")
from decisions import to_play
for name in ("action", "reward"):
    action = json.load(open("examples/decision.linucb-" + name + ".json"))
    print(action["answers"], to_play(action) == action["decision"][0], to_play(action) is None)
print(to_play({"decision": [-1], "answers": "context"}), to_play({"decision": [2], "answers": "nothing"}))
`
	cmd := exec.Command("python3", "-B", "-c", script)
	cmd.Dir = "../schemas"
	out, err := cmd.CombinedOutput()
	const want = "context True False\nreward False True\nNone None\n"
	if err != nil || strings.ReplaceAll(string(out), "\r", "") != want {
		t.Errorf("%v: %s, want\n%s", err, out, want)
	}
}

// TestPythonReaderReadsEveryEncoding checks that, for each test vector, the reader returns what json.loads returns for
// the decision in JSON.
func TestPythonReaderReadsEveryEncoding(t *testing.T) {
	const script = `
import json, sys
sys.path.insert(0, "../deploy/python/oriel")
from decisions import read
seen = 0
for line in open("testdata/encodings.txt"):
    encoding, value = line.rstrip("\n").split(" ", 1)
    if encoding == "json":
        decision, value = json.loads(value), value.encode()
    else:
        value = bytes.fromhex(value)
    assert read(value) == decision and list(read(value)) == list(decision), line
    seen += 1
for value in (b"", b" {}", b"\xc3\x01\x00\x00", b"\x01\x02"):
    try:
        read(value)
    except ValueError:
        seen += 100
print(seen)
`
	cmd := exec.Command("python3", "-B", "-c", script)
	cmd.Dir = "../schemas"
	if out, err := cmd.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "429" {
		t.Errorf("%v: %s, want 429", err, out)
	}
}

// TestExamplesReportAMissingNamesFile checks that a call without names.json, or with a file without names, ends with
// one line on how to make the file, and without a Python traceback.
func TestExamplesReportAMissingNamesFile(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"empty": "", "text": "no JSON\n", "list": "[1]\n", "other": "{}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(want string, args ...string) {
		t.Helper()
		cmd := exec.Command("python3", append([]string{"-B"}, args...)...)
		cmd.Dir, cmd.Stdin = "examples", strings.NewReader("")
		out, err := cmd.CombinedOutput()
		said := strings.TrimSuffix(string(out), "\n")
		if err == nil || !strings.Contains(said, want) || strings.Contains(said, "\n") {
			t.Errorf("%v: %v, %s; want one line with %q", args, err, said, want)
		}
	}
	const make = "names.json is missing or holds no descriptor; make it by `oriel tail"
	for _, script := range []string{"numbers.py", "totals.py", "windows.py"} {
		run(make, script)
		for _, name := range []string{"gone", "empty", "text", "list", "other"} {
			run(make, script, filepath.Join(dir, name), "8")
		}
	}
	good := filepath.Join(dir, "good")
	if err := os.WriteFile(good, []byte(`{"views":[],"emit_every":1}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run("STEPS is not a number of steps", "windows.py", good)
	run("STEPS is not a number of steps", "windows.py", good, "many")
}
