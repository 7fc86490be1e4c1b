// Package protobuf reads values out of Protobuf records, at the paths of a mapping.
//
// A Schema is a message type, read from a .proto file or a FileDescriptorSet. Libraries (bufbuild/protocompile and
// google.golang.org/protobuf) read schemas only. The operator trusts a schema; its size and nesting are bounded all
// the same. Open compiles paths and schema to a table. A Source reads records by that table and checks every length,
// because records are hostile: dynamic messages of the library allocate, and panic on some entries of maps. They are
// the slow twin of the tests. An event of no bytes is none, though in proto3 it is a message all of whose fields are
// zero: a Kafka record without a value looks the same.
//
// What becomes of a field:
//
//	int32, …, double          Number: whole numbers rounded to nearest, float widened
//	bool, string, enum        Bool, Text, the symbol as Text (of an unknown number: Other)
//	google.protobuf.Timestamp Time; a wrapper such as google.protobuf.DoubleValue is its value
//	field without presence    its zero value where the record leaves it out
//	field with presence       Absent where the record leaves it out, as is all below a message that is left out
//
// Records are read as Protobuf's encoding says. Fields come in any order, and the last one counts. Parts of a message
// are merged, and lists may be packed. The newest member of a oneof removes the others. A field with another wire type
// is unknown. Unknown fields, and fields that no path needs, are passed over by their length; their contents are not
// looked at. Texts that paths need must be UTF-8, in proto2 as well, and numbers finite, as in JSON. Only maps whose
// keys are texts have paths.
//
// A path names fields of the reader's schema. Records of another version of it are read by that version's schema,
// whose fields are found by their numbers: they may have other names and wider types. Symbols of enums keep the
// reader's names.
//
// Cost: one pass over the record, two over an entry of a map, no allocation. What later fields make the reader forget
// is bounded; a record beyond the bound is malformed.
package protobuf
