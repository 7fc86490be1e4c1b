package main

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/spf13/pflag"

	"oriel/pipeline/kafka"
	"oriel/schemas/table"
)

// tableOptions are the flags of `oriel produce` that map rows of a CSV file to events.
type tableOptions struct {
	file    string
	mapFile string
	mapping table.Mapping
}

// mappingFlags are the flags that --map stands in place of.
var mappingFlags = []string{"where", "label", "feature", "partition-by", "key", "sort"}

func (o *tableOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.file, "csv", "", "CSV file; its first line names the columns")
	f.StringVar(&o.mapFile, "map", "", "JSON file with the mapping, in place of the flags below")
	f.StringVar(&o.mapping.Where, "where", "", "rows to keep: a column, one of = != > >= < <=, and a constant")
	f.StringVar(&o.mapping.Label, "label", "", "label: a comparison, or a column of numbers")
	f.StringArrayVar(&o.mapping.Features, "feature", nil, "a column (text), or column:number; a missing value is an absent feature")
	f.StringVar(&o.mapping.PartitionBy, "partition-by", "", "column that decides the partition")
	f.StringVar(&o.mapping.Key, "key", "", "column that becomes the record key")
	f.StringSliceVar(&o.mapping.Sort, "sort", nil, "columns to sort by before sending; ties keep the file's order")
}

// send maps every row and sends it to the partition of its --partition-by value, to the fixed one, or in turn.
func (o *tableOptions) send(ctx context.Context, in io.Reader, out *sender) error {
	mapping := o.mapping
	if o.mapFile != "" {
		b, err := os.ReadFile(o.mapFile)
		if err != nil {
			return err
		}
		if mapping, err = table.ParseMapping(b); err != nil {
			return err
		}
	}
	rows, err := mapping.Open(in)
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
		p := out.fixed
		if p < 0 && mapping.PartitionBy != "" {
			p = kafka.PartitionOf([]byte(row.Partition), len(out.builders))
		} else {
			p = out.spread()
		}
		if err := out.send(ctx, p, row.Key, row.Event); err != nil {
			return err
		}
	}
}
