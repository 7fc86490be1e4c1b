// Package setup proposes a deployment for a topic that exists: `oriel map` and `oriel init` are made of it.
//
//	Sample    records of a file or of a topic, and how many arrive a second
//	Encoding  how records are encoded: what a sample shows (Sniff), and what the user says
//	Columns   the places of values in records, and which kinds of values stand there
//	Propose   a mapping of columns: features, parts of times, ranges of numbers; identifiers are left out
//	Asker     questions, each of which has a flag
//	Answers   what the user wants; Env makes a commented file of settings of it
//
// A mapping and its ranges are public settings and must be chosen without looking at private data. A proposal looks at
// a sample, so the user must confirm it as public knowledge. Files that the package writes hold names of members and
// confirmed ranges, and no other content of a record. It writes no default of `oriel run`: each setting of privacy
// stands in the file.
package setup
