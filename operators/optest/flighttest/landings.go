package flighttest

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"testing"
)

// Landings holds flights of New York in 2013 that arrived, in the order of their schedule, with their destinations.
type Landings struct {
	Names               []string  // names of the airports, ascending
	Latitude, Longitude []float64 // position of each airport in degrees
	Destinations        []int     // destination of each flight, an index of Names
}

// supplement holds the positions of airports that are missing from the table of airports. They are from public
// aeronautical charts.
var supplement = map[string][2]float64{
	"BQN": {18.4949, -67.1294}, "PSE": {18.0083, -66.5630}, "SJU": {18.4394, -66.0018}, "STT": {18.3373, -64.9734},
}

// ReadLandings reads both tables.
func ReadLandings(tb testing.TB, flights, airports string) (l Landings) {
	tb.Helper()
	known := maps.Clone(supplement)
	number := func(text string) float64 {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			tb.Fatal(err)
		}
		return x
	}
	EachRow(tb, airports, func(column func(name string) string) {
		known[column("faa")] = [2]float64{number(column("lat")), number(column("lon"))}
	})
	var destinations []string
	EachFlight(tb, flights, func(column func(name string) string) { destinations = append(destinations, column("dest")) })
	l.Names = slices.Compact(slices.Sorted(slices.Values(destinations)))
	for _, name := range l.Names {
		at, is := known[name]
		if !is {
			tb.Fatalf("%s is nowhere", name)
		}
		l.Latitude, l.Longitude = append(l.Latitude, at[0]), append(l.Longitude, at[1])
	}
	for _, destination := range destinations {
		at, _ := slices.BinarySearch(l.Names, destination)
		l.Destinations = append(l.Destinations, at)
	}
	return l
}

// Kilometres returns the great-circle distance of two airports on a sphere, from the angle between two directions.
func (l Landings) Kilometres(i, j int) float64 {
	const radius, degree = 6371, math.Pi / 180
	a, b := l.Latitude[i]*degree, l.Latitude[j]*degree
	turn := (l.Longitude[i] - l.Longitude[j]) * degree
	x := math.Cos(a)*math.Sin(b) - math.Sin(a)*math.Cos(b)*math.Cos(turn)
	y := math.Cos(b) * math.Sin(turn)
	return radius * math.Atan2(math.Hypot(x, y), math.Sin(a)*math.Sin(b)+math.Cos(a)*math.Cos(b)*math.Cos(turn))
}
