package lint

import (
	"fmt"
	"go/ast"
	"go/types"
	"path/filepath"
	"slices"
)

// recordPath and recordType name the type of input records.
const (
	recordPath = Module + "/pipeline/kafka/records"
	recordType = "Record"
)

// publicField is the only field of a record that all code may read.
const publicField = "Public"

// decidesEnds lists the folders whose code decides where a Batch or a transaction of the service ends, or which request
// is sent next.
var decidesEnds = []string{
	"pipeline", "pipeline/changelog", "pipeline/deployment", "pipeline/kafka", "pipeline/kafka/fetch",
	"pipeline/kafka/group", "pipeline/kafka/memory", "pipeline/kafka/produce", "pipeline/kafka/records",
	"pipeline/kafka/topics", "pipeline/kafka/wire", "pipeline/merge", "pipeline/order", "pipeline/replay",
	"pipeline/streams", "pipeline/takeover", "pipeline/transaction", "pipeline/userindex",
}

// ownTopics is the reason for files that read no event: they read only records that the service itself has published or
// sealed.
const ownTopics = "reads records of decision, verdict and changelog topics"

// readsContents lists the functions in the folders of decidesEnds that may read a record's contents; nil stands for the
// whole file. No other function may, because the end of a batch or a request could then depend on the contents.
var readsContents = []struct {
	file      string
	functions []string
	reason    string
}{
	{
		"pipeline/kafka/records/decode.go",
		[]string{"Next", "AbortMarker"},
		"parses records; an abort marker is the broker's own",
	},
	{"pipeline/streams/ahead.go", []string{"decode"}, "the one place where an event is decoded"},
	{"pipeline/streams/walk.go", []string{"step"}, "hands the record key to operators that read keys"},
	{"pipeline/streams/users.go", []string{"name"}, "finds the user of a record"},
	{"pipeline/deployment/missing.go", []string{"everTaken"}, ownTopics},
	{"pipeline/deployment/descriptor.go", nil, ownTopics},
	{"pipeline/changelog/view.go", nil, ownTopics},
	{"pipeline/changelog/manifest.go", nil, ownTopics},
	{"pipeline/changelog/replace.go", nil, ownTopics},
	{"pipeline/changelog/schemas.go", []string{"ordered"}, "reads the order log, which the service writes itself"},
	{"pipeline/merge/follow.go", []string{"read"}, "reads the order log, which the service writes itself"},
	{"pipeline/order/follow.go", []string{"Read"}, "reads the order log, which the service writes itself"},
	{"pipeline/order/trim.go", []string{"look"}, "reads the order log, which the service writes itself"},
	{"pipeline/takeover/open.go", nil, ownTopics},
	{"pipeline/changelog/end.go", nil, ownTopics},
	{"pipeline/takeover/inspect.go", nil, ownTopics},
	{"pipeline/takeover/decisions.go", nil, ownTopics},
	{"pipeline/takeover/checks.go", nil, ownTopics},
	{"pipeline/replay/check.go", nil, ownTopics},
}

// CheckContents reports the functions of a package that use a private field of a record without a row in readsContents.
func CheckContents(p Typed) []Finding {
	if !slices.Contains(decidesEnds, p.Folder) {
		return nil
	}
	return contentsIn(p)
}

// contentsIn checks a package without regard to its folder.
func contentsIn(p Typed) []Finding {
	var found []Finding
	for _, file := range p.Files {
		name := filepath.Base(p.Fset.Position(file.Pos()).Filename)
		for _, decl := range file.Decls {
			function := ""
			if f, ok := decl.(*ast.FuncDecl); ok {
				function = f.Name.Name
			}
			if mayReadContents(p.Folder+"/"+name, function) {
				continue
			}
			ast.Inspect(decl, func(node ast.Node) bool {
				id, ok := node.(*ast.Ident)
				if !ok {
					return true
				}
				if field, ok := p.Info.Uses[id].(*types.Var); ok && saysContents(field) {
					found = append(found, Finding{p.place(id), fmt.Sprintf(
						"touches %s of a record: code beside the decoder may read %s only, because ends and requests must not depend on contents",
						field.Name(), publicField)})
				}
				return true
			})
		}
	}
	return found
}

func mayReadContents(file, function string) bool {
	for _, row := range readsContents {
		if row.file == file && (row.functions == nil || slices.Contains(row.functions, function)) {
			return true
		}
	}
	return false
}

// saysContents reports whether a variable is a private field of a record.
func saysContents(field *types.Var) bool {
	if !field.IsField() || field.Pkg() == nil || field.Pkg().Path() != recordPath || field.Name() == publicField {
		return false
	}
	record := field.Pkg().Scope().Lookup(recordType)
	if record == nil {
		return false
	}
	fields, ok := record.Type().Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for i := range fields.NumFields() {
		if fields.Field(i) == field {
			return true
		}
	}
	return false
}
