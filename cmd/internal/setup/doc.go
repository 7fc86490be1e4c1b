// Package setup proposes a deployment for an existing topic. `oriel map` and `oriel init` are built from it.
//
//	Request   which records form the sample (package sample), and to what use they are put
//	Columns   the places of values in records, and the kinds of these values
//	Propose   a mapping of columns: features, components of times, ranges of numbers; it omits identifiers
//	Answers   the user's answers; File writes them as a commented file of settings
//
// A mapping and its ranges are public settings and must be chosen without looking at private data. A proposal is made
// from a sample, so the user must confirm that it is public knowledge. Files that the package writes contain names of
// members and confirmed ranges, and no other content of a record. The package relies on no default of `oriel run`: the
// file contains every setting of privacy.
package setup
