package servedtest

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/kafka/records"
	"oriel/schemas/decision"
)

// TestContextsThroughKills serves contexts while the service is killed at the worst places. Each record must have one
// action on the second topic, with the same bytes for ever, and models must be on the first topic. Some rewards come
// late, twice, forged or not at all. The learned model must find the right arm, and replay --check must find every
// decision equal.
func TestContextsThroughKills(t *testing.T) {
	t.Parallel()
	const each, every = 20, 8
	rounds := tiertest.Runs(12, 40)
	f := newFixture(t, 1, nil)
	f.plays(map[string]string{
		"ORIEL_OPERATOR": "linucb", "ORIEL_PLAYED": "served", "ORIEL_ARMS": "left,right", "ORIEL_DIMENSION": "2",
		"ORIEL_MECHANISM": "blt", "ORIEL_WINDOW": "lifetime", "ORIEL_MEMORY": "4096", "ORIEL_EPSILON": "40",
		"ORIEL_DELTA": "1e-6", "ORIEL_EMIT_EVERY": strconv.Itoa(every), "ORIEL_WAIT": "200",
	}, nil)
	f.Must("topics")
	running := f.Start(map[string]string{"TEST_KILL": "produced:1"}, "run")
	var taken []records.Record
	actions := func(records int) []records.Record {
		f.Await(2*time.Minute, fmt.Sprintf("%d actions", records), func() bool {
			select {
			case <-running.Done: // the service was killed
				running = f.Start(map[string]string{"TEST_KILL": []string{"committed:3", "produced:4"}[records/each%2]}, "run")
			default:
			}
			taken = f.readOn(f.Topic("actions"), 0, taken)
			return len(taken) >= records
		})
		return taken
	}
	right := func(k int) string { return []string{"left", "right"}[k*7/3%2] }
	var checkpoint string
	var late []records.Record
	sent, saved, called := 0, 0, 0
	for round := range rounds {
		var contexts, rewards []records.Record
		for k := round * each; k < (round+1)*each; k++ {
			contexts = append(contexts, contextOf(k, right(k)))
		}
		f.Send(0, contexts...)
		sent += each
		for i, r := range actions(sent)[sent-each:] {
			k := round*each + i
			d, err := decision.Parse(r.Value)
			if err != nil {
				t.Fatal(err)
			}
			if key := "call-" + strconv.Itoa(k); member(d, "key") != strconv.Quote(key) || string(r.Key) != key {
				t.Fatalf("context %d: the action is for %s", k, member(d, "key"))
			}
			reward := `{"reward":0}`
			if member(d, "arm") == strconv.Quote(right(k)) {
				reward = `{"reward":1}`
				if round >= rounds/2 {
					called++
				}
			}
			answer := records.Record{Key: []byte("call-" + strconv.Itoa(k)), Value: []byte(reward)}
			switch k % 5 {
			case 0: // this action gets no feedback
			case 1: // feedback comes twice, the second time with another reward
				rewards = append(rewards, answer, records.Record{Key: answer.Key, Value: []byte(`{"reward":0.5}`)})
			case 2:
				late = append(late, answer)
				rewards = append(rewards, records.Record{Key: []byte("forged-" + strconv.Itoa(k)), Value: []byte(`{"reward":1}`)})
			default:
				rewards = append(rewards, answer)
			}
		}
		if round%3 == 2 {
			rewards, late = append(rewards, late...), nil
		}
		f.Send(0, rewards...)
		sent += len(rewards)
		actions(sent)
		if round == 3 {
			checkpoint, saved = f.checkpointBeside(running), sent
		}
	}
	_ = running.Cmd.Process.Kill()
	<-running.Done
	f.Start(nil, "run")
	f.AwaitTaken(2*time.Minute, int64(sent))
	if share := float64(called) / float64(rounds/2*each); share < 0.9 {
		t.Errorf("%.2f of the later contexts were called right", share)
	}
	f.Compares(checkpoint, sent-saved+sent/every-saved/every)
	values := map[uint64]string{}
	for topic, want := range map[string]int{"actions": sent, "decisions": sent / every} {
		if committed := f.Read(f.Topic(topic), 0, false); len(committed) != want {
			t.Errorf("%s: %d are there, want %d", topic, len(committed), want)
		}
		for _, r := range f.Read(f.Topic(topic), 0, true) {
			d, err := decision.Parse(r.Value)
			if err != nil {
				t.Fatal(err)
			}
			if before, seen := values[d.Index]; seen && before != string(r.Value) {
				t.Errorf("decision %d has two values", d.Index)
			}
			values[d.Index] = string(r.Value)
		}
	}
	if len(values) != sent+sent/every {
		t.Errorf("%d decisions of %d records", len(values), sent)
	}
}

// contextOf returns a context for which one arm is right.
func contextOf(k int, right string) records.Record {
	features := map[string]string{"left": "[1,0]", "right": "[0,1]"}[right]
	return records.Record{Key: []byte("call-" + strconv.Itoa(k)), Value: []byte(`{"features":` + features + `}`)}
}

// member returns the JSON text of a member of a decision.
func member(d decision.Decision, name string) string {
	for _, x := range d.Extras {
		if x.Name == name {
			return x.JSON
		}
	}
	return ""
}
