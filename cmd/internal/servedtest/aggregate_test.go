package servedtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/servicetest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/kafka/records"
	"oriel/schemas/decision"
	"oriel/schemas/text"
)

// TestAggregateIsServed runs aggregate over cells in each of its three modes, and kills the service
// in the middle. Decisions must be within their stated errors, the descriptor topic must name the numbers, and
// published decisions must equal a replay of the input.
func TestAggregateIsServed(t *testing.T) {
	for name, more := range map[string]map[string]string{
		"life": {
			"ORIEL_WINDOW": "lifetime", "ORIEL_MEMORY": "64", "ORIEL_MEMORIES": "64,1000000", "ORIEL_INCREMENTS": "true",
			"ORIEL_MECHANISM": "blt",
		},
		"total":    {"ORIEL_WINDOW": "256", "ORIEL_MECHANISM": "blt"},
		"tumbling": {"ORIEL_WINDOW": "", "ORIEL_MECHANISM": "once-gaussian"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			servesAggregate(t, name, more)
		})
	}
}

func servesAggregate(t *testing.T, name string, more map[string]string) {
	t.Helper()
	const half, whole, batch = 300, 600, 4
	f := newFixture(t, 1, more)
	asAggregate(f)
	f.Env["ORIEL_BATCH"], f.Env["ORIEL_ADJACENCY"] = fmt.Sprint(batch), "zero-out"
	f.Env["ORIEL_STATISTICS"], f.Env["ORIEL_BINS"], f.Env["ORIEL_ARMS"] = "count,sum,mean,p90", "12", "carrier"
	f.Must("topics")
	d := f.Read(f.Topic("descriptor"), 0, false)
	if len(d) != 1 || !bytes.Contains(d[0].Value, []byte(`"carrier=UA,hour=0:12"`)) {
		t.Fatalf("descriptor: %+v", d)
	}
	send := func(from, to int) {
		var events []records.Record
		for i := from; i < to; i++ {
			events = append(events, servicetest.Value(fmt.Sprintf(`{"carrier":%q,"hour":%d,"delay":%d}`,
				[]string{"UA", "AA", "DL", "B6"}[i%4], i%24, i%300-80)))
		}
		f.Send(0, events...)
	}
	send(0, half)
	first := f.Start(nil, "run")
	f.AwaitTaken(time.Minute, half/2)
	saved := f.checkpointBeside(first)
	send(half, whole)
	second := f.Start(nil, "run")
	f.AwaitTaken(time.Minute, whole)
	all := f.Read(f.Topic("decisions"), 0, false)
	if len(all) != whole/batch {
		t.Fatalf("%d decisions, want %d", len(all), whole/batch)
	}
	last, err := decision.Parse(all[len(all)-1].Value)
	if err != nil {
		t.Fatal(err)
	}
	// Metrics show the first numbers of the first view.
	f.awaitMetrics(second,
		`statistic="count",stream="0"} `+string(text.AppendFloat(nil, last.Point[0]))+"\n",
		`oriel_number{cell="carrier=UA,hour=12:24",`)
	second.Terminate()
	// Compare the last view. For life there are two memories, and with the second, sums hardly decay in the test.
	from, views := 0, 1
	switch name {
	case "life":
		views = 2
	case "tumbling":
		from = whole - batch
	}
	if len(last.Point) != views*28 {
		t.Fatalf("%d numbers", len(last.Point))
	}
	want := make([]float64, 14)
	for i := from; i < whole; i++ {
		cell := i%4*2 + i%24/12
		if i%4 == 3 {
			cell = 6
		}
		want[cell]++
		want[7+cell] += max(-60, min(180, float64(i%300-80)))
	}
	var sd [2][]float64
	for k, x := range last.Extras[:2] {
		if err := json.Unmarshal([]byte(x.JSON), &sd[k]); err != nil || len(sd[k]) != views {
			t.Fatalf("%s: %v", x.JSON, err)
		}
	}
	for k, x := range want {
		// A normal deviate exceeds 7 standard deviations with a probability of 10⁻¹¹. A count of 100 decays by 0.007 with the
		// memory of 10⁶ steps.
		got, far := last.Point[(views-1)*28+k], 7*sd[k/7][views-1]+2e-4*math.Abs(x)
		if math.Abs(got-x) > far {
			t.Errorf("number %d is %g, want %g within %g", k, got, x, far)
		}
	}
	if said := f.Must("replay", "--check", "--from", saved, "--partition", "0"); !strings.Contains(said, "all equal") {
		t.Errorf("replay --check: %s", said)
	}
	shown := f.Must("tail", "--topic", f.Topic("decisions"), "--partition", "0", "--from-beginning", "--follow=false")
	for _, member := range []string{
		"count_deviation=", "mean_low=", "p90_high=", "mean_difference_low=", "share_difference=",
	} {
		if !strings.Contains(shown, member) {
			t.Errorf("tail, no %s: %s", member, servicetest.EndOf(shown))
		}
	}
	if tiertest.Runs(name == "tumbling", true) {
		f.auditDoesNotRefute()
	}
	if text := f.Must("plan"); !strings.Contains(text, "one of 7 cells") {
		t.Errorf("plan: %s", text)
	}
}

