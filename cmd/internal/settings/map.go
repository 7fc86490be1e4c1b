package settings

import (
	"bytes"
	"crypto/sha256"
	"strings"

	"oriel/operators"
	"oriel/schemas/mapping"
)

// mostMap bounds the document of ORIEL_MAP, bytes.
const mostMap = 1 << 20

// The values of ORIEL_UNKNOWN.
const (
	unknownIgnored = "ignore"
	unknownNull    = "null"
)

// Mapping is the document of ORIEL_MAP, or what stands for one where a schema has the members of events under their own
// names; nil: events have the operator's own form.
func (s Settings) Mapping() *mapping.Mapping {
	if s.mapping == nil && s.schema != nil {
		return mapping.OwnForm(s.events.Body, s.schema.At)
	}
	return s.mapping
}

// KindAt is the kind that a schema file gives all values at a path; mapping.Absent where it does not, or there is none.
func (s Settings) KindAt(p mapping.Path) mapping.Kind {
	if s.schema == nil {
		return mapping.Absent
	}
	return s.schema.KindAt(p)
}

// passesUnknown says whether members that nothing asks for are passed over.
func (s Settings) passesUnknown() bool {
	if s.Unknown == "" {
		return s.mapping != nil
	}
	return s.Unknown == unknownIgnored
}

// readMap reads the document of ORIEL_MAP, or the file that has it. Its digest is that of its bytes without white space
// around them, so that both ways are one configuration.
func (s *Settings) readMap(p *operators.Problems) {
	if s.Unknown != "" {
		p.OneOf("UNKNOWN", s.Unknown, unknownIgnored, unknownNull)
	}
	document := []byte(strings.TrimSpace(s.Map))
	if len(document) == 0 {
		return
	}
	if document[0] != '{' {
		b, err := readFile(s.Map)
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
		p.Add(mapping.Prefixed(prefix+"MAP", err))
		return
	}
	s.mapping, s.mapDigest = m, sha256.Sum256(document)
}
