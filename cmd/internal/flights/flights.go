package flights

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"oriel/schemas/text"
)

// Dimension is the number of features: a constant, two harmonics of the scheduled hour, the distance, the origin, the
// carrier, and one harmonic of the month.
const Dimension = 27

// Origins are New York's airports in the order of their partitions.
var Origins = []string{"EWR", "JFK", "LGA"}

// Carriers lists the airlines.
var Carriers = []string{"9E", "AA", "AS", "B6", "DL", "EV", "F9", "FL", "HA", "MQ", "OO", "UA", "US", "VX", "WN", "YV"}

// constant is the value of the first feature before all features are scaled to norm 1; the others are at most 1 then.
// `oriel plan` explains its size.
const constant = 3

// Flight is one flight.
type Flight struct {
	Origin   int     // index in Origins
	Carrier  int     // index in Carriers
	Delay    float64 // delay of the arrival, minutes
	Features [Dimension]float64
	Late     bool // the arrival was more than 15 minutes late
}

// Read returns all flights of a CSV file that have an arrival delay, in the file's order. The header names the columns.
func Read(r io.Reader) ([]Flight, error) {
	rows := csv.NewReader(r)
	rows.ReuseRecord = true
	header, err := rows.Read()
	if err != nil {
		return nil, fmt.Errorf("flights: header: %w", err)
	}
	columns := map[string]int{}
	for i, name := range header {
		columns[name] = i
	}
	for _, name := range []string{"month", "hour", "carrier", "origin", "distance", "arr_delay"} {
		if _, ok := columns[name]; !ok {
			return nil, fmt.Errorf("flights: column %q: missing", name)
		}
	}
	var all []Flight
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("flights: %w", err)
		}
		if row[columns["arr_delay"]] == "NA" {
			continue
		}
		f, err := parse(row, columns)
		if err != nil {
			line, _ := rows.FieldPos(0)
			return nil, fmt.Errorf("flights: line %d: %w", line, err)
		}
		all = append(all, f)
	}
}

func parse(row []string, columns map[string]int) (Flight, error) {
	var errs []error
	number := func(name string) float64 {
		v, err := strconv.ParseFloat(row[columns[name]], 64)
		if err != nil {
			errs = append(errs, fmt.Errorf("column %q: not a number", name))
		}
		return v
	}
	index := func(name string, values []string) int {
		i := slices.Index(values, row[columns[name]])
		if i < 0 {
			errs = append(errs, fmt.Errorf("column %q: unknown value", name))
			return 0
		}
		return i
	}
	f := Flight{Origin: index("origin", Origins), Carrier: index("carrier", Carriers), Delay: number("arr_delay")}
	f.Late = f.Delay > 15
	x := f.Features[:0]
	hour, month := 2*math.Pi*number("hour")/24, 2*math.Pi*number("month")/12
	x = append(x, constant, math.Sin(hour), math.Cos(hour), math.Sin(2*hour), math.Cos(2*hour), number("distance")/2500)
	x = x[:len(x)+len(Origins)+len(Carriers)]
	x[6+f.Origin] = 1
	x[6+len(Origins)+f.Carrier] = 1
	x = append(x, math.Sin(month), math.Cos(month))
	norm := 0.0
	for _, v := range x {
		norm += v * v
	}
	for i := range x {
		x[i] /= math.Sqrt(norm)
	}
	return f, errors.Join(errs...)
}

// Label returns 1 for a late flight and −1 for any other.
func (f *Flight) Label() float64 {
	if f.Late {
		return 1
	}
	return -1
}

// AppendEvent appends the flight's event in JSON.
func (f *Flight) AppendEvent(dst []byte) []byte {
	dst = append(dst, `{"features":[`...)
	for i, v := range f.Features {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = text.AppendFloat(dst, v)
	}
	return append(strconv.AppendInt(append(dst, `],"label":`...), int64(f.Label()), 10), '}')
}
