package lint

import (
	"os"
	"strings"
	"testing"
)

// TestModuleImports runs the import rules on every build, since files and their imports differ between builds.
func TestModuleImports(t *testing.T) {
	root := moduleRoot(t)
	var found []Finding
	for _, build := range Builds {
		packages, err := List(root, build, "./...")
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, CheckImports(packages)...)
	}
	report(t, found)
}

func TestModuleCalls(t *testing.T) {
	packages, err := List(moduleRoot(t), Builds[0], "./...")
	if err != nil {
		t.Fatal(err)
	}
	found, err := CheckCalls(packages)
	if err != nil {
		t.Fatal(err)
	}
	report(t, found)
}

// TestModuleTiers: no claim loses its test in the first tier.
func TestModuleTiers(t *testing.T) {
	packages, err := List(moduleRoot(t), Builds[0], "./...")
	if err != nil {
		t.Fatal(err)
	}
	found, err := CheckTiers(packages)
	if err != nil {
		t.Fatal(err)
	}
	report(t, found)
}

func TestModuleArithmetic(t *testing.T) {
	root := moduleRoot(t)
	var found []Finding
	seen := make(map[string]bool)
	for _, build := range Builds {
		packages, err := List(root, build, "-deps", "./mechanisms/...", "./operators/...", "./schemas/...")
		if err != nil {
			t.Fatal(err)
		}
		typed, err := Check(packages, build)
		if err != nil {
			t.Errorf("GOARCH=%s, tags %q: %v", build.Arch, build.Tags, err)
		}
		for _, p := range typed {
			seen[p.Folder] = true
			found = append(found, CheckArithmetic(p)...)
		}
	}
	report(t, found)
	for _, dir := range decidesBytes {
		if !seen[dir] {
			t.Errorf("%s: in the table of packages that decide bytes, but not in the module", dir)
		}
	}
}

// TestModuleContents: code that decides ends and requests reads what is public of a record.
func TestModuleContents(t *testing.T) {
	build := Builds[0]
	var patterns []string
	for _, folder := range decidesEnds {
		patterns = append(patterns, "./"+folder)
	}
	packages, err := List(moduleRoot(t), build, append([]string{"-deps"}, patterns...)...)
	if err != nil {
		t.Fatal(err)
	}
	typed, err := Check(packages, build)
	if err != nil {
		t.Fatal(err)
	}
	if len(typed) != len(decidesEnds) {
		t.Errorf("%d packages are checked, want %d", len(typed), len(decidesEnds))
	}
	for _, p := range typed {
		report(t, CheckContents(p))
	}
}

// TestModuleTerms: scopes and units answer for themselves.
func TestModuleTerms(t *testing.T) {
	build := Builds[0]
	packages, err := List(moduleRoot(t), build, "-deps", "./...")
	if err != nil {
		t.Fatal(err)
	}
	typed, err := Check(packages, build)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range typed {
		report(t, CheckTerms(p))
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

func TestModuleLayout(t *testing.T) {
	root := moduleRoot(t)
	files, err := Tracked(root)
	if err != nil {
		t.Fatal(err)
	}
	found, err := CheckLayout(os.DirFS(root), files)
	if err != nil {
		t.Fatal(err)
	}
	report(t, found)
}

// TestExceptionsHaveReasons keeps the tables honest: every row says why, and every excused file exists.
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
	for _, row := range foreign {
		if row.reason == "" {
			t.Errorf("%s: no reason", row.path)
		}
	}
	for _, row := range direction {
		if row.reason == "" {
			t.Errorf("%s: no reason", row.folder)
		}
	}
}

func moduleRoot(t *testing.T) string {
	t.Helper()
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// report prints findings once each, though several builds may have them.
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
