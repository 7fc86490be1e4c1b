package killmatrix

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// TestFaultsBuild checks the types of each package with its fault. A fault that does not build proves nothing about the
// tests.
func TestFaultsBuild(t *testing.T) {
	t.Parallel()
	c := newChecker(t)
	for _, p := range read(t) {
		for _, f := range p.faults {
			content, err := f.planted()
			if err != nil {
				continue // TestFaultsStand reports it
			}
			if err := c.check(f.file, content); err != nil {
				t.Errorf("%s: %q does not build: %v", p.name, f.breaks, err)
			}
		}
	}
}

// checker checks the types of packages of this module, over the export data of the packages that they import.
type checker struct {
	files    map[string][]string // for each folder, the files that this platform builds
	importer types.Importer
	set      *token.FileSet
}

func newChecker(t *testing.T) checker {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-export", "-json=ImportPath,Dir,Export,GoFiles",
		"./...")
	cmd.Dir = root
	list, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	c := checker{files: map[string][]string{}, set: token.NewFileSet()}
	exports := map[string]string{}
	for decoder := json.NewDecoder(bytes.NewReader(list)); decoder.More(); {
		var p struct {
			ImportPath, Dir, Export string
			GoFiles                 []string
		}
		if err := decoder.Decode(&p); err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath], c.files[p.Dir] = p.Export, p.GoFiles
	}
	c.importer = importer.ForCompiler(c.set, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	return c
}

// check checks the package of a file with other content. It accepts a file that this platform does not build.
func (c checker) check(file string, content []byte) error {
	path, err := filepath.Abs(filepath.Join(root, file))
	if err != nil {
		return err
	}
	folder, names := filepath.Dir(path), c.files[filepath.Dir(path)]
	if !slices.Contains(names, filepath.Base(path)) {
		return nil
	}
	var parsed []*ast.File
	for _, name := range names {
		var source any
		if name == filepath.Base(path) {
			source = content
		}
		syntax, err := parser.ParseFile(c.set, filepath.Join(folder, name), source, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		parsed = append(parsed, syntax)
	}
	_, err = (&types.Config{Importer: c.importer}).Check(folder, c.set, parsed, nil)
	return err
}
