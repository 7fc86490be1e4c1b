package numbers

import (
	"io"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// table is a parquet.Group whose columns have an order. A Group alone sorts its columns by name.
type table struct {
	parquet.Group
	order []string
}

// Fields returns the columns in their order.
func (t table) Fields() []parquet.Field {
	fields := t.Group.Fields()
	slices.SortFunc(fields, func(a, b parquet.Field) int {
		return slices.Index(t.order, a.Name()) - slices.Index(t.order, b.Name())
	})
	return fields
}

// writeParquet writes one row group with the columns of the other formats, in their order. Times are in ms since 1970,
// UTC. Unknown numbers are null. It writes values with their levels, because the writer of Go values takes every zero
// in an optional column for null.
func writeParquet(w io.Writer, dimensions []string, rows []Row) error {
	at, number := parquet.Timestamp(parquet.Millisecond), parquet.Optional(parquet.Leaf(parquet.DoubleType))
	columns := table{parquet.Group{
		"start": at, "end": at, "statistic": parquet.String(), "value": number, "low": number, "high": number,
		"deviation": number, "steps": parquet.Uint(64), "note": parquet.Optional(parquet.String()),
	}, header(dimensions)}
	for i := range dimensions {
		columns.Group[columns.order[2+i]] = parquet.String()
	}
	out := parquet.NewGenericWriter[any](w, parquet.NewSchema("numbers", columns))
	var row parquet.Row
	required := func(v parquet.Value) { row = append(row, v.Level(0, 0, len(row))) }
	optional := func(v parquet.Value, known bool) {
		if known {
			row = append(row, v.Level(0, 1, len(row)))
		} else {
			row = append(row, parquet.NullValue().Level(0, 0, len(row)))
		}
	}
	for _, r := range rows {
		row = row[:0]
		required(parquet.Int64Value(r.Start.UnixMilli()))
		required(parquet.Int64Value(r.End.UnixMilli()))
		for _, place := range r.Places {
			required(parquet.ByteArrayValue([]byte(place)))
		}
		required(parquet.ByteArrayValue([]byte(r.Statistic)))
		for _, x := range []float64{r.Value, r.Low, r.High, r.Deviation} {
			optional(parquet.DoubleValue(x), !math.IsNaN(x))
		}
		required(parquet.Int64Value(int64(r.Steps)))
		optional(parquet.ByteArrayValue([]byte(r.note())), r.note() != "")
		if _, err := out.WriteRows([]parquet.Row{row}); err != nil {
			return err
		}
	}
	return out.Close()
}
