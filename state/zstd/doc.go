// Package zstd stands in for the cgo binding of the same path, which Pebble uses when a C compiler is present: go.mod
// of the project replaces that module by this folder. It is the part of the interface that Pebble calls, on
// klauspost/compress, which Pebble itself uses without cgo.
//
// Why: the binding compiles the C library at the first build, a fifth of its time; and a build with cgo and one without
// would compress differently. Nothing that Oriel stores is secret to, or compresses well in, either: values are sealed.
package zstd
