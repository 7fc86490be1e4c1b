package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"oriel/cmd/internal/exit"
	"oriel/schemas/event"
	"oriel/schemas/mapping"
	"oriel/schemas/table"
)

// tableOptions has the flags of `oriel produce` that map rows of a CSV file to events.
type tableOptions struct {
	file      string
	delimiter string
	mapFile   string
	mapping   table.Mapping
}

// mappingFlags lists the flags that --map replaces.
var mappingFlags = []string{"where", "label", "feature", "member", "partition-by", "key", "sort"}

func (o *tableOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.file, "csv", "", "CSV file; its first line names the columns")
	f.StringVar(&o.delimiter, "delimiter", "", "character between the cells of a row; a comma when empty")
	f.StringSliceVar(&o.mapping.Missing, "missing", nil, "texts of cells that have no value, such as `NA`; an empty cell never has one")
	f.StringVar(&o.mapFile, "map", "", "JSON file with the mapping, in place of the flags below")
	f.StringVar(&o.mapping.Where, "where", "", "rows to keep, as a condition: a column, one of = != > >= < <=, and a constant")
	f.StringVar(&o.mapping.Label, "label", "", "label: a comparison, or a column of numbers")
	f.StringArrayVar(&o.mapping.Features, "feature", nil, "feature: a column (text), or column:number; a missing value is an absent feature")
	f.StringArrayVar(&o.mapping.Members, "member", nil, "`MEMBER=COLUMN` of an operator whose events have no features and label, such as aggregate; MEMBER=COLUMN,COLUMN,… for a dense vector")
	f.StringVar(&o.mapping.PartitionBy, "partition-by", "", "column that decides the partition")
	f.StringVar(&o.mapping.Key, "key", "", "column that becomes the record key")
	f.StringSliceVar(&o.mapping.Sort, "sort", nil, "columns to sort by before sending; ties keep the file's order")
}

// resolve checks the mapping that the flags give, or reads a mapping from a file. It calls body only if the flags map
// members, or if members must be mapped because events of the operator have no features and label.
func (o *tableOptions) resolve(
	environ []string, body func(environ []string) (event.Body, error), members bool,
) (tableMapping, error) {
	m := tableMapping{o.mapping}
	if o.mapFile != "" {
		b, err := os.ReadFile(o.mapFile)
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
	if o.delimiter != "" {
		comma, size := utf8.DecodeRuneInString(o.delimiter)
		if size != len(o.delimiter) {
			return m, exit.WrongUse("--delimiter: not one character")
		}
		m.Comma = comma
	}
	m.Whole = valueIn(environ, "ORIEL_MAP") != ""
	if m.Whole && o.mapFile != "" {
		return m, exit.WrongUse("--map: ORIEL_MAP says where the members of events stand")
	}
	if members || m.hasMembers() {
		var err error
		if m.Body, err = body(environ); err != nil {
			return m, err
		}
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

// tableMapping reads the records of a CSV file.
type tableMapping struct{ table.Mapping }

// hasMembers reports whether members of the configured operator's events are mapped.
func (m tableMapping) hasMembers() bool {
	return len(m.Members) > 0 || m.Document != nil && len(m.Document.Members) > 0
}

// partitions reports whether a column decides the partition.
func (m tableMapping) partitions() bool {
	return m.PartitionBy != "" || m.Document != nil && m.Document.Rows.PartitionBy != ""
}

func (m tableMapping) each(in io.Reader, f func(outgoing) error) error {
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
		e := outgoing{key: row.Key, value: row.Event}
		if m.partitions() {
			e.place = []byte(row.Partition)
		}
		if err := f(e); err != nil {
			return err
		}
	}
}
