// Package lint holds the structure tests of this module: rules that the compiler does not know and that a reviewer
// would miss.
//
//	imports      which package may import which, ours and others', and what a machine must not see (CheckImports)
//	calls        who may read the environment, print, exit and start goroutines (CheckCalls)
//	arithmetic   no product that a CPU could fuse, no function that differs by CPU, no map order, where bytes are decided (CheckArithmetic)
//	contents     who may read what a record says, where ends and requests are decided (CheckContents)
//	terms        who may ask which scope or unit it has (CheckTerms)
//	tiers        each test has a form that `go test ./...` runs (CheckTiers)
//	tree         top-level entries, doc.go, file length, words that have no place in the text (CheckTree)
//	layout       the table of folders in .github/CONTRIBUTING.md has every package (CheckLayout)
//	evidence     tests that proofs and other texts name exist (CheckEvidence)
//
// Each check is a function from what it reads to findings, so that its tests also run it on a planted fault; every rule
// carries its reason and prints it. Rules are tables at the top of their file: an exception is a row with a reason,
// never a comment in the code it excuses.
//
// The tests read the whole module, so run them without the cache:
//
//	go test -count=1 ./cmd/internal/lint
package lint
