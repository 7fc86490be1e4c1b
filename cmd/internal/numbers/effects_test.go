package numbers_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/numbers"
	"oriel/cmd/internal/numbers/clock"
)

// trialNames is the descriptor of an experiment.
const trialNames = `{"cells":["variant=A","variant=B"],"statistics":["count","mean"],"views":[{"of":"all events since the start"}],` +
	`"emit_every":1,"experiment":{"arms":["A","B"],"alpha":0.05,"outcome":"paid","low":0,"high":1,"target":5000,"first_step":1,` +
	`"events_of_first_look":1000,"lift":true}}`

// looked returns a decision after a number of steps of 500 events each.
func looked(stream string, step int, at time.Time, effect float64, verdict string) string {
	stop := 1
	if step < 2 {
		stop = 0
	}
	return fmt.Sprintf(`{"stream":%q,"incarnation":"ab0100000000000000000000000000ff","index":%d,"step":%[2]d,"decision":[1,1,1,1],`+
		`"mechanism":"blt","window":8,"batch":500,"epsilon":1,"delta":0,"adjacency":"replace","unit":"event","effect":[%g],`+
		`"effect_low":[-0.5],"effect_high":[0.5],"effect_e":[2],"effect_p":[0.25],"lift":[1.5],"lift_low":[1],`+
		`"lift_high":[1.7976931348623157e308],"arm_mean":[0.25,0.375],"arm_mean_low":[0,0],"arm_mean_high":[1,1],"verdict":%q,`+
		`"stop_allowed":%d,"balance_e":1,"looks":%[2]d,"recent":0.5,"experiment":1,"experiment_step":1,"time":%[6]d}`, stream, step, effect, verdict, stop, at.UnixMilli())
}

