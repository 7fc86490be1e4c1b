package records

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"

	"oriel/cmd/internal/settings/files"
	"oriel/operators/setting"
	"oriel/schemas/mapping"
)

// mostMap is the largest size of ORIEL_MAP's document, bytes.
const mostMap = 1 << 20

// Values of ORIEL_UNKNOWN.
const (
	UnknownIgnored = "ignore"
	UnknownNull    = "null"
)

// Mapping returns the document of ORIEL_MAP. If a schema has the members of events under their own names, it returns an
// equivalent mapping. It returns nil if events have the operator's own form.
func (s Records) Mapping() *mapping.Mapping {
	if s.mapping == nil && s.schema != nil {
		return mapping.OwnForm(s.decoding.Body, s.schema.At)
	}
	return s.mapping
}

// MapText returns the document of ORIEL_MAP without white space around it, or "" if there is none.
func (s Records) MapText() string { return s.mapText }

// Document returns the document of ORIEL_MAP in the form in which the descriptor has it. It is nil if there is none.
func (s Records) Document() (json.RawMessage, error) {
	if s.mapText == "" {
		return nil, nil
	}
	return json.Marshal(json.RawMessage(s.mapText))
}

// KindAt returns the kind that the schema file declares for all values at a path. It returns mapping.Absent if the file
// declares no kind, or if there is no file.
func (s Records) KindAt(p mapping.Path) mapping.Kind {
	if s.schema == nil {
		return mapping.Absent
	}
	return s.schema.KindAt(p)
}

// passesUnknown reports whether members of a record that no setting names are ignored.
func (s Records) passesUnknown() bool {
	if s.Unknown == "" {
		return s.mapping != nil
	}
	return s.Unknown == UnknownIgnored
}

// ReadMap reads the document of ORIEL_MAP or, if it is needed, the file that contains it. The digest covers the bytes
// of the document without the white space around it, so that a document and a file with the same text are one
// configuration.
func (s *Records) ReadMap(p *setting.Problems, needed bool) {
	document := []byte(s.Map)
	if len(document) == 0 || document[0] != '{' && !needed {
		return
	}
	if document[0] != '{' {
		b, err := files.Read(s.Map)
		if err != nil {
			p.Break("MAP", "%w", err)
			return
		}
		document = bytes.TrimSpace(b)
	}
	if len(document) > mostMap {
		p.Break("MAP", "%d bytes, more than %d", len(document), mostMap)
		return
	}
	m, err := mapping.Parse(document)
	if err != nil {
		p.Add(mapping.Prefixed(setting.Prefix+"MAP", err))
		return
	}
	s.mapping, s.mapText, s.mapDigest = m, string(document), sha256.Sum256(document)
}
