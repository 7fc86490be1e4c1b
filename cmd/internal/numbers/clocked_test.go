package numbers_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/numbers"
	"oriel/cmd/internal/numbers/clock"
	"oriel/cmd/internal/numbers/laplace"
)

// clocked returns names of two cells, and decisions of steps by the clock from number `first` on, with the counts of
// the two cells.
func clocked(t *testing.T, mechanism string, seconds, first int64, counts ...[2]int) (*numbers.Names, []string) {
	t.Helper()
	names, err := numbers.ParseNames([]byte(`{"cells":["a=x","a=y"],"statistics":["count"],"emit_every":1,` +
		`"views":[{"memory":0,"of":"the events of the step"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for i, n := range counts {
		k := first + int64(i)
		lines = append(lines, fmt.Sprintf(`{"stream":"all","incarnation":"ab0100000000000000000000000000ff","index":%d,"step":%[1]d,`+
			`"decision":[%d,%d],"mechanism":%q,"window":1,"batch":0,"epsilon":1,"delta":0,"adjacency":"add-remove","unit":"event",`+
			`"count_deviation":[1.3570144],"seconds":%d,"time":%d}`, k, n[0], n[1], mechanism, seconds, (k+1)*seconds*1000))
	}
	return names, lines
}

// TestStepsByTheClockAreInTheIntervalInWhichTheyLie adds up two hours of ten-minute steps, of which the last one ends
// with its hour, an empty hour and an hour with a decision missing.
func TestStepsByTheClockAreInTheIntervalInWhichTheyLie(t *testing.T) {
	counts := make([][2]int, 4*6)
	for i := range 12 {
		counts[i] = [2]int{i, 100 * i}
	}
	names, lines := clocked(t, "once-gaussian", 600, 6*490000, counts...)
	lines = append(lines[:20], lines[21:]...)
	add := func(by clock.Clock) (*numbers.Collector, error) {
		c, err := numbers.NewCollector(names, by)
		if err != nil {
			t.Fatal(err)
		}
		return c, numbers.AddLines(c, strings.NewReader(strings.Join(lines, "\n")))
	}
	c, err := add(clock.Clock{Every: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	rows := rowsOf(t, c, numbers.Query{By: []string{}})
	for i, want := range []struct {
		value float64
		steps uint64
	}{{101 * 15, 6}, {101 * 51, 6}, {0, 6}, {0, 5}} {
		start := time.Unix(490000*3600, 0).Add(time.Duration(i) * time.Hour)
		r := rows[i]
		if !r.Start.Equal(start) || r.Value != want.value || r.Steps != want.steps || (r.Low < 0) == (i < 2) {
			t.Errorf("hour %d of %d: %+v, want %+v", i, len(rows), rows[i], want)
		}
	}
	var out bytes.Buffer
	if err := numbers.Write(&out, "table", nil, rows); err != nil || strings.Count(out.String(), "5 of 6 steps") != 1 ||
		strings.Count(out.String(), "steps") != 1 {
		t.Errorf("%v: %s", err, &out)
	}
	rows = rowsOf(t, c, numbers.Query{By: []string{}, Last: 2 * time.Hour})
	if len(rows) != 2 || rows[0].Start.Unix() != 490002*3600 {
		t.Errorf("last two hours: %+v", rows)
	}
	if back, odd := c.Mixed(), c.Odd(time.Hour); back != 0 || odd != nil {
		t.Errorf("times go back by %v or are odd: %q", back, odd)
	}
	all, err := add(clock.Clock{})
	if err != nil {
		t.Fatal(err)
	}
	r := rowsOf(t, all, numbers.Query{By: []string{}})[0]
	if r.Start.Unix() != 490000*3600 || r.End.Unix() != 490004*3600 || r.Of != 0 {
		t.Errorf("all: %+v", r)
	}
	if _, err := add(clock.Clock{Every: time.Hour, Offset: 5 * time.Minute}); err == nil ||
		!strings.Contains(err.Error(), "within one interval") {
		t.Errorf("hours of which steps are no part: %v", err)
	}
	lines[0] = strings.Replace(lines[0], `"seconds":600`, `"seconds":0`, 1)
	if _, err := add(clock.Clock{Every: time.Hour}); err == nil {
		t.Error("a step of no length")
	}
}

// TestDaysOfOnceLaplace adds up the hours of a day over two cells: the noise is 48 discrete draws. Counts have all
// their digits in a table. Counts of events with weights are no whole numbers, so that their noise is continuous.
func TestDaysOfOnceLaplace(t *testing.T) {
	names, lines := clocked(t, "once-laplace", 3600, 24*20000, slices.Repeat([][2]int{{1234567, 1}}, 24)...)
	day := func(lines []string) (*numbers.Collector, error) {
		c, err := numbers.NewCollector(names, clock.Clock{Every: 24 * time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		return c, numbers.AddLines(c, strings.NewReader(strings.Join(lines, "\n")))
	}
	c, err := day(lines)
	if err != nil {
		t.Fatal(err)
	}
	rows := rowsOf(t, c, numbers.Query{By: []string{}})
	below, above := laplace.Sum{{N: 48, Deviation: 1.3570144, Unit: 1}}.Whole()
	const value = 24 * 1234568
	r := rows[0]
	if r.Value != value || r.Low != value-above || r.High != value+below || above < 15 || above > 21 {
		t.Errorf("%d rows, %+v, want −%g and +%g", len(rows), r, above, below)
	}
	var out bytes.Buffer
	want := fmt.Sprintf("%d  %d to %d\n", value, value-int(above), value+int(below))
	err = numbers.Write(&out, "table", names.Dimensions(), rows)
	if err != nil || !strings.HasSuffix(out.String(), want) {
		t.Errorf("%v: %q, want %q", err, &out, want)
	}
	lines[3] = strings.Replace(lines[3], "[1234567,", "[0.5,", 1)
	if c, err = day(lines); err != nil {
		t.Fatal(err)
	}
	r = rowsOf(t, c, numbers.Query{By: []string{}})[0]
	half := (laplace.Sum{{N: 48, Deviation: 1.3570144}}).Half()
	if math.Abs(r.Value-r.Low-half) > 1e-6 || math.Abs(r.High-r.Value-half) > 1e-6 {
		t.Errorf("with weights: %+v, want ± %g", r, half)
	}
	lines[5] = strings.Replace(lines[5], "once-laplace", "once-gaussian", 1)
	if _, err := day(lines); err == nil || !strings.Contains(err.Error(), "another deployment's") {
		t.Errorf("two mechanisms: %v", err)
	}
	for _, deviation := range []string{"0", "-1", "1e300"} {
		bad := strings.Replace(lines[0], "1.3570144", deviation, 1)
		if _, err := day([]string{bad}); err == nil {
			t.Errorf("a deviation of %s", deviation)
		}
	}
}
