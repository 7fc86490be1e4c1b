package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDiscoveriesOfFiles checks the answers to four questions: two metrics, two arms. At any time the command uses
// p-values over all looks; two of them are small enough among four questions. At a fixed look it uses the e-values of
// the look. Arms whose observed shares contradict their stated probabilities must give no answer, and must not make
// another answer easier.
func TestDiscoveriesOfFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, lines ...string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(strings.Join(lines, "")), 0o600); err != nil {
			t.Fatal(err)
		}
		return strings.TrimSuffix(name, ".json") + "=" + file
	}
	line := func(look int, e, p string, stop int) string {
		return fmt.Sprintf(`{"stream":"0","incarnation":"ab0100000000000000000000000000ff","index":%d,"step":%[1]d,"decision":[0],`+
			`"mechanism":"blt","window":0,"batch":100,"epsilon":1,"delta":0,"adjacency":"replace","unit":"event","effect":[0.1,-0.2],`+
			`"effect_low":[0,-1],"effect_high":[1,0],"effect_e":[%s],"effect_p":[%s],"stop_allowed":%d,"looks":%[1]d}`+"\n", look, e, p, stop)
	}
	first := write("a.json", line(20, "90,41", "0.01,0.02", 1), line(21, "1,2", "0.005,0.019", 1))
	second := write("b.json", line(20, "3,1", "0.3,1", 1), line(21, "600,1", "0.0016,1", 1))
	unfit := write("c.json", line(20, "1e9,1", "1e-9,1", 0))
	near := write("near.json", line(20, "45,1", "0.02,1", 1))
	run := func(args ...string) (string, error) {
		var out bytes.Buffer
		cmd := root()
		cmd.SetOut(&out)
		cmd.SetErr(&out)
		cmd.SetArgs(append([]string{"discoveries"}, args...))
		err := cmd.ExecuteContext(t.Context())
		return out.String(), err
	}
	for _, c := range []struct {
		args  []string
		found []string // expected answer to each question
		last  string
	}{
		{[]string{first, second}, []string{"effect", "shown", "effect", "shown"}, "on average at most 5 %"},
		{[]string{"--look", "20", first, second}, []string{"effect", "effect", "shown", "shown"}, "e-values of look 20"},
		{[]string{"--rate", "0.2", first, second}, []string{"effect", "effect", "effect", "shown"}, "at most 20 %"},
		{[]string{"--look", "20", unfit, near}, []string{"allowed", "allowed", "shown", "shown"}, "0 of 4"},
	} {
		out, err := run(c.args...)
		lines := strings.Split(strings.TrimSpace(out), "\n")
		if err != nil || len(lines) != len(c.found)+2 || !strings.Contains(lines[len(lines)-1], c.last) {
			t.Errorf("%v: %v\n%s", c.args, err, out)
			continue
		}
		for i, want := range c.found {
			if words := strings.Fields(lines[i+1]); words[len(words)-1] != want {
				t.Errorf("%v: %s, want %s", c.args, lines[i+1], want)
			}
		}
	}
	other := write("d.json", strings.Replace(line(20, "1,1", "1,1", 1), `"effect_e"`, `"other"`, 1))
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "requires at least 1"},
		{[]string{"a.json"}, "not METRIC=FILE"},
		{[]string{"--rate", "1", first}, "--rate"},
		{[]string{"--look", "7", first}, "--look 7: stream 0"},
		{[]string{other}, "effect_e"},
		{[]string{write("e.json")}, "no decisions"},
	} {
		if out, err := run(c.args...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q\n%s", c.args, err, c.want, out)
		}
	}
}
