// Package protobuf reads values out of Protobuf records, at the paths of a mapping.
//
// A Schema is a message type, read from a .proto file or a FileDescriptorSet. Libraries (bufbuild/protocompile and
// google.golang.org/protobuf) read only schemas. Schemas come from the operator and are trusted, but their size and
// nesting are bounded nevertheless. Open compiles paths and schema to a table. A Source reads records by that table and
// checks every length, because records are untrusted. The library's dynamic messages would allocate, and panic on some
// entries of maps; they are the slow reference model of the tests. An event of zero bytes is refused, although in
// proto3 it is a message whose fields are all zero, because a Kafka record without a value looks the same.
//
// Fields become these values:
//
//	int32, …, double          Number: whole numbers rounded to nearest, float widened
//	bool, string, enum        Bool, Text, the symbol as Text (of an unknown number: Other)
//	google.protobuf.Timestamp Time, an instant; a wrapper such as google.protobuf.DoubleValue is its value
//	google.type.Date          Time of a clock without a zone (Local); Null without year, month or day
//	field without presence    its zero value where the record leaves it out
//	field with presence       Absent where the record leaves it out, and so are all fields of a message that is left out
//
// Records are read by the rules of Protobuf's encoding. Fields come in any order, and of a repeated singular field the
// last one counts. Parts of a message are merged, and lists may be packed. The newest member of a oneof removes the
// others. A field with another wire type counts as unknown. Unknown fields, and fields that no path needs, are skipped
// by their length, and their contents are not checked. Texts at paths must be UTF-8, in proto2 as well, and numbers
// finite, as in JSON. Only maps with text keys have paths.
//
// A path names fields of the reader's schema. Records of another version are read by that version's schema. Its fields
// are found by their numbers, so they may have other names and wider types. Symbols of enums keep the reader's names.
//
// Cost: one pass over the record, two over an entry of a map, no allocation. A later field may discard values read
// before, such as other members of its oneof. The number of such discards is bounded; a record beyond the bound is
// malformed.
package protobuf
