// Package avro reads values out of Avro records (its binary encoding, without a header) at the paths of a mapping.
//
// Schemas come from the operator or a registry and are trusted, but their size and nesting are bounded nevertheless.
// Open compiles paths and schema to a table. A Source reads records by that table and checks
// every length, because records are untrusted. In tests a library (twmb/avro) is the slow reference model.
//
// Types become these values:
//
//	int, long, float, double      Number: whole numbers rounded to nearest, float widened
//	boolean, string, enum         Bool, Text, the symbol as Text
//	decimal (bytes, fixed)        Number, rounded correctly; of at most 32 bytes, without sign bytes
//	timestamp-*                   Time, an instant
//	date, local-timestamp-*       Time of a clock without a zone (Local)
//	null                          Null; values at paths below it are Absent
//	other bytes and fixed         no value of an event
//
// Paths do not name the branches of a union. If two entries of a map have the same key, the last one counts. A string
// at a path must be UTF-8, and a number finite, as in JSON. Other values are skipped, and their texts are not checked.
// No bytes may follow the record.
//
// Records written with another version of a schema are read with the table of that version: OpenVersion. The two
// schemas are resolved by the specification (Avro 1.12, "Schema Resolution" and "Aliases"), along the paths:
//
//	record, enum    by full name, or else by alias, or else by unqualified name where only one type has it
//	field           by name, or else by alias, or else the reader's default, or else Absent
//	symbol          by name, or else the default of the reader's enum
//	union           each branch of the writer by itself: a record never gets a default of another type
//
// As in the reference implementation (Apache Avro for Java), a record with a type or a symbol that the reader lacks has
// no event (text.Unresolved), but other records of the version have. Unlike there, records of other names are not
// matched by their fields, aliases in the writer's schema count too, and numbers and texts keep the writer's type. Only
// values at paths are resolved, so a required field that no path reads may be missing.
//
// Cost: one pass over the record, no allocation. An array whose items take no bytes, such as nulls, may have at most
// 4096 of them. They are counted, and read up to the last one at a path.
package avro
