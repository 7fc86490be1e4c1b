// Package mapping makes events of records that have another form than an operator's own: other members, other names,
// another encoding.
//
// It works in two steps. A Source reads the bytes of a record and says which Value stands at each Path; an encoding
// (JSON here; Avro and Protobuf in packages of their own) knows nothing else. A Plan makes an event of the values; it
// knows no encoding. So records that say the same make the same event, to the byte, in every encoding.
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
// A path is a JSON pointer or the name of a top-level member (ParsePath). where is one comparison or a list; a record
// for which one does not hold is a null event (schemas.Filtered). A comparison is a path, one of = != > >= < <=, and a
// constant (Comparison.Holds). label is a path or, of two classes, a comparison. A feature is a path; its name is the
// last of the path, or stands in front, "price=/order/total". A member is name=path, of a dense vector name=path,path,…
// or the path of a list. Behind a path may stand how it is read, ":number", one of the names of As.
//
// The long form of an item says more: name; from, a path or a list of paths, or compare, a comparison, or constant; as;
// of a number scale and offset; of a time epoch (s, ms, us or ns), if it is a number, and zone.
//
// A feature that is absent or null is left out of the event, a member that is optional too; else it is a fault.
// Features come in the order of the mapping. Numbers are float64s. A number may also be a text that is one. Time is an
// instant of an encoding that has such, a number with an epoch, or a text of ISO 8601. A zone is UTC, an offset, or a
// rule of POSIX TZ: no name of a place, whose rule would change with the software, because decoding is a function of
// the record's bytes and of this document.
package mapping
