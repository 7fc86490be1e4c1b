package main

import (
	"encoding/csv"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"oriel/pipeline/kafka"
	"oriel/schemas"
)

// TestPlaysThroughKills carries out plays of a bandit while its service is killed at the worst places: each play goes
// out once, with one arm for ever; losses come back late, twice, forged and not at all; what is learned from them picks
// the arm that costs least; and replay --check finds every decision again.
func TestPlaysThroughKills(t *testing.T) {
	t.Parallel()
	const records, offered, total = 20, 40, 1200
	f := newFixture(t, 1, nil)
	f.bandit("left,middle,right", map[string]string{
		"ORIEL_EPSILON": "20", "ORIEL_BATCH": strconv.Itoa(records), "ORIEL_DELAY": "2",
	})
	f.must("topics")

	arms := map[uint64]string{} // by play
	running := f.start(map[string]string{"TEST_KILL": "produced:1"}, "run")
	hear := func(upTo int) {
		f.await(2*time.Minute, fmt.Sprintf("%d plays", upTo), func() bool {
			select {
			case <-running.done: // killed
				running = f.start(map[string]string{"TEST_KILL": []string{"committed:3", "produced:4"}[upTo/offered%2]}, "run")
			default:
			}
			return len(f.read(f.topic("decisions"), 0, false)) >= upTo
		})
	}
	var checkpoint string
	sent := 0
	for round := 0; sent < total; round++ {
		hear((round + 1) * offered)
		if round == 3 {
			checkpoint = filepath.Join(t.TempDir(), "checkpoint")
			f.must("replay", "--save", checkpoint)
		}
		all := f.read(f.topic("decisions"), 0, false)
		var events []kafka.Record
		for _, r := range all[round*offered : (round+1)*offered] {
			d, err := schemas.ParseDecision(r.Value)
			if err != nil {
				t.Fatal(err)
			}
			if _, twice := arms[d.Index]; twice {
				t.Fatalf("play %d goes out twice", d.Index)
			}
			arms[d.Index] = strconv.Itoa(int(d.Point[0]))
			loss := map[string]string{"0": "0.9", "1": "0.1", "2": "0.8"}[arms[d.Index]]
			switch d.Index % 5 {
			case 0: // nobody hears of it
			case 1: // twice, the second time with another loss
				events = append(events, answer(d.Index, loss), answer(d.Index, "0.5"))
			case 2: // a key that is nobody's, and an event that is none
				events = append(events, kafka.Record{Key: []byte("forged"), Value: []byte(`{"loss":1}`)})
			default:
				events = append(events, answer(d.Index, loss))
			}
		}
		events = events[:records]
		f.send(0, events...)
		sent += len(events)
	}
	_ = running.cmd.Process.Kill()
	<-running.done
	f.start(nil, "run")
	f.awaitTaken(2*time.Minute, int64(total))
	checkPlays(t, f, offered, total/records+1)
	f.compares(checkpoint, (total/records-3)*offered)
	if newest := arms[uint64(len(arms))]; newest != "1" {
		t.Errorf("at last arm %s is played", newest)
	}
}

// bandit makes it a deployment of arms.
func (f *fixture) bandit(arms string, more map[string]string) {
	maps.DeleteFunc(f.env, func(name, _ string) bool { // of another operator
		return slices.Contains([]string{
			"ORIEL_UPDATE", "ORIEL_LOSS", "ORIEL_SET", "ORIEL_RADIUS", "ORIEL_DIMENSION", "ORIEL_STRONG_CONVEXITY", "ORIEL_CLIP",
			"ORIEL_DELTA",
		}, name)
	})
	maps.Copy(f.env, map[string]string{
		"ORIEL_OPERATOR": "arms", "ORIEL_ARMS": arms, "ORIEL_MECHANISM": "once-gamma", "ORIEL_WINDOW": "lifetime",
	})
	maps.Copy(f.env, more)
}

func answer(play uint64, loss string) kafka.Record {
	return kafka.Record{Key: strconv.AppendUint(nil, play, 10), Value: []byte(`{"loss":` + loss + `}`)}
}

