// Package killmatrix plants faults in the source, one at a time, and checks that tests find each of them (mutation
// testing).
//
// A file of testdata has the faults of one place of the privacy path, such as the sampler or the chain of seeds. A
// fault is written like a patch without line numbers: the text that it removes must be in the file exactly once. It
// names what it breaks, and its killers: at least one test that must fail, and a mode of the audit if the audit can
// find the fault.
//
//	## a null event is absorbed as a contribution of nothing
//	in: mechanisms/noise/chain.go
//	test: mechanisms/noise TestEveryFieldEntersTheChain
//	pairs: aggregate
//	-	if leaf == nil {
//	+	if leaf == nil && place > 0 {
//
// The killers are
//
//	test: FOLDER TEST          a test of a package, as -run of go test takes it
//	story: OPERATOR            the stories of an operator (cmd/internal/operatortest)
//	pairs: MACHINE             the audit's pairs of runs, recorded and replayed (cmd/internal/audit)
//	attack: MACHINE: REASON    the audit's statistical attacks and checks, which must name the reason
//	histories                  random histories of a whole service, of which one must fail (pipeline/pipetest/histories)
//
// testdata/equivalent.txt has changes that no test can find, each with the argument for it (because:). They do not
// count.
//
// The default tier checks that each text is still in its file, that each test exists, and that MATRIX.md is the table
// of the faults:
//
//	go test ./cmd/internal/killmatrix -rewrite                                      writes MATRIX.md
//	TEST_LONG=1 go test -v -timeout 3h ./cmd/internal/killmatrix                    plants all
//	TEST_LONG=1 go test -v ./cmd/internal/killmatrix -sample 20 -seed 7             plants a sample
//	TEST_LONG=1 go test -v ./cmd/internal/killmatrix -run 'Found/chain'             plants those of a place
//
// A fault that survives needs a new test. It may become an equivalent change only if no test could find it.
package killmatrix
