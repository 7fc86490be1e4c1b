// Package killmatrix plants faults in the source, one at a time, and wants each to be found.
//
// A file of testdata has the faults of one place of the privacy path, such as the sampler or the chain of seeds. A
// fault is a change as a patch has it, without line numbers: its text must stand in the file exactly once. It names
// what it breaks and what kills it: a test that fails, and where it can see the fault a mode of the audit.
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
//	pairs: MACHINE             the audit's pairs of runs, recorded and replayed (cmd/internal/auditor)
//	attack: MACHINE: REASON    the audit's statistical attacks and checks, which must name the reason
//	histories                  drawn histories of a whole service, of which one must fail (pipeline/pipetest/histories)
//
// testdata/equivalent.txt has changes that no test can see, each with its argument (because:). They do not count.
//
// The default tier checks that each text stands, that each test exists, and that MATRIX.md is the table of the faults:
//
//	go test ./cmd/internal/killmatrix -rewrite                                      writes MATRIX.md
//	TEST_LONG=1 go test -v -timeout 3h ./cmd/internal/killmatrix                    plants all
//	TEST_LONG=1 go test -v ./cmd/internal/killmatrix -sample 20 -seed 7             plants a sample
//	TEST_LONG=1 go test -v ./cmd/internal/killmatrix -run 'Found/chain'             plants those of a place
//
// A fault that lives asks for a test. Only where no test could see it may it become an equivalent one.
package killmatrix