// checkPlays wants each play once, and one value of each wherever it was ever written.
func checkPlays(t *testing.T, f *fixture, offered, rounds int) {
	t.Helper()
	values := map[uint64]string{}
	for _, r := range f.read(f.topic("decisions"), 0, true) {
		d, err := schemas.ParseDecision(r.Value)
		if err != nil {
			t.Fatal(err)
		}
		if before, seen := values[d.Index]; seen && before != string(r.Value) {
			t.Errorf("play %d has two values", d.Index)
		}
		values[d.Index] = string(r.Value)
	}
	committed := f.read(f.topic("decisions"), 0, false)
	if len(committed) != offered*rounds {
		t.Fatalf("%d plays went out, want %d", len(committed), offered*rounds)
	}
	for i, r := range committed {
		if d, err := schemas.ParseDecision(r.Value); err != nil || d.Index != uint64(i+1) || d.Step != uint64(i/offered) {
			t.Fatalf("place %d holds play %d of step %d: %v", i, d.Index, d.Step, err)
		}
	}
}

// TestCarriersAsABandit has flights of whichever carrier is played, and their minutes of delay as losses, through a
// broker at ε = 1: at last the carriers that are late least are played.
func TestCarriersAsABandit(t *testing.T) {
	t.Parallel()
	const records, total = 128, 60_000
	flights := lateness(t)
	f := newFixture(t, 1, nil)
	f.bandit(strings.Join(slices.Sorted(maps.Keys(flights)), ","), map[string]string{
		"ORIEL_EPSILON": "1", "ORIEL_BATCH": strconv.Itoa(records), "ORIEL_PLAYS": strconv.Itoa(records),
		"ORIEL_LOSS_RANGE": "0:60", "ORIEL_DELAY": "0",
	})
	f.must("topics")
	running := f.start(nil, "run")
	mean := func(minutes []float64) (sum float64) {
		for _, x := range minutes {
			sum += min(max(x, 0), 60) / float64(len(minutes))
		}
		return sum
	}
	best, all := math.Inf(1), 0.0
	for _, minutes := range flights {
		best, all = min(best, mean(minutes)), all+mean(minutes)/float64(len(flights))
	}
	next, lost, late := map[string]int{}, 0.0, 0.0
	reader := f.client.NewReader(f.topic("decisions"), 0, 0, kafka.ReaderOptions{MaxWait: time.Second})
	defer reader.Close()
	for sent := 0; sent < total; {
		batch, err := reader.Fetch(f.ctx())
		if err != nil {
			t.Fatal(err)
		}
		var events []kafka.Record
		for _, r := range batch.Records {
			d, err := schemas.ParseDecision(r.Value)
			if err != nil {
				t.Fatal(err)
			}
			arm := slices.Sorted(maps.Keys(flights))[int(d.Point[0])]
			minutes := flights[arm][next[arm]%len(flights[arm])]
			next[arm]++
			events = append(events, answer(d.Index, strconv.FormatFloat(minutes, 'g', -1, 64)))
			if sent+len(events) > total*9/10 {
				lost += mean(flights[arm])
				late++
			}
		}
		batch.Release()
		sent += len(events)
		if len(events) > 0 {
			f.send(0, events...)
		}
	}
	running.terminate()
	t.Logf("minutes late: best carrier %.2f, all %.2f, played in the last tenth %.2f", best, all, lost/late)
	if lost/late > best+0.5*(all-best) {
		t.Errorf("%.2f minutes late in the last tenth; the best carrier is %.2f late, all %.2f", lost/late, best, all)
	}
}

// lateness is the minutes that the flights of each carrier with at least 500 of them arrive late.
func lateness(t *testing.T) map[string][]float64 {
	t.Helper()
	flights := map[string][]float64{}
	home := t.TempDir()
	unpackFlights(t, home)
	table, err := os.Open(filepath.Join(home, "flights.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = table.Close() }()
	rows, err := csv.NewReader(table).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	carrier, delay := slices.Index(rows[0], "carrier"), slices.Index(rows[0], "arr_delay")
	for _, row := range rows[1:] {
		if minutes, err := strconv.ParseFloat(row[delay], 64); err == nil { // NA where it did not arrive
			flights[row[carrier]] = append(flights[row[carrier]], minutes)
		}
	}
	maps.DeleteFunc(flights, func(_ string, minutes []float64) bool { return len(minutes) < 500 })
	return flights
}
