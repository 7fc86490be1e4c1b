// Package logtest writes records to partitions in tests and reads them back. It stands apart from pipetest, which links
// the whole service: a test of a reader needs a client alone.
package logtest
