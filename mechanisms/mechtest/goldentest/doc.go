// Package goldentest compares lines that a test computes with the lines in testdata/golden.txt, stored when a format
// was fixed. The flag -rewrite replaces the stored lines. A replacement must be reviewed, because deployments keep
// stored bytes for ever. The package imports no other package of this module, so that every package's own tests can use
// it.
package goldentest
