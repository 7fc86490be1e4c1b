package numbers

import (
	"io"
	"math"

	"github.com/parquet-go/parquet-go"
)

// writeParquet writes one row group. Times are in ms since 1970, UTC; unknown numbers are null.
func writeParquet(w io.Writer, dimensions []string, rows []Row) error {
	fields := parquet.Group{
		"start": parquet.Timestamp(parquet.Millisecond), "end": parquet.Timestamp(parquet.Millisecond),
		"statistic": parquet.String(), "steps": parquet.Uint(64), "note": parquet.Optional(parquet.String()),
	}
	for _, name := range dimensions {
		fields[name] = parquet.String()
	}
	for _, name := range []string{"value", "low", "high", "deviation"} {
		fields[name] = parquet.Optional(parquet.Leaf(parquet.DoubleType))
	}
	schema := parquet.NewSchema("numbers", fields)
	out := parquet.NewGenericWriter[map[string]any](w, schema)
	number := func(x float64) any {
		if math.IsNaN(x) {
			return nil
		}
		return x
	}
	for _, r := range rows {
		row := map[string]any{
			"start": r.Start.UnixMilli(), "end": r.End.UnixMilli(), "statistic": r.Statistic, "steps": r.Steps,
			"value": number(r.Value), "low": number(r.Low), "high": number(r.High), "deviation": number(r.Deviation),
		}
		if note := r.note(); note != "" {
			row["note"] = note
		}
		for i, name := range dimensions {
			row[name] = r.Places[i]
		}
		if _, err := out.Write([]map[string]any{row}); err != nil {
			return err
		}
	}
	return out.Close()
}
