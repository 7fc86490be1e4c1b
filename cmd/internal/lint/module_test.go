package lint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// Module is the import path of this module.
const Module = "oriel"

// Finding is one violation of a rule at one place.
type Finding struct {
	Place string // file:line, relative to the module if possible, or an import path
	Rule  string // the violated rule, and why it matters
}

func (f Finding) String() string { return f.Place + ": " + f.Rule }

// Package is the output of `go list -json` for a package. It has only the fields that the checks use, which List
// requests by name.
type Package struct {
	ImportPath     string
	Name           string
	Dir            string
	Standard       bool
	DepOnly        bool
	ForTest        string
	GoFiles        []string
	IgnoredGoFiles []string
	TestGoFiles    []string
	XTestGoFiles   []string
	Imports        []string
	TestImports    []string
	XTestImports   []string
}

// Build is a configuration of the go command. The files of a package can differ between builds.
type Build struct {
	Arch string // value of GOARCH
	Tags string
}

// Builds lists the configurations whose files decide bytes or are tested.
var Builds = []Build{{Arch: "amd64", Tags: "kafka,promtool"}, {Arch: "amd64", Tags: "purego"}, {Arch: "arm64"}}

// Root returns the module's root directory.
func Root() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("lint: go env GOMOD: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}

// fields returns the names of Package's fields. With all fields, the go command would take twice the time.
func fields() string {
	var names []string
	for f := range reflect.TypeFor[Package]().Fields() {
		names = append(names, f.Name)
	}
	return strings.Join(names, ",")
}

// List runs go list in root. It turns cgo off, because the checks read only Go files, and the release binary has no
// cgo.
func List(root string, b Build, args ...string) ([]Package, error) {
	cmd := exec.Command("go", append([]string{"list", "-e", "-json=" + fields(), "-tags", b.Tags}, args...)...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+b.Arch)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("lint: go list: %w: %s", err, stderr.String())
	}
	var packages []Package
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p Package
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("lint: go list: %w", err)
		}
		packages = append(packages, p)
	}
}

// Exports returns the files with the export data of the packages outside this module that the listed packages import,
// as `go build` has compiled them on this computer. Their declarations are the same in every build.
func Exports(root string, packages []Package) (map[string]string, error) {
	var imported []string
	for _, p := range packages {
		imported = append(imported, slices.DeleteFunc(slices.Clone(p.Imports), ours)...)
	}
	slices.Sort(imported)
	args := []string{"list", "-export", "-f", "{{.ImportPath}} {{.Export}}"}
	cmd := exec.Command("go", append(args, slices.Compact(imported)...)...)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("lint: go list -export: %w", err)
	}
	files := make(map[string]string)
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[path] = file
	}
	return files, nil
}

// folder returns the package's folder in the module, for example "" for the root, and "mechanisms/noise" for
// oriel/mechanisms/noise.
func folder(importPath string) string {
	return strings.TrimPrefix(strings.TrimPrefix(importPath, Module), "/")
}

// ours reports whether an import path belongs to this module.
func ours(importPath string) bool { return within(importPath, Module) }

// within reports whether path is dir or a path below dir. It serves import paths and folders alike.
func within(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

// withinAny reports whether path is within one of dirs.
func withinAny(path string, dirs []string) bool {
	for _, dir := range dirs {
		if within(path, dir) {
			return true
		}
	}
	return false
}
