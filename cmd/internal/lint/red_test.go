package lint

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// flags checks that a check reports exactly the lines marked "want" in a package of testdata. It returns the package.
func flags(t *testing.T, name string, check func(Typed) []Finding) Typed {
	t.Helper()
	build := Builds[0]
	packages := slices.Clone(listed(t, build, "./..."))
	for i := range packages {
		packages[i].DepOnly = true // only a package of testdata may import it
	}
	packages = append(packages, listed(t, build, "./cmd/internal/lint/testdata/"+name)...)
	typed, err := Check(packages, build, exports(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(typed) != 1 {
		t.Fatalf("%d packages of ours, want 1", len(typed))
	}
	var got []string
	for _, f := range check(typed[0]) {
		got = append(got, f.Place)
	}
	slices.Sort(got)
	if want := wanted(t, name); !slices.Equal(got, want) {
		t.Errorf("findings\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	return typed[0]
}

func TestArithmeticFlagsPlantedFaults(t *testing.T) {
	p := flags(t, "arithmetic", func(p Typed) []Finding { return arithmeticIn(p, p.Files[0]) })
	if found := CheckArithmetic(p); len(found) > 0 {
		t.Errorf("a package outside the table is checked: %v", found)
	}
}

func TestContentsFlagPlantedFaults(t *testing.T) {
	if found := CheckContents(flags(t, "contents", contentsIn)); len(found) > 0 {
		t.Errorf("a package outside the table is checked: %v", found)
	}
	for place, may := range map[[2]string]bool{
		{"pipeline/streams/walk.go", "step"}: true, {"pipeline/streams/walk.go", "Take"}: false,
		{"pipeline/streams/ahead.go", "decode"}: true, {"pipeline/streams/ahead.go", "Decode"}: false,
		{"pipeline/takeover/inspect.go", "anything"}: true,
		{"pipeline/compute.go", "step"}:              false, {"pipeline/kafka/fetch/reader.go", "take"}: false,
	} {
		if mayReadContents(place[0], place[1]) != may {
			t.Errorf("%s of %s may read contents: %t, want %t", place[1], place[0], !may, may)
		}
	}
}

func TestTermsFlagPlantedFaults(t *testing.T) {
	p := flags(t, "terms", CheckTerms)
	p.Folder = "mechanisms/protection" // may ask which scope and unit it has, but not which structure a mechanism has
	if found := CheckTerms(p); len(found) != 1 {
		t.Errorf("in the package of scopes and units: %v", found)
	}
}

func TestMembersFlagPlantedFaults(t *testing.T) {
	if found := CheckMembers(flags(t, "members", membersIn)); len(found) > 0 {
		t.Errorf("a package that is no operator is checked: %v", found)
	}
}

// wanted returns the lines marked "want" in a file of testdata.
func wanted(t *testing.T, name string) (want []string) {
	t.Helper()
	file := fmt.Sprintf("testdata/%s/%s.go", name, name)
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(source), "\n") {
		_, comment, _ := strings.Cut(line, "// want")
		if strings.Contains(line, "// want") {
			for range 1 + strings.Count(comment, "want") {
				want = append(want, fmt.Sprintf("cmd/internal/lint/%s:%d", file, i+1))
			}
		}
	}
	slices.Sort(want)
	return want
}

// TestImportsFlagPlantedFaults has one row for each rule: the importing folder, the import, and whether it is refused
// in code and in tests.
func TestImportsFlagPlantedFaults(t *testing.T) {
	for _, c := range []struct {
		from, imported string
		code, tests    bool // whether code outside tests, and tests, are refused
	}{
		{"cmd/oriel", "oriel/pipeline", false, true},
		{"cmd/oriel", "oriel/pipeline/pipetest", true, true},
		{"cmd/internal/service", "oriel/pipeline", false, false},
		{"cmd/internal/lint", "oriel/pipeline", true, false},
		{"pipeline", "oriel/cmd/oriel", true, true},
		{"pipeline", "oriel/operators/coco", true, false},
		{"cmd/oriel", "oriel/operators/coco", true, false},
		{"cmd/internal/registry", "oriel/operators/coco", false, false},
		{"cmd/internal/settings", "oriel/operators/coco", true, false},
		{"operators/optest", "oriel/operators/coco", true, false},
		{"operators/neighbours", "oriel/operators/coco", true, false},
		{"operators/coco", "oriel/operators/neighbours", true, false},
		{"cmd/internal/audit", "oriel/operators/neighbours", false, false},
		{"operators/unheard", "oriel/operators", false, false}, // a new operator
		{"pipeline/kafka", "oriel/operators", true, false},
		{"pipeline/kafka", "oriel/state", true, false},
		{"pipeline", "oriel/pipeline/pipetest", true, false},
		{"pipeline/pipetest", "oriel/operators/optest", false, false},
		{"operators", "oriel/mechanisms", false, false},
		{"operators/coco", "oriel/schemas/table", true, false},
		{"operators/coco", "oriel/operators", false, false},
		{"operators/coco", "oriel/operators/convex", false, false},
		{"operators/coco", "oriel/operators/unheard", true, false},
		{"operators/coco", "oriel/schemas/event", false, false},
		{"operators/coco", "oriel/pipeline", true, true},
		{"mechanisms", "oriel/mechanisms/windowtree", false, false},
		{"mechanisms/windowtree", "oriel/mechanisms/noise", false, false},
		{"mechanisms/windowtree", "oriel/mechanisms", true, false},
		{"mechanisms/blt", "oriel/mechanisms/windowtree", true, false},
		{"mechanisms/dp", "oriel/mechanisms/lattice", true, false},
		{"mechanisms", "oriel/operators", true, true},
		{"state", "oriel/schemas/event", true, true},
		{"schemas", "oriel/operators", true, true},
		{"unheard/of", "oriel/state", true, true},
	} {
		from := Module + "/" + c.from
		if got := len(CheckImports([]Package{{ImportPath: from, Imports: []string{c.imported}}})) > 0; got != c.code {
			t.Errorf("%s imports %s: refused %t, want %t", c.from, c.imported, got, c.code)
		}
		if got := len(CheckImports([]Package{{ImportPath: from, XTestImports: []string{c.imported}}})) > 0; got != c.tests {
			t.Errorf("tests of %s import %s: refused %t, want %t", c.from, c.imported, got, c.tests)
		}
	}
}

func TestReachFlagsPlantedFaults(t *testing.T) {
	packages := func(imported string) []Package {
		return []Package{
			{ImportPath: "oriel/cmd/oriel", Imports: []string{"fmt", "oriel/cmd/internal/page"}},
			{ImportPath: "oriel/cmd/internal/page", Imports: []string{"oriel/cmd/oriel", imported}},
			{ImportPath: "oriel/cmd/internal/figure", Imports: []string{"gonum.org/v1/plot/vg"}},
		}
	}
	for imported, want := range map[string]int{
		"oriel/cmd/internal/figure": 1, "gonum.org/v1/plot": 1, "gonum.org/v1/gonum/mat": 0, "oriel/cmd/internal/digits": 0,
	} {
		if found := CheckReach(packages(imported)); len(found) != want {
			t.Errorf("page imports %s: %v, want %d findings", imported, found, want)
		}
	}
}

func TestTiersFlagPlantedFaults(t *testing.T) {
	const source = `package p
func TestA(t *testing.T) {
	if testing.Short() {
		t.Skip()
	}
	if tiertest.Runs[bool](true, false) {
		t.Skipf("%d", 1)
	}
	tiertest.Slow(t, "TestB")
	tiertest.Slow(t, "TestA")
	if tiertest.Runs(1, 2) == 1 && os.Getenv("TEST_LONG") == "" {
		return
	}
}
`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p_test.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	var places []string
	for _, f := range tiersIn(fset, file, map[string]bool{"TestA": true}) {
		places = append(places, f.Place)
	}
	want := []string{"p_test.go:3:5", "p_test.go:6:2", "p_test.go:9:2", "p_test.go:11:33"}
	if !slices.Equal(places, want) {
		t.Errorf("found at %v, want %v", places, want)
	}
}

func TestGoroutinesFlagPlantedFaults(t *testing.T) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", "package p\n\nfunc f() { func() { go f() }() }\n", 0)
	if err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]int{
		"state": 1, "deploy/chart": 1, "pipeline/kafka": 0, "cmd/oriel": 0, "operators/optest": 0,
	} {
		found := CheckGoroutines(Typed{Folder: dir, Fset: fset, Files: []*ast.File{file}})
		if len(found) != want || want > 0 && found[0].Place != dir+"/p.go:3" {
			t.Errorf("in %s: %v, want %d findings", dir, found, want)
		}
	}
}

func TestTreeFlagsPlantedFaults(t *testing.T) {
	const clean = "// Package state keeps.\npackage state\n"
	for _, c := range []struct{ name, content, want string }{
		{"state/doc.go", clean, ""},
		{"util/doc.go", "// Package util has.\npackage util\n", "top level"},
		{"state/doc.go", "// Package state keeps.\n\npackage state\n", "must touch"},
		{"state/a.go", "package state\n", "no doc.go"},
		{"state/doc.go", clean + strings.Repeat("\n", maxLines), "split before"},
		{"state/doc.go", clean + "// TO" + "DO: later\n", "an issue"},
		{"state/doc.go", clean + "// FIX" + "ME\n", "an issue"},
		{"state/doc.go", clean + "// XX" + "X\n", "an issue"},
		{"deploy/run", "cd /wo" + "rk/main\n", "one machine"},
		{"deploy/run", "cd /tmp/" + "w/main\n", "one machine"},
		{"deploy/run", "cd /home" + "/me/main\n", "one machine"},
		{"deploy/run", "ls /ro" + "ot/go\n", "one machine"},
		{"deploy/run", "export GOPROXY=https://proxy.gol" + "ang.org\n", "registry"},
		{"deploy/run", "curl repo1.maven.apache" + ".org deb.deb" + "ian.org\n", "registry"},
		{"deploy/run", "curl pyp" + "i.org registry.npm" + "js.org\n", "registry"},
		{"README.md", "see shared/des" + "ign/a.md\n", "not in the repository"},
		{"README.md", "<<<<" + "<<< main\n", "merge"},
		{"README.md", ">>>>" + ">>> main\n", "merge"},
		{"README.md", "Oriel works for roots.\n", ""},
		{"state/DESIGN.md", strings.Repeat("word ", 25) + "\n", "125 columns"},
		{"state/DESIGN.md", "| " + strings.Repeat("cell ", 30) + "|\n", ""},
		{"state/DESIGN.md", "```\n" + strings.Repeat("code ", 30) + "\n```\n", ""},
		{"state/DESIGN.md", strings.Repeat("§", 120) + "\n", ""},
	} {
		found, err := CheckTree(fstest.MapFS{c.name: {Data: []byte(c.content)}}, []string{c.name})
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case c.want == "" && len(found) > 0:
			t.Errorf("%s %q: %v, want nothing", c.name, c.content, found)
		case c.want != "" && (len(found) != 1 || !strings.Contains(found[0].Rule, c.want)):
			t.Errorf("%s %.60q: %v, want one that says %q", c.name, c.content, found, c.want)
		}
	}
}

