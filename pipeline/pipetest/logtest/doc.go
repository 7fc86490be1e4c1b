// Package logtest writes records to partitions in tests and reads them back, and changes topics and offsets as the
// tools of administrators do. It is no part of pipetest, because pipetest links the whole service, and a test of a
// reader needs only a client.
package logtest
