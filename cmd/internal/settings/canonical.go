package settings

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"oriel/state"
)

// mostText is the largest list or mapping whose text a deployment stores, bytes. A larger one is stored as a digest
// alone.
const mostText = 16 << 10

// texts returns the lists and the mapping, which Canonical has as digests, so that a difference can be shown.
func (s Settings) texts() (texts string) {
	lists := s.values.Lists()
	if s.mapText != "" {
		lists["MAP"] = s.mapText
	}
	for _, name := range slices.Sorted(maps.Keys(lists)) {
		if len(lists[name]) <= mostText {
			texts = state.AppendText(texts, name, lists[name])
		}
	}
	return texts
}

// Canonical returns the configuration text: sorted lines NAME=value of every setting that decides bytes. These are the
// settings that all operators share (row.frozen) and the settings of the chosen operator. STREAM_KEYS is always empty.
func (s Settings) Canonical() string {
	lines := append(s.values.Canonical(), "STREAM_KEYS=")
	for _, r := range s.rows() {
		if line := r.line(); line != "" {
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}

// frozenSchema returns the digest of ORIEL_SCHEMA_FILE in the canonical configuration, or nil.
func (s Settings) frozenSchema() any {
	if s.schema == nil {
		return nil
	}
	return fmt.Sprintf("sha256:%x", s.schema.Digest)
}

// frozenMessage returns the message type of records in the canonical configuration, or nil.
func (s Settings) frozenMessage() any {
	if s.schema != nil {
		return only(s.schema.Message != "", s.schema.Message)
	}
	return only(s.fromRegistry() && s.SchemaMessage != "", s.SchemaMessage)
}

// frozenIDs returns the schema ids of records in the canonical configuration, each with the digest of its schema, or
// nil.
func (s Settings) frozenIDs() any {
	var ids []string
	for _, known := range s.schemaIDs {
		ids = append(ids, fmt.Sprintf("%d=sha256:%x", known.id, known.schema.Digest))
	}
	return only(ids != nil, strings.Join(ids, ","))
}
