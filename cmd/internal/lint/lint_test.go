package lint

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	_ "oriel/mechanisms/mechtest/tiertest" // sets up the test process
)

// TestModuleImports applies the import rules to every build, because files and their imports differ between builds.
func TestModuleImports(t *testing.T) {
	var found []Finding
	for _, build := range Builds {
		found = append(found, CheckImports(listed(t, build, "./..."))...)
		found = append(found, CheckReach(listed(t, build, "./..."))...)
	}
	report(t, found)
}

func TestModuleGoroutines(t *testing.T) {
	for _, p := range typedModule(t) {
		report(t, CheckGoroutines(p))
	}
}

// TestModuleTiers checks that each test has a form in the default tier.
func TestModuleTiers(t *testing.T) {
	found, err := CheckTiers(listed(t, Builds[0], "./..."))
	if err != nil {
		t.Fatal(err)
	}
	report(t, found)
}

// computes reports whether a package is below a folder whose numbers become decisions.
func computes(p Package) bool {
	return slices.ContainsFunc([]string{"mechanisms", "operators", "schemas"}, func(dir string) bool {
		return within(folder(p.ImportPath), dir)
	})
}

// TestModuleArithmetic checks each package once, and again in each build in which it has other files.
func TestModuleArithmetic(t *testing.T) {
	var found []Finding
	seen := make(map[string]bool)
	for _, p := range typedModule(t) {
		seen[p.Folder] = true
		found = append(found, CheckArithmetic(p)...)
	}
	before, again := make(map[string][]string), 0
	for i, build := range Builds {
		packages := slices.Clone(listed(t, build, "./..."))
		for k, p := range packages {
			files := strings.Join(p.GoFiles, " ")
			packages[k].DepOnly = !computes(p) || i == 0 || slices.Contains(before[p.ImportPath], files)
			before[p.ImportPath] = append(before[p.ImportPath], files)
		}
		if i == 0 {
			continue
		}
		typed, err := Check(packages, build, exports(t))
		if err != nil {
			t.Errorf("GOARCH=%s, tags %q: %v", build.Arch, build.Tags, err)
		}
		for _, p := range typed {
			again++
			found = append(found, CheckArithmetic(p)...)
		}
	}
	report(t, found)
	if again == 0 {
		t.Error("no package has other files in another build")
	}
	for _, dir := range decidesBytes {
		if !seen[dir] {
			t.Errorf("%s: in the table of packages that decide bytes, but not in the module", dir)
		}
	}
}

// TestModuleContents checks that code that decides ends and requests reads only the public field of a record.
func TestModuleContents(t *testing.T) {
	checked := 0
	for _, p := range typedModule(t) {
		if slices.Contains(decidesEnds, p.Folder) {
			checked++
			report(t, CheckContents(p))
		}
	}
	if checked != len(decidesEnds) {
		t.Errorf("%d packages are checked, want %d", checked, len(decidesEnds))
	}
}

// TestModuleTerms checks that only the package of scopes and units distinguishes between kinds of scopes and units.
func TestModuleTerms(t *testing.T) {
	for _, p := range typedModule(t) {
		report(t, CheckTerms(p))
	}
}

// TestModuleMembers checks that operators reach members of decisions by their handles only.
func TestModuleMembers(t *testing.T) {
	checked := 0
	for _, p := range typedModule(t) {
		if algorithm(p.Folder) != "" {
			checked++
		}
		report(t, CheckMembers(p))
	}
	if checked < 8 {
		t.Errorf("%d packages of operators", checked)
	}
}

func TestModuleTree(t *testing.T) {
	root := moduleRoot(t)
	files, err := Tracked(root)
	if err != nil {
		t.Fatal(err)
	}
	found, err := CheckTree(os.DirFS(root), files)
	if err != nil {
		t.Fatal(err)
	}
	report(t, found)
}

