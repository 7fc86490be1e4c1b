// Package mapping makes events from records whose form differs from an operator's own: other members, other names,
// another encoding.
//
// It works in two steps. A Source reads the bytes of a record and returns the Value at each Path; only sources (JSON
// here; Avro and Protobuf in their own packages) know an encoding. A Plan makes an event from the values, independent
// of the encoding. So records with the same content make the same event, to the byte, in every encoding.
//
// A Mapping is the document of ORIEL_MAP, a JSON object:
//
//	{
//	  "where": "/status=paid",
//	  "label": "/order/total>100",
//	  "features": [
//	    "country",
//	    "/order/items/0/price:number",
//	    {"name": "hour", "from": "/time", "as": "hour", "zone": "CET-1CEST,M3.5.0,M10.5.0/3"},
//	    {"name": "weight", "from": "/grams", "scale": 0.001}
//	  ],
//	  "members": ["weight=/priority:number"]
//	}
//
// A path is a JSON pointer or the name of a top-level member (ParsePath). where is one comparison or a list; if one of
// them does not hold for a record, the record is a null event (text.Filtered). A comparison is a path, one of = != >
// >= < <=, and a constant (Comparison.Holds). label is a path or, for two classes, a comparison. A feature is a path.
// Its name is the last name of the path, unless a name precedes the path, as in "price=/order/total". A member is
// name=path, or for a dense vector name=path,path,… or the path of a list. A path may be followed by its type, such as
// ":number", one of the names of As.
//
// The long form of an item has these members: name and as; one of from (a path or a list of paths), compare (a
// comparison) and constant. For a number it may have scale and offset. For a time it may have zone, and epoch (s, ms,
// us, ns or d) if the time is a number.
//
// A feature that is absent or null is left out of the event, and so is an optional member; any other missing member is
// a fault. Features come in the order of the mapping. Numbers are float64s. A number may also be a text with a decimal
// number. A time is a value of an encoding that has times, a number with an epoch, or a text of ISO 8601. A date, and a
// time without an offset from UTC, are of the clock of the item's zone; all other times are instants. A zone is UTC, an
// offset, or a rule of POSIX TZ. It cannot be the name of a place, because its rule would change with the software, and
// decoding must be a function of the record's bytes and of this document.
package mapping
