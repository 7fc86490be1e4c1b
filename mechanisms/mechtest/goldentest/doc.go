// Package goldentest compares lines that a test makes with those that testdata/golden.txt has kept since a format was
// fixed. -rewrite writes them anew: a reviewed change, since stored bytes are for ever. It imports no package of ours,
// so that every package's own tests can use it.
package goldentest