func TestModuleEvidence(t *testing.T) {
	root := moduleRoot(t)
	files, err := Tracked(root)
	if err != nil {
		t.Fatal(err)
	}
	found, err := CheckEvidence(os.DirFS(root), files)
	if err != nil {
		t.Fatal(err)
	}
	report(t, found)
}

var rewrite = flag.Bool("rewrite", false, "write the tables of "+layoutFile)

func TestModuleLayout(t *testing.T) {
	root := moduleRoot(t)
	files, err := Tracked(root)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := Layout(os.DirFS(root), files)
	if err != nil {
		t.Fatal(err)
	}
	page := filepath.Join(root, layoutFile)
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	written, old, found := strings.Cut(string(content), layoutStart)
	switch {
	case !found:
		t.Errorf("%s lacks the line %q", layoutFile, layoutStart)
	case *rewrite:
		if err := os.WriteFile(page, []byte(written+layoutStart+tables), 0o644); err != nil {
			t.Fatal(err)
		}
	case old != tables:
		t.Errorf("%s: its tables are not those of the doc.go files: go test ./cmd/internal/lint -rewrite", layoutFile)
	}
}

// TestExceptionsHaveReasons checks the tables of exceptions: every row must have a reason, and every file that a row
// names must exist.
func TestExceptionsHaveReasons(t *testing.T) {
	root := moduleRoot(t)
	for _, row := range frozen {
		if strings.TrimSpace(row.reason) == "" {
			t.Errorf("%s: no reason", row.file)
		}
		if _, err := os.Stat(root + "/" + row.file); err != nil {
			t.Errorf("%s: excused, but not there", row.file)
		}
	}
	for _, row := range readsContents {
		if row.reason == "" {
			t.Errorf("%s: no reason", row.file)
		}
		if _, err := os.Stat(root + "/" + row.file); err != nil {
			t.Errorf("%s: excused, but not there", row.file)
		}
	}
	for _, row := range unreached {
		if row.reason == "" {
			t.Errorf("%s: no reason", row.folder)
		}
		if _, err := os.Stat(root + "/" + row.folder); err != nil {
			t.Errorf("%s: must not reach %s, but is not there", row.folder, row.path)
		}
	}
	for _, row := range direction {
		if row.reason == "" {
			t.Errorf("%s: no reason", row.folder)
		}
	}
}

// lists caches the results of listed; tests only read it.
var lists = map[string][]Package{}

// listed returns the packages of a build.
func listed(t *testing.T, build Build, args ...string) []Package {
	t.Helper()
	key := fmt.Sprint(build, args)
	if lists[key] == nil {
		packages, err := List(moduleRoot(t), build, args...)
		if err != nil {
			t.Fatal(err)
		}
		lists[key] = packages
	}
	return lists[key]
}

// typed caches the result of typedModule.
var typed []Typed

// typedModule returns all packages of the module, type-checked, in the first build.
func typedModule(t *testing.T) []Typed {
	t.Helper()
	if typed == nil {
		var err error
		if typed, err = Check(listed(t, Builds[0], "./..."), Builds[0], exports(t)); err != nil {
			t.Error(err)
		}
	}
	return typed
}

// exported caches the result of exports.
var exported map[string]string

// exports returns the files of export data of all packages outside this module that the module imports.
func exports(t *testing.T) map[string]string {
	t.Helper()
	if exported == nil {
		var err error
		if exported, err = Exports(moduleRoot(t), listed(t, Builds[0], "./...")); err != nil {
			t.Fatal(err)
		}
	}
	return exported
}

var root = sync.OnceValues(Root)

func moduleRoot(t *testing.T) string {
	t.Helper()
	root, err := root()
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// report reports each finding once, although several builds may have it.
func report(t *testing.T, found []Finding) {
	t.Helper()
	seen := make(map[Finding]bool)
	for _, f := range found {
		if !seen[f] {
			t.Error(f)
		}
		seen[f] = true
	}
}
