// Package mappingtest holds what tests of several encodings share: paths from texts, drawn damage, and checks of a
// mapping.Source against the values of another reader.
package mappingtest
