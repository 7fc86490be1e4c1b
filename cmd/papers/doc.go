// Package papers measures the claims of papers, in tests: it reproduces their tables on public streams, with the
// operators of this module and with the algorithms that papers compare them with. Nobody imports it, and users of Oriel
// do not need it. results/README.md summarises the tables.
//
//	go test ./cmd/papers                                       short forms, and the claims of the tables in results
//	go test -tags papers -v -timeout 6h ./cmd/papers           every table in full; fails if a claim does not hold
//	go test -tags papers -v -timeout 6h ./cmd/papers -run 'TestTables/table1' -rewrite
//
// With -rewrite, the tables in results and their plots are written anew. Streams are synthetic and seeds are numbered,
// so the same call gives the same figures anywhere. Keys of the runs are public, so the runs protect nobody.
//
// POCG and PQFTL, which no operator has as a setting, are in pocg_test.go and pqftl_test.go. PROOF.md proves that they
// are private.
package papers
