package submodular

import (
	"math"
	"strconv"
	"strings"

	"oriel/schemas/text"
)

// place is a point on the earth in degrees, or a type with given values of the elements, in units of 2⁻²⁰.
type place struct {
	name                string
	latitude, longitude float64
	values              []uint32
}

// radius is the earth's radius in km.
const radius = 6371

// placeEntry reads name:latitude:longitude.
func placeEntry(text string) (canonical string, ok bool) {
	p, ok := parsePlace(text)
	if !ok {
		return "", false
	}
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	return p.name + ":" + number(p.latitude) + ":" + number(p.longitude), true
}

func parsePlace(s string) (p place, ok bool) {
	parts := strings.Split(s, ":")
	if len(parts) != 3 {
		return place{}, false
	}
	latitude, errLatitude := text.ParseNumber(parts[1])
	longitude, errLongitude := text.ParseNumber(parts[2])
	p = place{name: strings.TrimSpace(parts[0]), latitude: latitude, longitude: longitude}
	ok = errLatitude == nil && errLongitude == nil && math.Abs(latitude) <= 90 && math.Abs(longitude) <= 360
	return p, ok && isName(p.name)
}

// typeEntry reads name:value:value:…
func typeEntry(text string) (canonical string, ok bool) {
	p, ok := parseType(text)
	if !ok {
		return "", false
	}
	canonical = p.name
	for _, v := range p.values {
		canonical += ":" + strconv.FormatFloat(float64(v)/unit, 'g', -1, 64)
	}
	return canonical, true
}

func parseType(s string) (p place, ok bool) {
	parts := strings.Split(s, ":")
	p.name = strings.TrimSpace(parts[0])
	for _, part := range parts[1:] {
		v, err := text.ParseNumber(part)
		if err != nil || !(v >= 0 && v <= 1) {
			return place{}, false
		}
		p.values = append(p.values, uint32(math.Round(unit*v)))
	}
	return p, len(p.values) >= 2 && len(p.values) <= maxElements && isName(p.name)
}

// isName reports whether name can be the name of a place in decisions, where commas separate names.
func isName(name string) bool {
	return name != "" && len(name) <= 64 && !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == ',' })
}

// distance returns the great-circle distance in km, by the haversine formula, which is accurate for close points.
func distance(a, b place) float64 {
	rad := math.Pi / 180
	x, y := math.Sin((a.latitude-b.latitude)*rad/2), math.Sin((a.longitude-b.longitude)*rad/2)
	h := x*x + math.Cos(a.latitude*rad)*math.Cos(b.latitude*rad)*y*y
	return 2 * radius * math.Asin(math.Sqrt(min(1, h)))
}

// values returns the value of each element to each type, in units of 2⁻²⁰. A type's values are listed. For places the
// value is 1 − distance/catchment, and 0 beyond the catchment.
func values(places []place, catchment float64) []uint32 {
	table := make([]uint32, 0, len(places)*len(places))
	for _, from := range places {
		if from.values != nil {
			table = append(table, from.values...)
			continue
		}
		for _, to := range places {
			table = append(table, uint32(math.Round(unit*max(0, 1-distance(from, to)/catchment))))
		}
	}
	return table
}

// table returns the values of each element to each type, in [0, 1].
func (c operator) table() (table []float64) {
	for _, v := range values(c.types, c.catchment) {
		table = append(table, float64(v)/unit)
	}
	return table
}