// TestAggregateOfUsersForLife checks user-level privacy for life: all events of a user among any 24 steps are
// protected, with the contribution's own sensitivity to an exchange. The audit must not refute the user's stated loss,
// decisions must state it, and kills must not change the decisions.
func TestAggregateOfUsersForLife(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, map[string]string{
		"ORIEL_WINDOW": "lifetime", "ORIEL_MEMORY": "64", "ORIEL_MECHANISM": "blt", "ORIEL_USER_ID": "key",
		"ORIEL_USER_SEPARATION": "5", "ORIEL_USER_WINDOW": "24",
	})
	asAggregate(f)
	f.Must("topics")
	list := make([]records.Record, 100)
	for i := range list {
		value := fmt.Sprintf(`{"carrier":%q,"hour":%d,"delay":%d}`, []string{"UA", "AA", "DL", "B6"}[i%4], i%24, i%300-80)
		list[i] = servicetest.OfUser(fmt.Sprintf("user %d", i%9), records.Record{Value: []byte(value)})
	}
	f.Send(0, list...)
	p := f.Start(map[string]string{"TEST_KILL": "produced:1"}, "run")
	<-p.Done
	p = f.Start(nil, "run")
	f.AwaitTaken(time.Minute, 100)
	p.Terminate()
	f.CheckHistory(0, 100)
	decisions := f.Read(f.Topic("decisions"), 0, false)
	for _, text := range []string{`"unit":"user"`, `"memory":64,"user_window":24`} {
		if last := decisions[len(decisions)-1].Value; !bytes.Contains(last, []byte(text)) {
			t.Errorf("the last decision does not say %s: %s", text, last)
		}
	}
	f.auditDoesNotRefute()
	if text := f.Must("plan"); !strings.Contains(text, "a user may have 5 events among 24 steps") {
		t.Errorf("plan: %s", text)
	}
}

// asAggregate makes a fixture count and sum over six cells instead of learning a model.
func asAggregate(f *fixture) {
	for _, other := range []string{"UPDATE", "LOSS", "SET", "RADIUS", "DIMENSION", "STRONG_CONVEXITY", "CLIP"} {
		delete(f.Env, "ORIEL_"+other)
	}
	f.Env["ORIEL_OPERATOR"] = "aggregate"
	f.Env["ORIEL_CELLS"], f.Env["ORIEL_VALUE"] = "carrier=UA|AA|DL,hour=0:24:2", "delay=-60:180"
	f.Env["ORIEL_STATISTICS"], f.Env["ORIEL_ELSEWHERE"], f.Env["ORIEL_EPSILON"] = "count,sum,mean", "other", "8"
	f.Env["ORIEL_DECISION_GAUGES"] = "2"
}

// awaitMetrics waits until a service's metrics contain the texts. Commits reach the metrics a moment after they become
// visible.
func (f *fixture) awaitMetrics(p *servicetest.Process, texts ...string) {
	f.T.Helper()
	address := regexp.MustCompile(`address=(\S+)`).FindStringSubmatch(p.Output())
	if address == nil {
		f.T.Fatalf("no address: %s", p.Output())
	}
	f.Await(time.Minute, strings.Join(texts, ", "), func() bool {
		answer, err := http.Get("http://" + address[1] + "/metrics")
		if err != nil {
			return false
		}
		defer func() { _ = answer.Body.Close() }()
		page, err := io.ReadAll(answer.Body)
		return err == nil && !slices.ContainsFunc(texts, func(text string) bool {
			return !bytes.Contains(page, []byte(text))
		})
	})
}