func TestEvidenceFlagsTestsThatAreGone(t *testing.T) {
	for text, want := range map[string]int{
		"shown by `TestSum`, `blt.FuzzSum`, `BenchmarkSum`": 0,
		"shown by `TestSums`":                               1,
		"`sum.TestAdd` and `TestSum`, `FuzzAdd`":            2,
		"`go test ./sum -run Sum`":                          0,
		"| `go test ./sum -run 'Su\\|Ad'` |":                1,
		"`go test -run 'Sum|Fuzz'`":                         0,
		"Tests and Testing, tested":                         0,
	} {
		tree := fstest.MapFS{
			"PROOF.md":    {Data: []byte("# Proof\n\n" + text + "\n")},
			"sum_test.go": {Data: []byte("func TestSum(t *testing.T) {}\nfunc FuzzSum(f *testing.F) {}\nfunc BenchmarkSum(b *testing.B) {}\n")},
		}
		found, err := CheckEvidence(tree, []string{"PROOF.md", "sum_test.go"})
		if err != nil {
			t.Fatal(err)
		}
		if len(found) != want || want > 0 && found[0].Place != "PROOF.md:3" {
			t.Errorf("%q: %v, want %d findings", text, found, want)
		}
	}
}

func TestLayoutTakesFirstSentences(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	tree := fstest.MapFS{
		"cmd/oriel/doc.go":          file("// Command oriel runs a|b.\n// It ends.\npackage main\n"),
		"state/doc.go":              file("// Package state keeps what\n// streams remember. Keys, too.\npackage state\n"),
		"state/a.go":                file("// Package state again.\npackage state\n"),
		"state/testdata/doc.go":     file("// Package testdata is data.\npackage testdata\n"),
		"operators/optest/doc.go":   file("// Package optest checks machines: all of them.\npackage optest\n"),
		"operators/unheard/doc.go":  file("// Package unheard is an operator.\npackage unheard\n"),
		"operators/coco/x/y/doc.go": file("// Package y is in an operator.\npackage y\n"),
	}
	files := []string{"state/deleted/doc.go"}
	for name := range tree {
		files = append(files, name)
	}
	got, err := Layout(tree, files)
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for line := range strings.Lines(got) {
		if strings.HasPrefix(line, "###") || strings.HasPrefix(line, "| `") {
			rows = append(rows, strings.TrimSpace(line))
		}
	}
	want := []string{
		"### cmd", "| `cmd/oriel` | runs a\\|b |", "### pipeline", "### operators", "| `operators/coco/x/y` | is in an operator |",
		"### mechanisms", "### state", "| `state` | keeps what streams remember |", "### schemas", "### deploy",
		"### test tools", "| `operators/optest` | checks machines: all of them |",
	}
	if !slices.Equal(rows, want) {
		t.Errorf("rows\n%s\nwant\n%s", strings.Join(rows, "\n"), strings.Join(want, "\n"))
	}
}

// TestTrackedSeesThisFile checks that the list of tracked files is not empty, because every rule of the tree would hold
// for an empty list.
func TestTrackedSeesThisFile(t *testing.T) {
	files, err := Tracked(moduleRoot(t))
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.ToSlash(filepath.Join("cmd", "internal", "lint", "red_test.go")); !slices.Contains(files, want) {
		t.Errorf("%d files, without %s", len(files), want)
	}
}
