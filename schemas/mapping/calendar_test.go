package mapping_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // time zones for machines without a zone database

	"google.golang.org/protobuf/encoding/protowire"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/schemas/avro"
	"oriel/schemas/event"
	"oriel/schemas/mapping"
	"oriel/schemas/protobuf"
	"oriel/schemas/table"
	"oriel/schemas/text"
)

// places are zones as a mapping names them, each with the place whose clocks follow the rule from the year 2015 on.
var places = [][2]string{
	{"UTC", "UTC"},
	{"+05:45", "Asia/Kathmandu"},
	{"<-03>3", "America/Fortaleza"},
	{"CET-1CEST,M3.5.0,M10.5.0/3", "Europe/Berlin"},
	{"EST5EDT,M3.2.0,M11.1.0", "America/New_York"},
	{"AEST-10AEDT,M10.1.0,M4.1.0/3", "Australia/Sydney"},
	{"<+1245>-12:45<+1345>,M9.5.0/2:45,M4.1.0/3:45", "Pacific/Chatham"},
}

// written is a time in one encoding.
type written struct {
	name   string
	format string // json, csv, avro or protobuf
	typ    string // type in the schema; empty: none
	epoch  string
	record []byte
}

// instants returns all notations of an instant: wall is the time on its own clock.
func instants(wall time.Time) (all []written) {
	all = texts("instant", wall.Format("2006-01-02T15:04:05.999999999Z07:00"))
	unix, nanos := wall.Unix(), int64(wall.Nanosecond())
	for _, u := range []struct {
		epoch, typ string
		perSecond  int64
	}{
		{"s", "", 1}, {"ms", "timestamp-millis", 1e3}, {"us", "timestamp-micros", 1e6}, {"ns", "timestamp-nanos", 1e9},
	} {
		if nanos%(1e9/u.perSecond) != 0 || unix > 9e9 || unix < -9e9 { // a whole number of the unit, in an int64
			continue
		}
		count := unix*u.perSecond + nanos/(1e9/u.perSecond)
		if u.typ != "" {
			all = append(all, inAvroLong(u.typ, count))
		}
		if int64(float64(count)) == count { // a float64 has all digits
			all = append(all, numbers(u.epoch, count)...)
		}
	}
	stamp := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(unix))
	stamp = protowire.AppendVarint(protowire.AppendTag(stamp, 2, protowire.VarintType), uint64(nanos))
	record := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), stamp)
	return append(all, written{"a Timestamp", "protobuf", "google.protobuf.Timestamp", "", record})
}

// clocks returns all notations of a time that a clock shows, without an offset. The time is given by UTC.
func clocks(wall time.Time) (all []written) {
	all = texts("clock", wall.Format("2006-01-02T15:04:05.999999999"))
	unix, nanos := wall.Unix(), int64(wall.Nanosecond())
	for unit, perSecond := range map[string]int64{"millis": 1e3, "micros": 1e6, "nanos": 1e9} {
		if nanos%(1e9/perSecond) == 0 && unix < 9e9 && unix > -9e9 {
			all = append(all, inAvroLong("local-timestamp-"+unit, unix*perSecond+nanos/(1e9/perSecond)))
		}
	}
	return all
}

// dates returns all notations of a date.
func dates(day time.Time) []written {
	count := day.Unix() / 86400
	all := append(texts("date", day.Format(time.DateOnly)), clocks(day)...)
	all = append(all, numbers("d", count)...)
	var parts []byte
	for k, part := range []int{day.Year(), int(day.Month()), day.Day()} {
		parts = protowire.AppendVarint(protowire.AppendTag(parts, protowire.Number(k+1), protowire.VarintType), uint64(part))
	}
	all = append(all, written{
		"a Date", "protobuf", "google.type.Date", "",
		protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), parts),
	})
	return append(all, written{
		"a date", "avro", `{"type":"int","logicalType":"date"}`, "", binary.AppendVarint(nil, count),
	})
}

