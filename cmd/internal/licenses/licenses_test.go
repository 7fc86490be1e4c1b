package licenses

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write NOTICE")

// platforms lists the platforms for which .ci/release builds.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/arm64", "windows/amd64"}

// named matches the names of the files of a module that must be passed on with a binary.
var named = regexp.MustCompile(`(?i)^((uplot\.)?licen[cs]e|copying|notice|patents)`)

// module is a module that a binary links.
type module struct{ path, version, folder string }

// linked returns the modules that the binary of any platform links, sorted.
func linked(t *testing.T) (all []module) {
	t.Helper()
	for _, platform := range platforms {
		goos, goarch, _ := strings.Cut(platform, "/")
		list := exec.Command("go", "list", "-deps",
			"-f", `{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}`, "oriel/cmd/oriel")
		list.Env = append(list.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
		out, err := list.Output()
		if err != nil {
			t.Fatalf("%s: %v", platform, err)
		}
		for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
			if f := strings.SplitN(lines.Text(), " ", 3); len(f) == 3 {
				all = append(all, module{f[0], f[1], f[2]})
			}
		}
	}
	slices.SortFunc(all, func(a, b module) int { return strings.Compare(a.path, b.path) })
	return slices.Compact(all)
}

// texts returns the files of a folder that must be passed on, in the order of their names.
func texts(t *testing.T, folder string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() || !named.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")))
	}
	return all
}

// notice returns the text of NOTICE, in which each licence is printed once, below the names of all modules that have
// it.
func notice(t *testing.T) string {
	t.Helper()
	owners := map[string][]string{}
	var order []string
	add := func(owner, folder string) {
		found := texts(t, folder)
		if len(found) == 0 {
			t.Errorf("%s: no licence in its folder", owner)
		}
		for _, text := range found {
			if owners[text] == nil {
				order = append(order, text)
			}
			owners[text] = append(owners[text], owner)
		}
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	add("Go's standard library", strings.TrimSpace(string(root)))
	for _, m := range linked(t) {
		add(m.path+" "+m.version, m.folder)
	}
	add("uPlot", filepath.Join("..", "page", "assets"))
	var b strings.Builder
	b.WriteString("The oriel binary contains Oriel, under the Apache License 2.0, and the software named below.\n")
	for _, text := range order {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), strings.Join(owners[text], "\n"), text)
	}
	return b.String()
}

// TestNotice checks that NOTICE equals the generated text. With -rewrite it writes the file.
func TestNotice(t *testing.T) {
	want := notice(t)
	if *rewrite {
		if err := os.WriteFile("NOTICE", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if Notice != want {
		t.Fatal("NOTICE differs from the modules that are linked; run go test ./cmd/internal/licenses -rewrite")
	}
	for _, module := range []string{
		"Go's standard library", "github.com/segmentio/kafka-go ", "github.com/cockroachdb/pebble/v2 ",
	} {
		if !strings.Contains(want, "\n"+module) {
			t.Errorf("NOTICE does not name %s", module)
		}
	}
}
