package lint

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
)

// Typed is a package of this module with its syntax and types, without tests.
type Typed struct {
	Folder string
	Fset   *token.FileSet
	Files  []*ast.File
	Info   *types.Info
}

// source type-checks packages from their source, for any architecture, without compiling them. It skips the function
// bodies of dependencies.
type source struct {
	fset    *token.FileSet
	sizes   types.Sizes
	listed  map[string]Package
	checked map[string]*types.Package
	typed   []Typed
}

// Check type-checks the listed packages (go list -deps) and returns the packages of this module that were listed by
// name. The error names packages that fail to type-check; the others are still returned.
func Check(packages []Package, b Build) ([]Typed, error) {
	s := &source{
		fset: token.NewFileSet(), sizes: types.SizesFor("gc", b.Arch),
		listed: make(map[string]Package), checked: map[string]*types.Package{"unsafe": types.Unsafe},
	}
	for _, p := range packages {
		s.listed[p.ImportPath] = p
	}
	var failed []error
	for _, p := range packages {
		if !s.wanted(p) { // loaded when another package imports it
			continue
		}
		if _, err := s.load(p.ImportPath); err != nil {
			failed = append(failed, err)
		}
	}
	return s.typed, errors.Join(failed...)
}

// wanted reports whether a package belongs to this module and was listed by name.
func (s *source) wanted(p Package) bool { return ours(p.ImportPath) && !p.DepOnly }

func (s *source) load(importPath string) (*types.Package, error) {
	if done, ok := s.checked[importPath]; ok {
		return done, nil
	}
	p, ok := s.listed[importPath]
	if !ok {
		return nil, fmt.Errorf("lint: package %s is not listed", importPath)
	}
	wanted := s.wanted(p)
	var files []*ast.File
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(s.fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("lint: %w", err)
		}
		files = append(files, file)
	}
	var failed []error
	info := &types.Info{Types: make(map[ast.Expr]types.TypeAndValue), Uses: make(map[*ast.Ident]types.Object)}
	config := types.Config{
		Importer: fromMap{s, p.ImportMap}, Sizes: s.sizes, IgnoreFuncBodies: !wanted,
		// A dependency may use features that only the compiler supports (linkname), so its errors are ignored. A
		// package of this module must type-check.
		Error: func(err error) { failed = append(failed, err) },
	}
	if !wanted {
		info = nil
	}
	checked, _ := config.Check(importPath, s.fset, files, info) // the error is also the first in failed
	if wanted && len(failed) > 0 {
		return nil, fmt.Errorf("lint: %s does not type-check: %w", importPath, errors.Join(failed[:min(len(failed), 3)]...))
	}
	s.checked[importPath] = checked
	if wanted {
		s.typed = append(s.typed, Typed{folder(importPath), s.fset, files, info})
	}
	return checked, nil
}

// fromMap imports packages by a package's own import map, which redirects vendored packages of the standard library.
type fromMap struct {
	source *source
	names  map[string]string
}

func (m fromMap) Import(importPath string) (*types.Package, error) {
	if mapped, ok := m.names[importPath]; ok {
		importPath = mapped
	}
	return m.source.load(importPath)
}

// place returns a node's position as folder, file and line.
func (p Typed) place(node ast.Node) string {
	at := p.Fset.Position(node.Pos())
	return strings.TrimPrefix(fmt.Sprintf("%s/%s:%d", p.Folder, filepath.Base(at.Filename), at.Line), "/")
}
