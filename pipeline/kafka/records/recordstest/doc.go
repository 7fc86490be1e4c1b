// Package recordstest makes record batches for tests: random batches, batches as a broker stores them, and malformed
// batches.
package recordstest
