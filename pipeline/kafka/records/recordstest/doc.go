// Package recordstest makes record batches for tests: random ones, ones as a broker stores them, and malformed ones.
package recordstest
