// Package setup proposes a deployment for an existing topic. `oriel map` and `oriel init` are built from it.
//
//	Sample    records of a file or of a topic, and how many arrive in a second
//	Encoding  how records are encoded: detected from a sample (Sniff), or given by the user
//	Columns   the places of values in records, and the kinds of these values
//	Propose   a mapping of columns: features, components of times, ranges of numbers; it omits identifiers
//	Asker     questions, each of which has a flag
//	Answers   the user's answers; File writes them as a commented file of settings
//
// A mapping and its ranges are public settings and must be chosen without looking at private data. A proposal is made
// from a sample, so the user must confirm that it is public knowledge. Files that the package writes contain names of
// members and confirmed ranges, and no other content of a record. The package relies on no default of `oriel run`: the
// file contains every setting of privacy.
package setup
