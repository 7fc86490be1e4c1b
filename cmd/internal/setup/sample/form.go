package sample

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"unicode"
	"unicode/utf8"

	"oriel/cmd/internal/recordschema"
)

// containers are formats of files that hold records in a form of their own, by their first bytes.
var containers = []struct{ first, form string }{
	{"Obj\x01", "an Avro container file, which has its schema and many records: `avro-tools tojson FILE` writes them as lines"},
	{"PAR1", "a Parquet file: `duckdb -c \"COPY (FROM 'FILE') TO 'lines.json'\"` writes its rows as lines"},
	{"\x1f\x8b", "compressed by gzip: unpack it first"},
	{"\x28\xb5\x2f\xfd", "compressed by zstd: unpack it first"},
	{"PK\x03\x04", "a zip archive: unpack it first"},
}

// FormOfFile says why a file has no lines of JSON objects, with the place and the remedy. It returns "" if the start of
// the file, of which content is a part, shows no reason.
func FormOfFile(content []byte) string {
	text := bytes.TrimLeft(content, " \t\r\n")
	for _, c := range containers {
		if bytes.HasPrefix(content, []byte(c.first)) {
			return "it is " + c.form
		}
	}
	if len(text) == 0 {
		return "it is empty"
	}
	if why := forms[formOf(content)].file; why != "" {
		return why
	}
	switch {
	case text[0] != '{' && isValue(text):
		return "its first line is a JSON value and no object, and a record must be an object: `jq -c '{value: .}' FILE` writes such lines"
	case text[0] != '{' && isPlain(text):
		return "its first line is text without JSON: if it is CSV, `duckdb -c \"COPY (FROM 'FILE') TO 'lines.json'\"` writes its rows as lines"
	case text[0] != '{':
		return ""
	}
	line, rest, more := bytes.Cut(text, []byte("\n"))
	var object json.RawMessage
	if more && len(bytes.TrimSpace(rest)) > 0 && !json.Valid(line) &&
		json.NewDecoder(bytes.NewReader(text)).Decode(&object) == nil {
		return "its first object is spread over several lines from line 1 on, and a record must be on one line: `jq -c . FILE` writes such lines"
	}
	return ""
}

// isValue reports whether the first line of a text is a JSON value.
func isValue(text []byte) bool {
	line, _, more := bytes.Cut(text, []byte("\n"))
	return more && json.Valid(line)
}

// isPlain reports whether the first line of a text is plain text that is no JSON. A record of Avro or Protobuf has
// control characters, at least in its lengths.
func isPlain(text []byte) bool {
	line, _, more := bytes.Cut(text, []byte("\n"))
	return more && utf8.Valid(line) && !json.Valid(line) &&
		!bytes.ContainsFunc(line, func(r rune) bool { return r != '\t' && r != '\r' && unicode.IsControl(r) })
}

// form is the form of a text that is JSON for people, and no JSON object for programs.
type form uint8

const (
	other form = iota
	wide
	widest
	mark
	array
	batch
	sequence // objects, with the byte 1E before each
	inText   // a text that contains JSON
	value    // a text that contains none
)

// forms says why a file of a form has no lines of JSON objects, and what a producer of such records must change.
var forms = map[form]struct{ file, topic string }{
	widest: {
		"it is text in UTF-32 from byte 1 on, and JSON is UTF-8: `iconv -f UTF-32 -t UTF-8 FILE` converts it",
		"text in UTF-32, and JSON is UTF-8: the producer must write UTF-8",
	},
	wide: {
		"it is text in UTF-16 from byte 1 on, and JSON is UTF-8: `iconv -f UTF-16 -t UTF-8 FILE` converts it",
		"text in UTF-16, and JSON is UTF-8: the producer must write UTF-8",
	},
	mark: {
		"its first three bytes are a byte order mark (EF BB BF), which JSON must not have: `tail -c +4 FILE` removes it",
		"JSON behind a byte order mark (bytes 1 to 3, EF BB BF), which JSON must not have: the producer must leave it out",
	},
	batch: {
		"it is a batch of CloudEvents, an array from line 1 on, and a record must be one event: `jq -c '.[]' FILE` writes a line for each",
		"batches of CloudEvents, JSON arrays from byte 1 on: the producer must send each event as a record of its own",
	},
	array: {
		"it is one JSON array from line 1 on, and a record must be an object on its own line: `jq -c '.[]' FILE` writes such lines",
		"JSON arrays from byte 1 on, and a record must be one object: the producer must send each element as a record of its own",
	},
	sequence: {
		"it is a JSON text sequence (RFC 7464), with the byte 1E before each record, and a record must be on one line: " +
			"`jq --seq -c . FILE | tr -d '\\036'` writes such lines",
		"JSON text sequences (RFC 7464), with the byte 1E first: the producer must leave it out",
	},
	inText: {
		"its first line is a text that contains JSON, and a record must be the object itself: `jq -c fromjson FILE` writes such lines",
		"a text that contains JSON, from its first byte, a quote, on: the producer must put the object itself in its place",
	},
	value: {"", "JSON texts without an object, from the first byte, a quote, on: the producer must send an object with a name for the text"},
}

// wideStarts are the first bytes of UTF-16: a byte order mark, or an object or a list.
var wideStarts = []string{"\xff\xfe", "\xfe\xff", "{\x00", "\x00{", "[\x00", "\x00["}

// widestStarts are the first bytes of UTF-32, before those of UTF-16, with which some begin.
var widestStarts = []string{
	"\xff\xfe\x00\x00", "\x00\x00\xfe\xff", "{\x00\x00\x00", "\x00\x00\x00{", "[\x00\x00\x00", "\x00\x00\x00[",
}

// formOf recognises the form of a text from its start.
func formOf(text []byte) form {
	switch {
	case len(text) > 3 && slices.Contains(widestStarts, string(text[:4])):
		return widest
	case len(text) > 1 && slices.Contains(wideStarts, string(text[:2])):
		return wide
	case bytes.HasPrefix(text, []byte("\uFEFF")):
		return mark
	}
	text = bytes.TrimLeft(text, " \t\r\n")
	switch {
	case len(text) == 0:
	case text[0] == '[':
		d := json.NewDecoder(bytes.NewReader(text))
		var first map[string]json.RawMessage
		if _, err := d.Token(); err == nil && d.More() && d.Decode(&first) == nil {
			if first["specversion"] != nil {
				return batch
			}
			return array
		}
	case text[0] == '\x1e':
		var first map[string]json.RawMessage
		if json.NewDecoder(bytes.NewReader(text[1:])).Decode(&first) == nil {
			return sequence
		}
	case text[0] == '"':
		var inner string
		switch {
		case json.NewDecoder(bytes.NewReader(text)).Decode(&inner) != nil:
		case isJSON([]byte(inner)):
			return inText
		case json.Valid(text):
			return value
		}
	}
	return other
}

// formOfRecords returns an error if most records have one form that a producer must change; inside are the events of
// CloudEvents, or the records themselves.
func (e Encoding) formOfRecords(inside [][]byte) error {
	what := "records are "
	if e.Framing == recordschema.CloudEvents {
		what = "records are CloudEvents, and the data of most is "
	}
	for f, text := range forms { // at most one form is that of most records
		if most(inside, func(record []byte) bool { return formOf(record) == f }) {
			return errors.New(what + text.topic)
		}
	}
	return nil
}
