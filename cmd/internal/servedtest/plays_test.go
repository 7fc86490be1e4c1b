package servedtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"oriel/cmd/internal/repotest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/schemas/decision"
)

// answers is the number of feedback records in a round; long is the number of rounds in the long form.
const answers, long = 20, 60

var rounds = tiertest.Runs(long/2, long)

// player is an operator whose actions the test carries out and gives feedback on.
type player struct {
	env    map[string]string
	member string // member of a feedback record that has the value
	value  func(d decision.Decision) string
	learnt func(last decision.Decision) bool
	whole  bool // needs all rounds of the long form to learn
}

// oneArm is a player with three arms, of which the middle one is best.
var oneArm = player{
	env: armsEnv("left,middle,right", "20"), member: "loss",
	value: func(d decision.Decision) string {
		return []string{"0.9", "0.1", "0.8"}[int(d.Point[0])]
	},
	learnt: func(last decision.Decision) bool { return last.Point[0] == 1 },
}

// onePoint is a player whose actions are in a disc. The loss is half the squared distance from the best point.
var onePoint = player{
	env: map[string]string{
		"ORIEL_OPERATOR": "bandit", "ORIEL_SET": "l2-ball", "ORIEL_RADIUS": "1", "ORIEL_DIMENSION": "2",
		"ORIEL_MECHANISM": "blt", "ORIEL_WINDOW": "horizon", "ORIEL_HORIZON": "128", "ORIEL_EPSILON": "20",
		"ORIEL_DELTA": "1e-6", "ORIEL_SMOOTHING": "0.3", "ORIEL_RATE": "0.005",
	},
	member: "loss",
	value:  func(d decision.Decision) string { return decimal(fromBest(d.Point)) },
	learnt: func(last decision.Decision) bool { return fromBest(centreOf(last)) < 0.3*fromBest([]float64{0, 0}) },
}

// oneSet is a player with four elements, of which east and west have the largest reward together. At the end it must no
// longer explore.
func oneSet(more map[string]string, found func(set string) bool) player {
	env := map[string]string{
		"ORIEL_OPERATOR": "sets", "ORIEL_ELEMENTS": "north,east,south,west", "ORIEL_PICK": "2", "ORIEL_EPSILON": "60",
	}
	maps.Copy(env, more)
	return player{
		env: env, member: "worth",
		value: func(d decision.Decision) string {
			worth := 0.0
			for _, element := range d.Point {
				if element == 1 || element == 3 {
					worth += 0.5
				}
			}
			return decimal(worth)
		},
		whole: more["ORIEL_HORIZON"] == "",
		learnt: func(last decision.Decision) bool {
			return member(last, "explores") == "0" && found(member(last, "set"))
		},
	}
}

// setHalved finds a set by successive halving, and must find the best one. setDrawn draws sets by the exponential
// mechanism, and learns little in so few rounds. Its last rounds do not explore: ORIEL_DELAY is 2, so their feedback
// would come too late to be used.
var (
	setHalved = oneSet(map[string]string{
		"ORIEL_MECHANISM": "once-gamma", "ORIEL_WINDOW": "lifetime", "ORIEL_TRIES": "2",
	}, func(set string) bool { return set == `"east,west"` || set == `"west,east"` })
	setDrawn = oneSet(map[string]string{
		"ORIEL_RULE": "draws", "ORIEL_MECHANISM": "draws", "ORIEL_WINDOW": "horizon",
		"ORIEL_HORIZON": strconv.Itoa(rounds + 1),
		"ORIEL_SHARE":   "0.5", "ORIEL_DELTA": "1e-6",
	}, func(set string) bool { return strings.Contains(set, ",") })
)

// centreOf returns the centre of an action of a bandit over a set.
func centreOf(d decision.Decision) (centre []float64) {
	for _, extra := range d.Extras {
		if extra.Name == "centre" && json.Unmarshal([]byte(extra.JSON), &centre) == nil {
			return centre
		}
	}
	panic("a play without a centre")
}

func fromBest(x []float64) float64 { return ((x[0]-0.6)*(x[0]-0.6) + (x[1]+0.3)*(x[1]+0.3)) / 2 }

