// Package avro reads values out of Avro records (its binary encoding, without a header) at the paths of a mapping.
//
// A library (twmb/avro) reads schemas only. The operator trusts a schema; its size and nesting are bounded all the
// same. Open compiles paths and schema to a table. A Source reads records by that table and checks every length,
// because records are hostile. The library's own decoder is the slow twin of the tests.
//
// What becomes of a type:
//
//	int, long, float, double      Number: whole numbers rounded to nearest, float widened
//	boolean, string, enum         Bool, Text, the symbol as Text
//	decimal (bytes, fixed)        Number, rounded correctly; of at most 32 bytes, its sign apart
//	date, [local-]timestamp-*     Time; of a local one as if its zone were UTC
//	null                          Null; what a path names below it is Absent
//	other bytes and fixed         no value of an event
//
// Paths do not name the branches of a union. Of two entries of a map with one key the last counts. A string that a path
// needs must be UTF-8, a number finite, as in JSON. What no path needs is passed over, and its texts are not looked at.
// Nothing may follow the record.
//
// Records that were written with another version of a schema are read with the table of that version: OpenVersion.
//
// Cost: one pass over the record, no allocation. An array whose items have no bytes, such as nulls, has at most 4096 of
// them. They are counted, and read up to the last one that a path needs.
package avro
