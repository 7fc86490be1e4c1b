// Package records has the settings of records and decisions: format and framing of records, schema files, the schema
// registry, the mapping from records to events (ORIEL_MAP), features, and the encoding of decisions. Read reads the
// files that they name, and Decode makes the configuration of the decoder of events. The table of the settings
// (cmd/internal/settings/rows.go) says how each setting is written.
package records