// TestNewestEffectsAreShown checks that the rows of each hour and stream show its newest decision, without numbers
// before the first look.
func TestNewestEffectsAreShown(t *testing.T) {
	hour := func(h float64) time.Time {
		return time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(h * float64(time.Hour)))
	}
	lines := []string{
		looked("0", 1, hour(0.1), 0.1, "not shown"),
		looked("0", 2, hour(1.1), 0.125, "not shown"),
		looked("0", 3, hour(1.9), 0.25, "B better"),
		looked("1", 2, hour(1.5), 0.5, "not shown"),
		looked("0", 4, hour(3), 0.1875, "B better"),
	}
	e, err := numbers.NewEffects([]byte(trialNames), clock.Clock{Every: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if err := numbers.AddLines(e, strings.NewReader(strings.Join(lines, "\n"))); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := e.Write(&out, "csv", numbers.Query{}); err != nil {
		t.Fatal(err)
	}
	const want = `start,end,stream,events,arm,effect,effect_low,effect_high,lift,lift_low,lift_high,mean,mean_low,mean_high,e,p,verdict,stop_allowed,experiment,experiment_step
2026-03-01T00:00:00Z,2026-03-01T01:00:00Z,0,500,A,,,,,,,,,,,,not shown,false,1,1
2026-03-01T00:00:00Z,2026-03-01T01:00:00Z,0,500,B,,,,,,,,,,,,not shown,false,1,1
2026-03-01T01:00:00Z,2026-03-01T02:00:00Z,0,1500,A,,,,,,,0.25,0,1,,,B better,true,1,1
2026-03-01T01:00:00Z,2026-03-01T02:00:00Z,0,1500,B,0.25,-0.5,0.5,1.5,1,,0.375,0,1,2,0.25,B better,true,1,1
2026-03-01T01:00:00Z,2026-03-01T02:00:00Z,1,1000,A,,,,,,,0.25,0,1,,,not shown,true,1,1
2026-03-01T01:00:00Z,2026-03-01T02:00:00Z,1,1000,B,0.5,-0.5,0.5,1.5,1,,0.375,0,1,2,0.25,not shown,true,1,1
2026-03-01T03:00:00Z,2026-03-01T04:00:00Z,0,2000,A,,,,,,,0.25,0,1,,,B better,true,1,1
2026-03-01T03:00:00Z,2026-03-01T04:00:00Z,0,2000,B,0.1875,-0.5,0.5,1.5,1,,0.375,0,1,2,0.25,B better,true,1,1
`
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
	last, err := e.Rows(numbers.Query{Last: time.Hour})
	if err != nil || len(last) != 2 || last[1].Effect.Value != 0.1875 {
		t.Errorf("the last hour: %v %v", last, err)
	}
	out.Reset()
	if err := e.Write(&out, "json", numbers.Query{Last: time.Hour}); err != nil || !strings.HasSuffix(out.String(), `{"start":"2026-03-01T03:00:00Z","end":"2026-03-01T04:00:00Z",`+
		`"stream":"0","events":2000,"arm":"B","effect":0.1875,"effect_low":-0.5,"effect_high":0.5,"lift":1.5,"lift_low":1,"lift_high":null,`+
		`"mean":0.375,"mean_low":0,"mean_high":1,"e":2,"p":0.25,"verdict":"B better","stop_allowed":true,"experiment":1,"experiment_step":1}`+"\n") {
		t.Errorf("%v: %s", err, out.String())
	}
	out.Reset()
	if err := e.Write(&out, "table", numbers.Query{}); err != nil || strings.Count(out.String(), "B better") != 2 ||
		!strings.Contains(out.String(), "band at 95 %") || !strings.Contains(out.String(), "-0.5 to 0.5") {
		t.Errorf("%v: %s", err, out.String())
	}
}

// TestEffectsOfExperimentsInTurn checks an interval in which one experiment ends and the next one starts: the rows must
// show the last decision of each.
func TestEffectsOfExperimentsInTurn(t *testing.T) {
	of := func(line string, number, first int) string {
		return strings.Replace(line, `"experiment":1,"experiment_step":1`, fmt.Sprintf(`"experiment":%d,"experiment_step":%d`, number, first), 1)
	}
	at := time.Date(2026, 3, 1, 0, 10, 0, 0, time.UTC)
	e, err := numbers.NewEffects([]byte(trialNames), clock.Clock{Every: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{
		of(looked("0", 3, at, 0.25, "B better"), 1, 1), of(looked("0", 4, at, 0.5, "B better"), 1, 1),
		of(looked("0", 5, at, 0, "not shown"), 2, 5),
	}
	if err := numbers.AddLines(e, strings.NewReader(strings.Join(lines, "\n"))); err != nil {
		t.Fatal(err)
	}
	rows, err := e.Rows(numbers.Query{})
	if err != nil || len(rows) != 4 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for i, want := range []struct {
		number, first uint64
		verdict       string
	}{{1, 1, "B better"}, {2, 5, "not shown"}} {
		if r := rows[2*i+1]; r.Number != want.number || r.First != want.first || r.Verdict != want.verdict {
			t.Errorf("row %d: %+v, want %+v", i, r, want)
		}
	}
}

// TestEffectsThatAreRefused checks that Effects refuses a descriptor without an experiment, decisions of another
// deployment, and repeated decisions.
func TestEffectsThatAreRefused(t *testing.T) {
	plain, _, _ := strings.Cut(trialNames, `,"experiment"`)
	if _, err := numbers.NewEffects([]byte(plain+"}"), clock.Clock{}); err == nil || !strings.Contains(err.Error(), "ORIEL_PROPENSITIES") {
		t.Error(err)
	}
	three := strings.Replace(trialNames, `["A","B"]`, `["A","B","C"]`, 1)
	line := looked("0", 2, time.Unix(1, 0), 0.1, "not shown")
	for _, c := range []struct{ descriptor, lines, want string }{
		{three, line, "for an experiment of 3 arms"},
		{trialNames, line + "\n" + line, "step 2 behind step 2"},
		{trialNames, strings.Replace(line, `"verdict":"not shown",`, "", 1), "member verdict"},
	} {
		e, err := numbers.NewEffects([]byte(c.descriptor), clock.Clock{})
		if err == nil {
			err = numbers.AddLines(e, strings.NewReader(c.lines))
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	e, err := numbers.NewEffects([]byte(trialNames), clock.Clock{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Rows(numbers.Query{}); err == nil {
		t.Error("rows of no decision")
	}
}

// TestEffectsOfMixedTimes checks that effects warn of times that go back, as sums do.
func TestEffectsOfMixedTimes(t *testing.T) {
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	var lines []string
	for step := range 16 { // two runs of eight hours
		lines = append(lines, looked("0", step+1, start.Add(time.Duration(step%8)*time.Hour), 0.1, "not shown"))
	}
	for n, want := range map[int]time.Duration{8: 0, 16: 3 * time.Hour} { // medians of five lie two hours inside each run
		e, err := numbers.NewEffects([]byte(trialNames), clock.Clock{Every: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		if err := numbers.AddLines(e, strings.NewReader(strings.Join(lines[:n], "\n"))); err != nil {
			t.Fatal(err)
		}
		if got := e.Mixed(); got != want {
			t.Errorf("%d decisions go back by %v, want %v", n, got, want)
		}
	}
}
