package main

import (
	"fmt"
	"path/filepath"
	"strconv"
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
	for name := range f.env { // of another operator
		switch name {
		case "ORIEL_UPDATE", "ORIEL_LOSS", "ORIEL_SET", "ORIEL_RADIUS", "ORIEL_DIMENSION", "ORIEL_STRONG_CONVEXITY",
			"ORIEL_CLIP", "ORIEL_DELTA":
			delete(f.env, name)
		}
	}
	f.env["ORIEL_OPERATOR"], f.env["ORIEL_ARMS"], f.env["ORIEL_DELAY"] = "arms", "left,middle,right", "2"
	f.env["ORIEL_MECHANISM"], f.env["ORIEL_WINDOW"], f.env["ORIEL_EPSILON"] = "once-gamma", "lifetime", "20"
	f.env["ORIEL_BATCH"] = strconv.Itoa(records)
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
