package lint

import (
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
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

// source type-checks packages of this module from their source. Other packages come from the compiler's export data.
type source struct {
	fset    *token.FileSet
	sizes   types.Sizes
	listed  map[string]Package
	foreign types.Importer
	checked map[string]*types.Package
	typed   []Typed
}

// Check type-checks the listed packages (go list -deps) and returns the packages of this module that were listed by
// name. exports maps each other package that they import to the file with its export data (see Exports). The error
// names packages that fail to type-check; the others are still returned.
func Check(packages []Package, b Build, exports map[string]string) ([]Typed, error) {
	s := &source{
		fset: token.NewFileSet(), sizes: types.SizesFor("gc", b.Arch),
		listed: make(map[string]Package), checked: make(map[string]*types.Package),
	}
	open := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	s.foreign = importer.ForCompiler(s.fset, "gc", open)
	for _, p := range packages {
		s.listed[p.ImportPath] = p
	}
	var failed []error
	for _, p := range packages {
		if !s.wanted(p) { // loaded when another package imports it
			continue
		}
		if _, err := s.Import(p.ImportPath); err != nil {
			failed = append(failed, err)
		}
	}
	return s.typed, errors.Join(failed...)
}

// wanted reports whether a package belongs to this module and was listed by name.
func (s *source) wanted(p Package) bool { return ours(p.ImportPath) && !p.DepOnly }

// Import returns the types of a package.
func (s *source) Import(importPath string) (*types.Package, error) {
	if !ours(importPath) {
		return s.foreign.Import(importPath)
	}
	if done, ok := s.checked[importPath]; ok {
		return done, nil
	}
	p, ok := s.listed[importPath]
	if !ok {
		return nil, fmt.Errorf("lint: package %s is not listed", importPath)
	}
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
		Importer: s, Sizes: s.sizes, IgnoreFuncBodies: !s.wanted(p),
		Error: func(err error) { failed = append(failed, err) },
	}
	checked, _ := config.Check(importPath, s.fset, files, info) // the error is also the first in failed
	if len(failed) > 0 {
		return nil, fmt.Errorf("lint: %s does not type-check: %w", importPath, errors.Join(failed[:min(len(failed), 3)]...))
	}
	s.checked[importPath] = checked
	if s.wanted(p) {
		s.typed = append(s.typed, Typed{folder(importPath), s.fset, files, info})
	}
	return checked, nil
}

// place returns a node's position as folder, file and line.
func (p Typed) place(node ast.Node) string {
	at := p.Fset.Position(node.Pos())
	return strings.TrimPrefix(fmt.Sprintf("%s/%s:%d", p.Folder, filepath.Base(at.Filename), at.Line), "/")
}