func decimal(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// TestPlaysThroughKills carries out actions while their service is killed at the worst places. Each action must be
// published once, with the same bytes for ever. Some feedback comes late, twice, forged or not at all. The operator
// must learn the best action, and an undisturbed replay --check must find every decision equal.
func TestPlaysThroughKills(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]player{
		"arms": oneArm, "bandit": onePoint, "sets by halving": setHalved, "sets by draws": setDrawn,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			playsThroughKills(t, p)
		})
	}
}

func playsThroughKills(t *testing.T, p player) {
	t.Helper()
	const count, offered = answers, 2 * answers
	total := count * rounds
	if p.whole {
		total = count * long
	}
	f := newFixture(t, 1, nil)
	f.plays(p.env, map[string]string{"ORIEL_BATCH": strconv.Itoa(count), "ORIEL_DELAY": "2"})
	f.Must("topics")

	out := map[uint64]decision.Decision{} // published actions, by number
	// Kill during the opening, then during the first actions after the repeated opening, and then during these actions
	// again.
	for _, place := range []string{"produced:1", "produced:2", "produced:1"} {
		<-f.Start(map[string]string{"TEST_KILL": place}, "run").Done
	}
	decisions := f.Topic("decisions")
	if sent, committed := f.Read(decisions, 0, true), f.Read(decisions, 0, false); len(committed) > 0 ||
		len(sent) != 2*offered {
		t.Fatalf("%d plays were sent and %d are committed, want %d sent", len(sent), len(committed), 2*offered)
	}
	running := f.Start(map[string]string{"TEST_KILL": "produced:1"}, "run")
	var all []records.Record
	hear := func(upTo int) {
		f.Await(2*time.Minute, fmt.Sprintf("%d plays", upTo), func() bool {
			select {
			case <-running.Done: // the service was killed
				running = f.Start(map[string]string{"TEST_KILL": []string{"committed:3", "produced:4"}[upTo/offered%2]}, "run")
			default:
			}
			all = f.readOn(f.Topic("decisions"), 0, all)
			return len(all) >= upTo
		})
	}
	var checkpoint string
	sent := 0
	for round := 0; sent < total; round++ {
		hear((round + 1) * offered)
		if round == 3 {
			checkpoint = f.checkpointBeside(running)
		}
		var events []records.Record
		for _, r := range all[round*offered : (round+1)*offered] {
			d, err := decision.Parse(r.Value)
			if err != nil {
				t.Fatal(err)
			}
			if _, twice := out[d.Index]; twice {
				t.Fatalf("play %d goes out twice", d.Index)
			}
			out[d.Index] = d
			value := p.value(d)
			switch d.Index % 5 {
			case 0: // this action gets no feedback
			case 1: // feedback comes twice, the second time with another value
				events = append(events, answer(d.Index, p.member, value), answer(d.Index, p.member, "0.5"))
			case 2: // feedback with an unknown key, and a malformed event
				events = append(events, records.Record{Key: []byte("forged"), Value: []byte(`{"` + p.member + `":1}`)})
			default:
				events = append(events, answer(d.Index, p.member, value))
			}
		}
		events = events[:count]
		f.Send(0, events...)
		sent += len(events)
	}
	_ = running.Cmd.Process.Kill()
	<-running.Done
	f.Start(nil, "run")
	f.AwaitTaken(2*time.Minute, int64(total))
	checkPlays(t, f, offered, total/count+1)
	f.Compares(checkpoint, (total/count-3)*offered)
	if newest := out[uint64(len(out))]; !p.learnt(newest) {
		t.Errorf("at last %v is played", newest.Point)
	}
}

// plays changes the fixture into a deployment of an operator whose input is feedback to its actions.
func (f *fixture) plays(env, more map[string]string) {
	maps.DeleteFunc(f.Env, func(name, _ string) bool { // removes settings of the fixture's own operator
		return slices.Contains([]string{
			"ORIEL_UPDATE", "ORIEL_LOSS", "ORIEL_SET", "ORIEL_RADIUS", "ORIEL_DIMENSION", "ORIEL_STRONG_CONVEXITY", "ORIEL_CLIP",
			"ORIEL_DELTA",
		}, name)
	})
	maps.Copy(f.Env, env)
	maps.Copy(f.Env, more)
}

// armsEnv returns the settings of arms for life under pure ε.
func armsEnv(arms, epsilon string) map[string]string {
	return map[string]string{
		"ORIEL_OPERATOR": "arms", "ORIEL_ARMS": arms, "ORIEL_MECHANISM": "once-gamma", "ORIEL_WINDOW": "lifetime",
		"ORIEL_EPSILON": epsilon,
	}
}

