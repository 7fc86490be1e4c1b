package mapping

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // time zones for machines without a zone database

	"oriel/schemas/event"
	"oriel/schemas/text"
)

// rules lists POSIX rules of zones, with the year since which they have not changed; the documentation lists the same
// rules by name.
var rules = []struct {
	rule, name string
	since      int
}{
	{"UTC", "UTC", 1},
	{"+05:45", "Asia/Kathmandu", 1990},
	{"IST-5:30", "Asia/Kolkata", 1950},
	{"CET-1CEST,M3.5.0,M10.5.0/3", "Europe/Berlin", 1997},
	{"EST5EDT,M3.2.0,M11.1.0", "America/New_York", 2008},
	{"NST3:30NDT,M3.2.0,M11.1.0", "America/St_Johns", 2012},
	{"AEST-10AEDT,M10.1.0,M4.1.0/3", "Australia/Sydney", 2009},
	{"<+1245>-12:45<+1345>,M9.5.0/2:45,M4.1.0/3:45", "Pacific/Chatham", 2009},
	{"IST-2IDT,M3.4.4/26,M10.5.0", "Asia/Jerusalem", 2014},
	{"IST-1GMT0,M10.5.0,M3.5.0/1", "Europe/Dublin", 1997},
}

// TestZoneOfTheMachineHasNoEffect checks that without a zone hours are in UTC, for any time zone of the process.
func TestZoneOfTheMachineHasNoEffect(t *testing.T) {
	before := time.Local
	t.Cleanup(func() { time.Local = before })
	time.Local = time.FixedZone("", 5*3600+45*60)
	const late = 23 * 3600
	for _, v := range []Value{{Kind: Time, Seconds: late}, {Kind: Text, Text: []byte("1970-01-01T23:00")}} {
		if got, want := parts(t, &Clock{}, v), fmt.Sprint(23, 4, 1, 1, late); got != want {
			t.Errorf("%v: %s, want %s", v.Kind, got, want)
		}
	}
}

// TestPOSIXRulesMatchTheZoneDatabase compares each rule with package time for the zone that has it.
func TestPOSIXRulesMatchTheZoneDatabase(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 29))
	for _, r := range rules {
		place, err := time.LoadLocation(r.name)
		if err != nil {
			t.Fatal(err)
		}
		var c Clock
		if err := c.setZone(r.rule); err != nil {
			t.Fatal(err)
		}
		for range 3000 {
			first := time.Date(r.since, 1, 2, 0, 0, 0, 0, time.UTC).Unix()
			utc := first + rng.Int64N(time.Date(2037, 1, 1, 0, 0, 0, 0, time.UTC).Unix()-first)
			if rng.IntN(2) == 0 { // half of the times are near a change of the offset
				_, ends := time.Unix(utc, 0).In(place).ZoneBounds()
				if !ends.IsZero() && ends.Year() < 2037 {
					utc = ends.Unix() - 2 + rng.Int64N(4)
				}
			}
			at := time.Unix(utc, 0).In(place)
			want := fmt.Sprint(at.Hour(), int(at.Weekday()+6)%7+1, at.Day(), int(at.Month()), utc)
			if got := parts(t, &c, Value{Kind: Time, Seconds: utc}); got != want {
				t.Fatalf("%s at %s: %s, want %s", r.rule, at, got, want)
			}
			written := at.Format("2006-01-02T15:04:05Z07:00")
			if got := parts(t, &c, Value{Kind: Text, Text: []byte(written)}); got != want {
				t.Fatalf("%s at %s: %s, want %s", r.rule, written, got, want)
			}
			local := at.Format(time.DateTime) // in the hour that occurs twice, both offsets are correct
			got := parts(t, &c, Value{Kind: Text, Text: []byte(local)})
			if !slices.Equal(strings.Fields(got)[:4], strings.Fields(want)[:4]) {
				t.Fatalf("%s at %s: %s, want %s", r.rule, local, got, want)
			}
		}
	}
}

func parts(t *testing.T, c *Clock, v Value) string {
	t.Helper()
	var all []any
	for _, as := range []As{AsHour, AsWeekday, AsDay, AsMonth, AsSeconds} {
		f, ok := c.part(&v, as)
		if !ok {
			t.Fatalf("%+v: no time", v)
		}
		all = append(all, int64(f))
	}
	return fmt.Sprintln(all...)[:len(fmt.Sprintln(all...))-1]
}

// TestSecondsAreTheNearestFloat64 checks seconds with nanoseconds near 1970, where float64s are so close that a sum of
// rounded parts would often be another one.
func TestSecondsAreTheNearestFloat64(t *testing.T) {
	r := rand.New(rand.NewPCG(43, 1))
	for range 5000 {
		v := Value{Kind: Time, Seconds: r.Int64N(8) - 4, Nanos: r.Int32N(1e9)}
		nanos := v.Seconds*1e9 + int64(v.Nanos)
		want, _ := big.NewRat(nanos, 1e9).Float64()
		if got, ok := (&Clock{}).part(&v, AsSeconds); !ok || got != want {
			t.Fatalf("%d ns: %v, want %v", nanos, got, want)
		}
	}
}

// TestSecondsOfAnInstant checks that an instant is the same in every notation, and that a text without an offset is
// local time of the zone.
func TestSecondsOfAnInstant(t *testing.T) {
	f := func(document, record string, want float64) {
		t.Helper()
		body := event.Body{Name: "x", Members: []event.Member{{Name: "at", Kind: event.KindNumber}}}
		d := newDecoder(t, `{"members":[`+document+`]}`, config(body))
		var e event.Event
		if code := d.Decode(&e, []byte(record)); code != text.OK || e.Numbers[0] != want {
			t.Errorf("%s %s: %v, %s, want %.9f", document, record, e.Numbers, d.Problem(nil, code), want)
		}
	}
	f(`"at=t:seconds"`, `{"t":"2024-05-01T12:00:00.25+02:00"}`, 1714557600.25)
	f(`"at=t:seconds"`, `{"t":"2024-05-01T10:00"}`, 1714557600)
	f(`{"name":"at","from":"t","as":"seconds","zone":"CET-1CEST,M3.5.0,M10.5.0/3"}`, `{"t":"2024-05-01 12:00"}`, 1714557600)
	f(`{"name":"at","from":"t","as":"seconds","epoch":"ms"}`, `{"t":1714557600250}`, 1714557600.25)
	f(`{"name":"at","from":"t","as":"seconds","epoch":"us"}`, `{"t":"1714557600250000"}`, 1714557600.25)
	f(`{"name":"at","from":"t","as":"seconds","epoch":"s"}`, `{"t":-0.5}`, -0.5)
	f(`{"name":"at","from":"t","as":"seconds","scale":0.5,"offset":1}`, `{"t":"1970-01-01T00:00:10Z"}`, 6)
	f(`{"name":"at","from":"t","as":"hour"}`, `{"t":"1970-01-01T07:59:60Z"}`, 8)
	f(`{"name":"at","from":"t","as":"seconds","epoch":"d"}`, `{"t":20640}`, 20640*86400)
	f(`{"name":"at","from":"t","as":"seconds","epoch":"d","zone":"-02:00"}`, `{"t":"20640"}`, 20640*86400+7200)
}
