//go:build promtool

package deploy

import (
	"os/exec"
	"strings"
	"testing"
)

// TestPythonReaderTellsWhatToPlay: schemas/testdata/decisions.py, which the text for loops names, plays answers to
// contexts alone. It reads decisions that machines have made.
func TestPythonReaderTellsWhatToPlay(t *testing.T) {
	const script = `
import json, sys
sys.path.insert(0, "testdata")
from decisions import to_play
for name in ("action", "reward"):
    action = json.load(open("examples/decision.linucb-" + name + ".json"))
    print(action["answers"], to_play(action) == action["decision"][0], to_play(action) is None)
    del action["answers"]  # as an earlier deployment has it
    print(to_play(action) is None)
print(to_play({"decision": [-1], "answers": "context"}), to_play({"decision": [2], "answers": "nothing"}))
`
	cmd := exec.Command("python3", "-B", "-c", script)
	cmd.Dir = "../schemas"
	out, err := cmd.CombinedOutput()
	const want = "context True False\nFalse\nreward False True\nTrue\nNone None\n"
	if err != nil || strings.ReplaceAll(string(out), "\r", "") != want {
		t.Errorf("%v: %s, want\n%s", err, out, want)
	}
}