func answer(play uint64, member, value string) records.Record {
	return records.Record{Key: strconv.AppendUint(nil, play, 10), Value: []byte(`{"` + member + `":` + value + `}`)}
}

// checkPlays checks that each action is committed once, and that it has only one value in all committed and aborted
// records.
func checkPlays(t *testing.T, f *fixture, offered, rounds int) {
	t.Helper()
	values := map[uint64]string{}
	for _, r := range f.Read(f.Topic("decisions"), 0, true) {
		d, err := decision.Parse(r.Value)
		if err != nil {
			t.Fatal(err)
		}
		if before, seen := values[d.Index]; seen && before != string(r.Value) {
			t.Errorf("play %d has two values", d.Index)
		}
		values[d.Index] = string(r.Value)
	}
	committed := f.Read(f.Topic("decisions"), 0, false)
	if len(committed) != offered*rounds {
		t.Fatalf("%d plays went out, want %d", len(committed), offered*rounds)
	}
	for i, r := range committed {
		if d, err := decision.Parse(r.Value); err != nil || d.Index != uint64(i+1) || d.Step != uint64(i/offered) {
			t.Fatalf("place %d holds play %d of step %d: %v", i, d.Index, d.Step, err)
		}
	}
}

// TestCarriersAsABandit runs the example of the operator's page, with its settings, through a broker at ε = 1. An
// action chooses a carrier; the loss is the delay, in minutes, of one of the carrier's flights. At the end the carriers
// with the smallest delay must be chosen.
//
// Over forty random keys, the mean delay in the last tenth of 60 000 actions was 8.75 minutes, with a standard
// deviation of 0.04. In the last tenth of 20 000 actions it was 9.00, with a standard deviation of 0.32. The short form
// allows six of these deviations, and still rejects actions that learn nothing.
func TestCarriersAsABandit(t *testing.T) {
	t.Parallel()
	total := tiertest.Runs(20_000, 60_000)
	text, commands := repotest.Operator(t, "arms")
	env := repotest.SettingsIn(commands)
	carriers := strings.Split(env["ORIEL_ARMS"], ",")
	flights := lateness(t, func(f flight) string { return f.carrier })
	mean := func(minutes []float64) (sum float64) {
		for _, x := range minutes {
			sum += min(max(x, 0), 60) / float64(len(minutes))
		}
		return sum
	}
	best, all := math.Inf(1), 0.0
	for _, carrier := range carriers {
		late := mean(flights[carrier])
		best, all = min(best, late), all+late/float64(len(carriers))
	}
	f := newFixture(t, 1, nil)
	f.playsOfReadme(env)
	next, lost, late := map[string]int{}, 0.0, 0.0
	f.carryOut(total, func(d decision.Decision, carried int) float64 {
		arm := carriers[int(d.Point[0])]
		minutes := flights[arm][next[arm]%len(flights[arm])]
		next[arm]++
		if carried > total*9/10 {
			lost += mean(flights[arm])
			late++
		}
		return minutes
	})
	f.saysOfReadme(text, fmt.Sprintf("the best of these airlines is %.1f minutes late, and all five together are %.1f minutes late", best, all))
	t.Logf("minutes late: best carrier %.2f, all %.2f, played in the last tenth %.2f", best, all, lost/late)
	if lost/late > best+tiertest.Runs(0.95, 0.5)*(all-best) {
		t.Errorf("%.2f minutes late in the last tenth; the best carrier is %.2f late, all %.2f", lost/late, best, all)
	}
}

// playsOfReadme changes the fixture into a deployment with the settings of an example, but under the fixture's name.
func (f *fixture) playsOfReadme(env map[string]string) {
	f.plays(env, map[string]string{"ORIEL_NAME": f.Name, "ORIEL_INPUT_TOPIC": f.Env["ORIEL_INPUT_TOPIC"]})
}

func (f *fixture) saysOfReadme(text, said string) {
	f.T.Helper()
	if !strings.Contains(repotest.OnOneLine(text), said) {
		f.T.Errorf("the page does not say %q", said)
	}
}

