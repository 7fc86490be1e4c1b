// Package goldentest compares lines that a test makes with the lines in testdata/golden.txt, stored since a format was
// fixed. -rewrite replaces them. Such a change must be reviewed, because stored bytes stay for ever. The package
// imports no other package of this module, so that every package's own tests can use it.
package goldentest
