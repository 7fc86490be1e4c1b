// Package mappingtest holds the common parts of tests of several encodings: paths from texts, random damage, and checks
// of a mapping.Source against the values of another reader.
package mappingtest