// TestMinutesToAllowAsABandit runs the example of the operator's page, with its settings, at ε = 1. It learns how many
// minutes of delay to allow for in the morning and in the evening. Each allowed minute costs 0.1, and each minute of
// delay beyond the allowed ones costs 1, up to 60 for a flight. An action stands for a day with one flight in the
// morning and one in the evening; only its total cost is reported.
func TestMinutesToAllowAsABandit(t *testing.T) {
	t.Parallel()
	const most = 100.0
	total := tiertest.Runs(20_000, 60_000)
	flights := lateness(t, func(f flight) string {
		switch {
		case f.hour < 12:
			return "morning"
		case f.hour >= 16:
			return "evening"
		}
		return ""
	})
	day := func(morning, evening float64, allowed []float64) float64 {
		late := func(x, allowed float64) float64 { return 0.1*allowed + min(max(x-allowed, 0), 60) }
		return min(max(late(morning, allowed[0])+late(evening, allowed[1]), 0), most)
	}
	days := min(len(flights["morning"]), len(flights["evening"]))
	mean := func(allowed []float64) (sum float64) {
		for i := range days {
			sum += day(flights["morning"][i], flights["evening"][i], allowed) / float64(days)
		}
		return sum
	}
	best := math.Inf(1)
	for morning := 0.0; morning <= 60; morning += 5 {
		for evening := 0.0; evening <= 60; evening += 5 {
			best = min(best, mean([]float64{morning, evening}))
		}
	}
	text, commands := repotest.Operator(t, "bandit")
	f := newFixture(t, 1, nil)
	f.playsOfReadme(repotest.SettingsIn(commands))
	var centre []float64
	f.carryOut(total, func(d decision.Decision, carried int) float64 {
		centre = centreOf(d)
		return day(flights["morning"][carried%days], flights["evening"][carried%days], d.Point)
	})
	start, got := mean([]float64{0, 0}), mean(centre)
	f.saysOfReadme(text, fmt.Sprintf("The best allowance costs %.1f minutes, and no allowance %.1f", best, start))
	t.Logf("a day costs %.2f minutes where %.0f are allowed, %.2f at best, %.2f where none is", got, centre, best, start)
	if got > best+0.5*(start-best) {
		t.Errorf("a day costs %.2f minutes with %.0f allowed; %.2f at best, %.2f with none", got, centre, best, start)
	}
}

// carryOut sends feedback with its loss on every action as soon as the action is read, until total actions are carried
// out. The settings must have as many actions in a round as pieces of feedback, and no delay.
func (f *fixture) carryOut(total int, loss func(d decision.Decision, carried int) float64) {
	f.T.Helper()
	f.Must("topics")
	running := f.Start(nil, "run")
	reader := fetch.NewReader(f.Client, f.Topic("decisions"), 0, 0, fetch.Options{MaxWait: time.Second})
	defer reader.Close()
	for sent := 0; sent < total; {
		batch, err := reader.Fetch(f.Ctx())
		if err != nil {
			f.T.Fatal(err)
		}
		var events []records.Record
		for _, r := range batch.Records {
			d, err := decision.Parse(r.Value)
			if err != nil {
				f.T.Fatal(err)
			}
			events = append(events, answer(d.Index, "loss", decimal(loss(d, sent+len(events)))))
		}
		batch.Release()
		sent += len(events)
		if len(events) > 0 {
			f.Send(0, events...)
		}
	}
	running.Terminate()
}

// flight has the properties by which lateness groups flights.
type flight struct {
	carrier string
	hour    int
}

// demoFlights holds the flights of the demo and their arrival delays, minutes. Tests share it, because to read the file
// takes long.
var demoFlights struct {
	once    sync.Once
	flights []flight
	delays  []float64
}

// lateness returns the arrival delays of flights, minutes, by group. under returns the group of a flight, or "" to omit
// the flight.
func lateness(t *testing.T, under func(flight) string) map[string][]float64 {
	t.Helper()
	demoFlights.once.Do(func() {
		repotest.EachDemoFlight(t, func(column func(name string) string, late float64) {
			hour, err := strconv.Atoi(column("hour"))
			if err != nil {
				t.Fatal(err)
			}
			demoFlights.flights = append(demoFlights.flights, flight{column("carrier"), hour})
			demoFlights.delays = append(demoFlights.delays, late)
		})
	})
	flights := map[string][]float64{}
	for i, f := range demoFlights.flights {
		if name := under(f); name != "" {
			flights[name] = append(flights[name], demoFlights.delays[i])
		}
	}
	return flights
}
