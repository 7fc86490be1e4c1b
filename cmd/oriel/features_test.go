package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/settings"
	"oriel/schemas/event"
)

func scoring(t *testing.T) settings.Settings {
	t.Helper()
	s, err := settings.Load([]string{"ORIEL_LOSS=logistic", "ORIEL_DIMENSION=8"}, settings.Events)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestFeaturesAnswersWhileItsInputIsOpen checks that a program can write a line, read its vector, and then write the
// next. Answers once came only at the end of the input.
func TestFeaturesAnswersWhileItsInputIsOpen(t *testing.T) {
	lines, in := io.Pipe()
	answers, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- printFeatures(out, io.Discard, lines, scoring(t))
		_ = out.Close()
	}()
	time.AfterFunc(time.Minute, func() { _ = answers.CloseWithError(fmt.Errorf("no answer within a minute")) })
	r := bufio.NewReader(answers)
	for i := range 3 {
		for _, piece := range []string{`{"features":{"hour":`, fmt.Sprintf("%d}}\n", i)} { // a line may arrive in several writes
			if _, err := io.WriteString(in, piece); err != nil {
				t.Fatal(err)
			}
		}
		answer, err := r.ReadString('\n')
		if err != nil || !strings.HasPrefix(answer, `{"indices":[`) || strings.Contains(answer, "label") {
			t.Fatalf("answer %q, %v", answer, err)
		}
	}
	_ = in.Close()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// TestFeaturesPrintsProblemsToStandardError checks that each line has one answer. Problems must go to standard error,
// and name the member without its value.
func TestFeaturesPrintsProblemsToStandardError(t *testing.T) {
	var out, problems bytes.Buffer
	in := `{"features":{"a":1},"label":1}
{"features":{"a":"secret"},"label":7}
{"label":1}
{"features":{"indices":[0]}}
{"features":{"a":1},"weight":-1}
{"features":{"a":1},"stray":"secret"}
[1]
{"features":{"a":2}}
`
	err := printFeatures(&out, &problems, strings.NewReader(in), scoring(t))
	if err == nil || !strings.Contains(err.Error(), "6 of 8 lines") {
		t.Errorf("error %v", err)
	}
	answers := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(answers) != 8 || !strings.HasSuffix(answers[0], `"label":1,"weight":1}`) || !strings.HasSuffix(answers[7], `],"weight":1}`) {
		t.Fatalf("answers %q", answers)
	}
	for i, a := range answers[1:7] {
		if a != "null" {
			t.Errorf("line %d: answer %s", i+2, a)
		}
	}
	want := []string{
		"line 2: label: label_range: ", "line 3: features: missing_member: ", "line 4: features: missing_member: ",
		"line 5: weight: weight_range: ", `line 6: unknown_name: unknown member "stray": events of coco have features, label, weight`, "line 7: not_object: ",
	}
	said := strings.Split(strings.TrimSuffix(problems.String(), "\n"), "\n")
	if len(said) != len(want) {
		t.Fatalf("said %q", said)
	}
	for i := range want {
		if !strings.HasPrefix(said[i], want[i]) || strings.Contains(said[i], "secret") {
			t.Errorf("said %q, want %q", said[i], want[i])
		}
	}
}

// TestFeaturesPrintsAllMembersOfAnEvent checks the output for every kind of event body.
func TestFeaturesPrintsAllMembersOfAnEvent(t *testing.T) {
	f := func(e event.Event, labelled bool, want string) {
		t.Helper()
		if got := string(appendVector(nil, e, labelled)); got != want+"\n" {
			t.Errorf("%s, want %s", got, want)
		}
	}
	dense := event.Vector{Values: []float64{1, -0.5}}
	f(event.Event{Vector: dense, Weight: 1}, false, `{"values":[1,-0.5],"weight":1}`)
	f(event.Event{Vector: dense, Label: -1, Weight: 2, Numbers: []float64{3}}, true, `{"values":[1,-0.5],"label":-1,"weight":2,"numbers":[3]}`)
	f(event.Event{Vector: event.Vector{Indices: []int32{}, Values: []float64{}}, Weight: 1}, false, `{"indices":[],"values":[],"weight":1}`)
	f(event.Event{Weight: 1, Numbers: []float64{0, 0.25}}, false, `{"weight":1,"numbers":[0,0.25]}`)
}
