// Package lint holds the structure tests of this module: rules that the compiler does not check and that a reviewer
// would miss.
//
//	imports      which package of this module may import which (CheckImports); what must not be reached through any import
//	             (CheckReach).
//	goroutines   which code may start goroutines (CheckGoroutines).
//	arithmetic   no product that a CPU could fuse, no function that differs by CPU, and no map order in packages that decide
//	             bytes (CheckArithmetic).
//	contents     which code may read a record's contents, in folders that decide ends and requests (CheckContents).
//	terms        which code may test for a particular scope or unit of privacy (CheckTerms).
//	members      operators reach members of decisions by their handles only (CheckMembers).
//	tiers        each test has a form that `go test ./...` runs (CheckTiers).
//	tree         top-level entries, doc.go, file length, words that must not appear in texts (CheckTree).
//	layout       the tables of folders in .github/CONTRIBUTING.md, written from each doc.go (Layout).
//	evidence     tests that proofs and other texts name exist (CheckEvidence).
//
// Rules that a linter has are in .golangci.yml: imports from outside the module, calls that only some code may make
// and the length of lines.
//
// Each check is a function from its input to findings, so that tests can also run it on a planted fault. Every rule has
// a reason and prints it. Rules are tables at the top of their file. An exception must be a row with a reason, never a
// comment in the code that it excuses.
//
// The tests read the whole module, so run them without the cache:
//
//	go test -count=1 ./cmd/internal/lint
package lint