func texts(name, text string) []written {
	quoted, _ := json.Marshal(map[string]string{"t": text})
	return []written{
		{name + " as JSON", "json", "", "", quoted},
		{name + " as CSV", "csv", "", "", []byte("t\n" + text + "\n")},
		{name + " as an Avro string", "avro", `"string"`, "", append(binary.AppendVarint(nil, int64(len(text))), text...)},
		{
			name + " as a Protobuf string", "protobuf", "string", "",
			protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), text),
		},
	}
}

func numbers(epoch string, count int64) []written {
	text := strconv.FormatInt(count, 10)
	return []written{
		{"JSON number, " + epoch, "json", "", epoch, []byte(`{"t":` + text + `}`)},
		{"JSON numeral, " + epoch, "json", "", epoch, []byte(`{"t":"` + text + `"}`)},
		{"CSV numeral, " + epoch, "csv", "", epoch, []byte("t\n" + text + "\n")},
		{"Avro long, " + epoch, "avro", `"long"`, epoch, binary.AppendVarint(nil, count)},
		{
			"Protobuf int64, " + epoch, "protobuf", "int64", epoch,
			protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(count)),
		},
	}
}

func inAvroLong(logical string, count int64) written {
	return written{logical, "avro", `{"type":"long","logicalType":"` + logical + `"}`, "", binary.AppendVarint(nil, count)}
}

