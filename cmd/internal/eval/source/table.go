package source

import (
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"oriel/cmd/internal/exit"
	"oriel/pipeline/kafka/records"
	"oriel/schemas/event"
	"oriel/schemas/mapping"
	"oriel/schemas/table"
)

// Table is a CSV file whose rows a mapping turns into events, as flags describe it.
type Table struct {
	File      string
	Delimiter string
	MapFile   string
	Mapping   table.Mapping
}

// resolve checks the mapping that the flags give, or reads a mapping from a file. members says that members must be
// mapped, because events of the operator have no features and label. whole says that the mapping of the settings reads
// events from rows.
func (o Table) resolve(body event.Body, whole, members bool) (rows, error) {
	m := rows{o.Mapping}
	if o.MapFile != "" {
		b, err := os.ReadFile(o.MapFile)
		if err != nil {
			return m, fmt.Errorf("--map: %w", err)
		}
		if m.Document, err = mapping.Parse(b); err != nil {
			return m, exit.WrongUse("%w", mapping.Prefixed("--map", err))
		}
		m.Called = func(rule string) string {
			if rule == "comma" || rule == "missing" {
				return flagOf(rule)
			}
			return rule
		}
	} else {
		m.Called = flagOf
	}
	if o.Delimiter != "" {
		comma, size := utf8.DecodeRuneInString(o.Delimiter)
		if size != len(o.Delimiter) {
			return m, exit.WrongUse("--delimiter: not one character")
		}
		m.Comma = comma
	}
	m.Whole = whole
	if m.Whole && o.MapFile != "" {
		return m, exit.WrongUse("--map: ORIEL_MAP says where the members of events stand")
	}
	if members || m.hasMembers() {
		m.Body = body
	}
	if err := m.Validate(); err != nil {
		return m, exit.WrongUse("%w", err)
	}
	return m, nil
}

// flagOf returns the flag that sets a rule of the mapping.
func flagOf(rule string) string {
	switch rule {
	case "features":
		return "--feature"
	case "members":
		return "--member"
	case "partition_by":
		return "--partition-by"
	case "comma":
		return "--delimiter"
	}
	return "--" + rule
}

// rows reads the records of a CSV file.
type rows struct{ table.Mapping }

// hasMembers reports whether members of the configured operator's events are mapped.
func (m rows) hasMembers() bool {
	return len(m.Members) > 0 || m.Document != nil && len(m.Document.Members) > 0
}

// partitions reports whether a column decides the partition.
func (m rows) partitions() bool {
	return m.PartitionBy != "" || m.Document != nil && m.Document.Rows.PartitionBy != ""
}

// each calls f for each row, with the text that decides the row's partition, which is nil if there is none.
func (m rows) each(in io.Reader, f func(r records.Record, place []byte) error) error {
	rows, err := m.Open(in)
	if err != nil {
		return err
	}
	for {
		row, err := rows.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		place := row.Key
		if m.partitions() {
			place = []byte(row.Partition)
		}
		if err := f(records.Record{Key: row.Key, Value: row.Event}, place); err != nil {
			return err
		}
	}
}
