package doctor_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"oriel/cmd/internal/repotest"
)

// found says which check of doctor finds a reason for which the service stops, with its place in the source.
//
//   - pipeline/deployment: CheckTopics, which doctor calls for the topics of the service.
//   - pipeline/takeover: Examine, which makes the steps of Run. TestExamineMakesTheStepsOfRun checks that.
//   - the others, by their text: "opened" by NewService, "start" by an Examiner, "end" by `oriel end` alone, or why
//     doctor cannot find the reason.
var found = map[string]string{
	"the group's offsets do not cover every decision that was sent: readers may have seen decisions of later records": "end",
	"partitions, and its settings say that it has":                                                                    "end",

	"the configuration differs from the one that this deployment was opened with: ORIEL_":        "opened",
	"ORIEL_STREAM differs from its value when the deployment was opened":                         "opened",
	"ORIEL_STREAM is not set, and the input topic":                                               "opened",
	"its manifest has another name key than partition 0, so that users could not be compared":    "opened",
	"the changelog partition has no manifest record":                                             "opened",
	"this deployment belongs to the input topic":                                                 "opened",
	", or to one of this name that was deleted and made again":                                   "opened",
	"was deleted and made again since this deployment was opened":                                "opened",
	"the master key is not the one that this deployment was opened with":                         "opened",
	"a stored record cannot be opened":                                                           "opened",
	"the changelog is of a deployment of another name":                                           "opened",
	"the changelog has no schemas for the events of this partition":                              "start",
	"the brokers have lost records that they had acknowledged:":                                  "start",
	"the local store has followed the changelog to offset":                                       "start",
	"than the one that the local store has followed":                                             "start",
	"this deployment was ended for good by `oriel end`":                                          "start",
	"the frozen plan does not prove the configured guarantee":                                    "start",
	", and its state counts":                                                                     "start",
	"partitions were added to the input, and the topics of this deployment do not have this one": "start",
	"the horizon is reached: the stream has closed all the":                                      "start",
	", but the printed guarantee counts one partition for each user":                             "start",
	"the input topic was deleted or made again":                                                  "it is about a change at work; before a start the manifest shows it",
	"the input does not have the next event: it was deleted or truncated before it was taken":    "it is about a change at work; before a start the take-over shows it",
	"a request is refused and would be refused again":                                            "the brokers refuse a request at work; the rights are checked before",
	"bytes together, more than the":                                                              "only the commands that freeze schemas say so",
	"the local store cannot be used any more":                                                    "the disk fails at work",
	"the changelog has no incarnation of this partition":                                         "only `oriel replay` and `oriel order` say so, of a stream that was not opened",
	"the stream was not opened yet, so that it has no experiment to follow":                      "only the commands that read an experiment say so",
}

// TestDoctorFindsEveryReasonToStop reads the reasons in the source. A new one must be found by doctor, or be in the
// list with the reason why it cannot.
func TestDoctorFindsEveryReasonToStop(t *testing.T) {
	seen := map[string]bool{}
	for folder, all := range reasons(t) {
		for _, reason := range all {
			seen[reason] = true
			if folder != "pipeline/deployment" && folder != "pipeline/takeover" && found[reason] == "" {
				t.Errorf("%s: nothing says how doctor finds %q", folder, reason)
			}
		}
	}
	for reason := range found {
		if !seen[reason] {
			t.Errorf("the service does not stop any more with %q", reason)
		}
	}
	if len(seen) < 75 {
		t.Errorf("%d reasons read, which cannot be all", len(seen))
	}
}

// TestExamineMakesTheStepsOfRun checks that a take-over and its examination differ in their first step alone, and that
// no other function asks which of the two it is in, except to leave out effects and events.
func TestExamineMakesTheStepsOfRun(t *testing.T) {
	calls, asks := map[string][]string{}, []string{}
	for _, f := range functions(t, "pipeline/takeover") {
		ast.Inspect(f.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if s, is := n.Fun.(*ast.SelectorExpr); is {
					if receiver, is := s.X.(*ast.Ident); is && receiver.Name == "t" {
						calls[f.Name.Name] = append(calls[f.Name.Name], s.Sel.Name)
					}
				}
			case *ast.SelectorExpr:
				if n.Sel.Name == "examines" && !slices.Contains(asks, f.Name.Name) {
					asks = append(asks, f.Name.Name)
				}
			}
			return true
		})
	}
	slices.Sort(asks)
	for function, want := range map[string][]string{
		"Run": {"fence", "take"}, "Examine": {"look", "take", "checkHorizon"},
	} {
		if !slices.Equal(calls[function], want) {
			t.Errorf("%s calls %v, want %v", function, calls[function], want)
		}
	}
	if want := []string{"end", "reconcile"}; !slices.Equal(asks, want) {
		t.Errorf("%v know whether they examine, want %v", asks, want)
	}
}

// functions returns the functions of a folder, without its tests.
func functions(t *testing.T, folder string) (all []*ast.FuncDecl) {
	t.Helper()
	files, err := filepath.Glob(repotest.Path(filepath.Join(folder, "*.go")))
	if err != nil || len(files) == 0 {
		t.Fatal(folder, err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if f, is := d.(*ast.FuncDecl); is && f.Body != nil {
				all = append(all, f)
			}
		}
	}
	return all
}

// stops are the calls that make a notice.StopError, with the index of the argument that is its reason.
var stops = map[string]int{"stop": 0, "lost": 0, "without": 1, "wrong": 2, "LostRecords": 1}

// reasons returns the reasons of all errors with which the service stops, by folder: the literal text of each
// StopError, or of each call that makes one.
func reasons(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, folder := range []string{
		"pipeline", "pipeline/takeover", "pipeline/changelog", "pipeline/deployment", "pipeline/notice",
		"pipeline/userindex",
	} {
		for _, f := range functions(t, folder) {
			ast.Inspect(f.Body, func(n ast.Node) bool {
				if text := literal(reasonOf(n)); text != "" {
					all[folder] = append(all[folder], text)
				}
				return true
			})
		}
	}
	return all
}

// reasonOf returns the reason of an error to stop that a node makes, or nil.
func reasonOf(n ast.Node) ast.Expr {
	switch n := n.(type) {
	case *ast.KeyValueExpr:
		if name, is := n.Key.(*ast.Ident); is && name.Name == "Reason" {
			return n.Value
		}
	case *ast.AssignStmt:
		if s, is := n.Lhs[0].(*ast.SelectorExpr); is && s.Sel.Name == "Reason" {
			return n.Rhs[0]
		}
	case *ast.CallExpr:
		name := ""
		switch f := n.Fun.(type) {
		case *ast.Ident:
			name = f.Name
		case *ast.SelectorExpr:
			name = f.Sel.Name
		}
		if i, is := stops[name]; is && i < len(n.Args) {
			return n.Args[i]
		}
	}
	return nil
}

// literal returns the longest literal text of an expression, without the verbs of its format.
func literal(e ast.Expr) (longest string) {
	if e == nil {
		return ""
	}
	ast.Inspect(e, func(n ast.Node) bool {
		if l, is := n.(*ast.BasicLit); is && l.Kind == token.STRING {
			text, _ := strconv.Unquote(l.Value)
			for _, part := range regexp.MustCompile(`%[a-z]`).Split(text, -1) {
				if part = strings.Trim(part, ` "`); len(part) > len(longest) {
					longest = part
				}
			}
		}
		return true
	})
	return longest
}