// event returns the event of a written time, in the operator's own form.
func (w written) event(t *testing.T, as, zone string) string {
	t.Helper()
	item := map[string]string{"name": "at", "from": "/t", "as": as, "zone": zone}
	if w.epoch != "" {
		item["epoch"] = w.epoch
	}
	document, _ := json.Marshal(map[string]any{"members": []any{item}})
	m, err := mapping.Parse(document)
	if err != nil {
		t.Fatal(err)
	}
	body := event.Body{Name: "x", Members: []event.Member{{Name: "at", Kind: event.KindNumber}}}
	open := mapping.JSON(event.UnknownIsFree)
	switch w.format {
	case "csv":
		rows, err := table.Mapping{Document: m, Body: body}.Open(strings.NewReader(string(w.record)))
		if err != nil {
			t.Fatal(err)
		}
		row, err := rows.Next()
		if err != nil {
			return err.Error()
		}
		return string(row.Event)
	case "avro":
		schema, err := avro.Parse([]byte(`{"type":"record","name":"R","fields":[{"name":"t","type":` + w.typ + `}]}`))
		if err != nil {
			t.Fatal(err)
		}
		open = schema.Open
	case "protobuf":
		schema, err := protobuf.Read("r.proto", "R", func(name string) ([]byte, error) {
			switch name {
			case "r.proto":
				return []byte(`syntax = "proto3"; import "google/protobuf/timestamp.proto"; import "google/type/date.proto";
					message R { ` + w.typ + ` t = 1; }`), nil
			case "google/type/date.proto":
				return []byte(`syntax = "proto3"; package google.type;
					message Date { int32 year = 1; int32 month = 2; int32 day = 3; }`), nil
			}
			return nil, fs.ErrNotExist
		})
		if err != nil {
			t.Fatal(err)
		}
		open = schema.Open
	}
	decoder, err := m.Opener(open)(event.Config{
		Body: body, MaxBytes: 1 << 10, Features: event.FeatureConfig{Norm: "none"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var e event.Event
	if code := decoder.Decode(&e, w.record); code != text.OK {
		return decoder.Problem(w.record, code)
	}
	return string(decoder.(*mapping.Decoder).AppendOwn(nil))
}

// seconds returns the float64 nearest to the seconds since 1970 of an instant.
func seconds(at time.Time) float64 {
	nanos := new(big.Int).Mul(big.NewInt(at.Unix()), big.NewInt(1e9))
	f, _ := new(big.Rat).SetFrac(nanos.Add(nanos, big.NewInt(int64(at.Nanosecond()))), big.NewInt(1e9)).Float64()
	return f
}

// want returns the part of a time by package time. For a clock's time that a zone shows never or twice, it cannot tell
// the seconds, and returns "".
func want(at time.Time, local bool, as string, place *time.Location) string {
	if !local {
		at = at.In(place)
	} else if as == "seconds" {
		var seen []time.Time
		for hour := -15; hour <= 15; hour++ {
			for _, minutes := range []int{0, 15, 30, 45} { // offsets of all places are multiples of a quarter of an hour
				utc := at.Add(time.Duration(60*hour+minutes) * time.Minute)
				if utc.In(place).Format(time.DateTime) == at.Format(time.DateTime) {
					seen = append(seen, utc)
				}
			}
		}
		if len(seen) != 1 {
			return ""
		}
		at = seen[0]
	}
	number := map[string]float64{
		"hour": float64(at.Hour()), "weekday": float64((at.Weekday()+6)%7 + 1), "day": float64(at.Day()),
		"month": float64(at.Month()), "seconds": seconds(at),
	}[as]
	return `{"at":` + string(text.AppendFloat(nil, number)) + `}`
}

// TestATimeIsTheSameInEveryEncoding draws instants, dates and times of a clock, in all zones and all parts. Each
// notation of each encoding must make the event that package time gives, to the byte: a date, and a time without an
// offset, are of the zone's clock, and are never moved as an instant is.
func TestATimeIsTheSameInEveryEncoding(t *testing.T) {
	r := rand.New(rand.NewPCG(43, 7))
	events, unclear := 0, 0
	for range tiertest.Runs(60, 6000) {
		zone := places[r.IntN(len(places))]
		place, err := time.LoadLocation(zone[1])
		if err != nil {
			t.Fatal(err)
		}
		first := time.Date(2015, 1, 2, 0, 0, 0, 0, time.UTC)
		at := first.Add(time.Duration(r.Int64N(int64(21 * 365 * 24 * time.Hour))))
		if r.IntN(3) == 0 { // near a change of the offset
			if _, ends := at.In(place).ZoneBounds(); !ends.IsZero() && ends.Year() < 2036 {
				at = ends.Add(time.Duration(r.Int64N(int64(8*time.Hour))) - 4*time.Hour).UTC()
			}
		}
		if zone[1] == "UTC" && r.IntN(2) == 0 { // any year
			at = time.Unix(r.Int64N(253402300800+62135596800)-62135596800, r.Int64N(1e9)).UTC()
		}
		at = at.Truncate([]time.Duration{1, time.Microsecond, time.Millisecond, time.Second, time.Hour}[r.IntN(5)])
		all, local := []written(nil), true
		switch r.IntN(3) {
		case 0:
			all, local = instants(at.In(time.FixedZone("", 900*(r.IntN(97)-48)))), false
		case 1:
			all = clocks(at)
		default:
			at = at.Truncate(24 * time.Hour)
			all = dates(at)
		}
		for _, as := range []string{"hour", "weekday", "day", "month", "seconds"} {
			want := want(at, local, as, place)
			for _, w := range all {
				if w.epoch == "d" && as == "hour" {
					continue // refused
				}
				got := w.event(t, as, zone[0])
				if want == "" {
					want = got
					unclear++
				}
				if got != want {
					t.Fatalf("%s of %s (local: %v) in %s, %s: %s, want %s", as, at, local, zone[0], w.name, got, want)
				}
				events++
			}
		}
	}
	if events < 1500 || unclear > events/20 {
		t.Errorf("%d events, of which %d are not known to package time: too few to tell", events, unclear)
	}
}

// TestATimeAtTheEndOfASecond checks that a number of small units never rounds up to the next hour.
func TestATimeAtTheEndOfASecond(t *testing.T) {
	for _, year := range []int{1, 1969, 1970, 2026, 2200, 2260} {
		next := time.Date(year, 12, 31, 10, 0, 0, 0, time.UTC)
		for epoch, unit := range map[string]float64{"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9} {
			for step := range 4 { // numbers of float64s before the hour
				f := float64(next.Unix()) * unit
				for range step {
					f = math.Nextafter(f, math.Inf(-1))
				}
				hour := "9"
				full := new(big.Rat).Mul(new(big.Rat).SetInt64(next.Unix()), new(big.Rat).SetFloat64(unit))
				if new(big.Rat).SetFloat64(f).Cmp(full) >= 0 {
					hour = "10"
				}
				text := strconv.FormatFloat(f, 'f', -1, 64)
				w := written{epoch, "json", "", epoch, []byte(`{"t":` + text + `}`)}
				if got, want := w.event(t, "hour", "UTC"), `{"at":`+hour+`}`; got != want {
					t.Errorf("%s %s, about ten o'clock in %d: %s, want %s", text, epoch, year, got, want)
				}
			}
		}
	}
}

// TestDaysAreWholeNumbers checks that a number of days with a fraction is no date: its unit is wrong.
func TestDaysAreWholeNumbers(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		w := written{"", "json", "", "d", []byte(`{"t":` + text + `}`)}
		if got := w.event(t, "weekday", "EST5EDT,M3.2.0,M11.1.0"); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	f("20640", `{"at":1}`) // 2026-07-06, a Monday
	f("0", `{"at":4}`)
	f("-1", `{"at":3}`)
	f("2932896", `{"at":5}`) // 9999-12-31
	f("2932897", "at: unreadable_value")
	f("-719163", "at: unreadable_value")
	f("20640.5", "at: unreadable_value")
	f("1e300", "at: unreadable_value")
}

// TestMeaninglessItemsOfTimesAreRefused checks that scale and offset, which act on the part of a time, are refused
// where only another unit of the time can be meant.
func TestMeaninglessItemsOfTimesAreRefused(t *testing.T) {
	f := func(item, want string) {
		t.Helper()
		_, err := mapping.Parse([]byte(`{"members":[{"name":"x","from":"/d",` + item + `}]}`))
		if got := fmt.Sprint(err); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", item, got, want)
		}
	}
	for _, as := range []string{"hour", "weekday", "day", "month"} {
		f(`"as":"`+as+`","epoch":"s","scale":86400`, "scale and offset would change the "+as)
		f(`"as":"`+as+`","offset":1`, "epoch is one of s, ms, us, ns, d")
	}
	f(`"as":"hour","epoch":"d"`, "has no hour")
	f(`"as":"seconds","epoch":"d","scale":2`, "<nil>")
	f(`"as":"weekday","epoch":"D"`, "not one of s, ms, us, ns, d")
}

// TestAnIncompleteDateIsNoValue checks a google.type.Date of Protobuf without a year, a day or all fields, and one that
// no calendar has.
func TestAnIncompleteDateIsNoValue(t *testing.T) {
	f := func(want string, parts ...uint64) {
		t.Helper()
		var date []byte
		for k, part := range parts {
			date = protowire.AppendVarint(protowire.AppendTag(date, protowire.Number(k+1), protowire.VarintType), part)
		}
		record := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), date)
		w := written{"", "protobuf", "google.type.Date", "", record}
		if got := w.event(t, "weekday", "UTC"); !strings.HasPrefix(got, want) {
			t.Errorf("%v: %s, want %s", parts, got, want)
		}
	}
	f(`{"at":1}`, 2026, 7, 6)
	f("at: missing_member: /t is null", 0, 7, 6)
	f("at: missing_member: /t is null", 2026, 7)
	f("at: missing_member: /t is null")
	f("malformed", 2026, 13, 1)
	f("malformed", 2026, 2, 29)
	f("malformed", 1<<64-1, 2, 2) // the year −1
	f("malformed", 10000, 1, 1)
}
