package envfile

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestEnvFilesUnderstandQuotes checks that quotes are read as a shell reads them. A text that a shell would read
// differently must be refused, with the number of its line.
func TestEnvFilesUnderstandQuotes(t *testing.T) {
	for value, want := range map[string]string{
		``: ``, `plain`: `plain`, `a|y $x \n`: `a|y $x \n`, `late, on time`: `late, on time`,
		`'a=x|y'`: `a=x|y`, `"a b"`: `a b`, `'a'"b"c`: `abc`, `''`: ``, `""`: ``,
		`'$x \n "'`: `$x \n "`, `"\$x \n \" \\ ' \a"`: `$x \n " \ ' \a`, `'it'\''s'`: `it's`, `a\ 'b'`: `a b`,
		`'a' # b`: `a`, `"a"	`: `a`, `"#"'#'`: `##`,
	} {
		if got, err := Unquote(strings.TrimSpace(value)); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", value, got, err, want)
		}
		if len(want) > 0 {
			if got, err := Unquote(Quote(want)); err != nil || got != want {
				t.Errorf("%s: quoted and back %q, %v", want, got, err)
			}
		}
		out, err := exec.Command("sh", "-c", "A="+value+"\nprintf %s \"$A\"").CombinedOutput()
		if shells := strings.ContainsAny(value, `'"`); shells && (err != nil || string(out) != want) {
			t.Errorf("%s: a shell reads %q, %v", value, out, err)
		}
	}
	for value, want := range map[string]string{
		`'a`: "a ' has no end", `"a`: `a " has no end`, `"a\"`: `a " has no end`, `'a' b`: "text follows a space",
		`"$HOME"`: "$ within", "\"`x`\"": "` within", `'a'$x`: "$ outside", `'a'|b`: "| outside", `'a';b`: "; outside",
		`'a'\`: `a \ ends the line`,
	} {
		file := filepath.Join(t.TempDir(), "env")
		if err := os.WriteFile(file, []byte("# first\nORIEL_CELLS="+value+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := Read(file); err == nil || !strings.Contains(err.Error(), "env line 2: ORIEL_CELLS: "+want) {
			t.Errorf("%s: %v, want %q", value, err, want)
		}
	}
}
