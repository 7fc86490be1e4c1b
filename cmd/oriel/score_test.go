package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"oriel/cmd/internal/score"
	"oriel/cmd/internal/servicetest"
	"oriel/schemas/event"
	"oriel/schemas/text"
)

type scoreAnswer struct {
	Stream    string
	Step      uint64
	Score     float64
	Deviation float64
	Error     string
}

func answersOf(t *testing.T, text string) (all []scoreAnswer) {
	t.Helper()
	for line := range strings.Lines(text) {
		var a scoreAnswer
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		all = append(all, a)
	}
	return all
}

// TestScoreFollowsTheTopic checks that lines, HTTP and a file give the same score for one model. Events without a label
// must be decoded with the deployment's settings. HTTP must use a newer decision soon after its commit.
func TestScoreFollowsTheTopic(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 2, map[string]string{"ORIEL_UNKNOWN": "ignore", "ORIEL_FEATURES_RANGE": "hour:0:24:cyclic"})
	run := f.HasTakenTen()
	const event = `{"features":{"hour":3,"carrier":"UA"},"weather":"fair"}`
	ask := func(input string, args ...string) []scoreAnswer {
		t.Helper()
		cmd := f.Child(nil, args...)
		cmd.Stdin = strings.NewReader(input)
		said, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		return answersOf(t, string(said))
	}
	const stream = "0"
	lines := ask(event+"\n", "score", "--stream", stream)
	if len(lines) != 1 || lines[0].Error != "" || lines[0].Deviation <= 0 || lines[0].Step != 10 {
		t.Fatalf("%+v", lines)
	}
	file := filepath.Join(t.TempDir(), "decisions.json")
	text := f.Must("tail", "--topic", f.Topic("descriptor"), "--raw", "--follow=false") +
		f.Must("tail", "--topic", f.Topic("decisions"), "--raw", "--follow=false")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if read := ask(event+"\n", "score", "--decisions", file, "--stream", stream); len(read) != 1 || read[0] != lines[0] {
		t.Errorf("file: %+v, topic: %+v", read, lines)
	}
	if said := f.Must("weights", "--decisions", file, "--stream", stream, "--top", "3"); strings.Count(said, "\n") != 5 {
		t.Errorf("weights: %s", said)
	}
	other := f.Child(map[string]string{"ORIEL_DIMENSION": "9"}, "score", "--decisions", file)
	if said, err := other.CombinedOutput(); err == nil || !strings.Contains(string(said), "other settings of vectors") {
		t.Errorf("a descriptor of 8 coordinates, and 9 in the environment: %s", said)
	}
	bare := f.Child(nil, "score", "--topic", f.Topic("decisions"), "--stream", stream)
	bare.Env = slices.DeleteFunc(bare.Env, func(v string) bool {
		return strings.HasPrefix(v, "ORIEL_") && !strings.HasPrefix(v, "ORIEL_BROKERS=")
	})
	bare.Stdin = strings.NewReader(strings.Replace(event, `,"weather":"fair"`, "", 1))
	if said, err := bare.CombinedOutput(); err != nil || answersOf(t, string(said))[0] != lines[0] {
		t.Errorf("by the descriptor alone: %s, %v", said, err)
	}
	p := f.Start(nil, "score", "--listen", "localhost:0")
	var address string
	f.Await(time.Minute, "the address", func() bool {
		found := regexp.MustCompile(`http://\S+/score`).FindString(p.Output())
		address = found
		return found != ""
	})
	post := func() scoreAnswer {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(event))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Oriel-Stream", stream)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answersOf(t, string(body))[0]
	}
	first := post()
	if first != lines[0] {
		t.Errorf("HTTP: %+v, lines: %+v", first, lines[0])
	}
	f.Send(0, servicetest.Events(10, 5)...)
	f.Await(time.Minute, "a newer model", func() bool { return post().Step == first.Step+5 })
	_ = p.Cmd.Process.Signal(syscall.SIGTERM)
	if !p.Finish(30 * time.Second) {
		t.Errorf("it ends badly: %v", p.Err)
	}
	if said := p.Output(); strings.Contains(said, "weather") || strings.Contains(said, "UA") {
		t.Errorf("the log holds an event: %s", said)
	}
	run.Terminate()
}

// TestScoreRefusesAnotherMapping checks that events are decoded by the mapping in the descriptor. Without settings it
// decodes; with settings it must be theirs, because another mapping would give other vectors in silence.
func TestScoreRefusesAnotherMapping(t *testing.T) {
	const vector = `{"vector":{"version":1,"dimension":8,"bias":true,"norm":"unit"},"predicts":"mean"`
	const document = `{"label":"/late","features":["/way/km:number"]}`
	environ := []string{
		"ORIEL_OPERATOR=coco", "ORIEL_LOSS=squared", "ORIEL_DIMENSION=8", "ORIEL_MAP=" + document,
	}
	for _, c := range []struct {
		descriptor string
		environ    []string
		refused    bool
	}{
		{vector + `,"map":` + document + `}`, nil, false},
		{vector + `,"map":` + document + `}`, environ, false},
		{vector + `,"map":{"label":"/late","features":["/way/miles:number"]}}`, environ, true},
		{vector + `}`, environ, true},
		{vector + `,"map":` + document + `}`, environ[:3], true},
	} {
		d, err := score.ParseDescriptor([]byte(c.descriptor))
		if err != nil {
			t.Fatal(err)
		}
		config, err := scored(c.environ, d)
		if refused := err != nil && strings.Contains(err.Error(), "another ORIEL_MAP"); refused != c.refused {
			t.Errorf("%s with %q: %v", c.descriptor, c.environ, err)
		}
		if c.refused {
			continue
		}
		decoder, err := event.OpenDecoder(config)
		if err != nil {
			t.Fatal(err)
		}
		var e event.Event
		if code := decoder.Decode(&e, []byte(`{"id":"x","way":{"km":"3"}}`)); code != text.OK || len(e.Vector.Values) != 2 {
			t.Errorf("%q: %v, %v", c.environ, code, e.Vector)
		}
	}
}
