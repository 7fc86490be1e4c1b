package setup

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"oriel/state"
)

// The uses that a user may want to make of a topic.
const (
	Classes    = "classes"    // predict a label of two classes
	Value      = "number"     // predict a number
	Statistics = "statistics" // counts and means by cell
	Choice     = "choice"     // find which of a few actions costs least
	Experiment = "experiment" // find the effect of arms that are drawn with known probabilities
)

// Answers holds the user's answers about a topic.
type Answers struct {
	Name     string
	Topic    string
	Kafka    []string // connection settings from the environment, NAME=value
	Single   bool     // the cluster has fewer than three replicas
	Encoding Encoding
	Want     string // use of the topic: Classes, Value, Statistics, Choice or Experiment
	Items    []Item // features, or the columns of a row
	Ranges   []Range
	Label    Range  // public range of the label or the loss (Value, Choice)
	Cells    string // value of ORIEL_CELLS (Statistics, Experiment)
	// for Statistics: range of the value; an empty name means no value. For Experiment: range of the outcome
	Value Range
	// value of ORIEL_STATISTICS (Statistics); empty: count, and with a value its sum and its mean, which come from the
	// same noisy sums as the mean alone
	Statistics string
	Every      uint64 // value of ORIEL_EMIT_EVERY; 0: the operator's default
	Arms       string // names of the arms (Choice)
	Drawn      Drawn  // how arms are drawn (Experiment)
	Events     uint64 // memory, as a number of events: how long ago is worth learning from
	Rate       float64
	Epsilon    float64

	Map, Key, State string // paths of the mapping file, the key file and the state folder
	Start           string
}

// mostSteps is the largest proposed ORIEL_MEMORY, steps.
const mostSteps = 1 << 20

// batch returns the number of events in a step. It is so large that the memory has at most mostSteps steps.
func (a Answers) batch() uint64 {
	if a.Want == Experiment {
		return max(1, a.Drawn.Target/experimentLooks)
	}
	return max(1, (a.Events+mostSteps-1)/mostSteps)
}

func (a Answers) memory() uint64 {
	if a.Want == Experiment {
		return experimentMemory
	}
	return max(2, (a.Events+a.batch()-1)/a.batch())
}

// delta returns δ: a power of ten below 1/(100·events), and at most 10⁻⁶.
func (a Answers) delta() string {
	return fmt.Sprintf("1e-%d", max(6, int(math.Ceil(math.Log10(float64(a.memory()*a.batch()))))+2))
}

// EachSecond returns the number of steps from one decision to the next, so that there is about one decision a second.
func (a Answers) EachSecond() uint64 {
	every := uint64(1)
	for 2*float64(every*a.batch()) <= a.Rate && every < 1024 {
		every *= 2
	}
	return every
}

// dimension returns a number of coordinates that suffices for each feature, and is larger for features that are texts.
func (a Answers) dimension() int {
	switch n := len(a.Items); {
	case n <= 4:
		return 32
	case n <= 8:
		return 64
	}
	return 128
}

// Line is a line of the settings file: a setting, or a comment if Name is empty.
type Line struct{ Name, Value, Comment string }

// sheet collects the lines of a settings file.
type sheet []Line

func (s *sheet) add(name, value, comment string) {
	*s = append(*s, Line{"ORIEL_" + name, value, comment})
}

func (s *sheet) title(text string) { *s = append(*s, Line{Comment: text}) }

// given adds settings of the form NAME=value, all with the same comment.
func (s *sheet) given(settings []string, comment string) {
	for _, text := range settings {
		name, value, _ := strings.Cut(text, "=")
		*s = append(*s, Line{name, value, comment})
	}
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// lines returns the settings of a deployment, each with a comment. more has additional settings, NAME=value.
func (a Answers) lines(more []string) []Line {
	s := &sheet{}
	s.title("Kafka")
	s.given(a.Kafka, "")
	if a.Single {
		s.add("ALLOW_SINGLE_REPLICA", "true", "for a trial: a lost broker can lose acknowledged records, and the guarantee with them")
	}
	s.add("NAME", a.Name, "names the topics: "+a.Name+".decisions and others")
	s.add("INPUT_TOPIC", a.Topic, "")
	s.add("STREAM", "topic", "all partitions are one stream, with one guarantee")
	s.add("START", a.Start, "where the first start begins to read")
	s.title("How records are read")
	s.given(a.Encoding.Settings(), "")
	s.add("MAP", a.Map, "public: it must be chosen without looking at private records")
	s.title("What is learned")
	a.learned(s)
	s.given(more, "follows from the noise, not from data")
	a.promised(s)
	s.title("Where it runs")
	s.add("STATE_DIR", a.State, "")
	s.add("MASTER_KEY_FILE", a.Key, "keep a copy: without it the deployment cannot go on")
	return *s
}

// learned adds the settings of the operator.
func (a Answers) learned(s *sheet) {
	switch a.Want {
	case Classes:
		s.add("OPERATOR", "coco", "a model that learns at every step")
		s.add("UPDATE", "projection", "")
		s.add("LOSS", "logistic", "log-odds of a label of two classes")
		s.add("SET", "l2-ball", "")
		s.add("RADIUS", "5", "longest vector of weights")
		s.add("CLIP", "1", "longest gradient that counts; named features have norm 1")
	case Value:
		s.add("OPERATOR", "ridge", "regression weights, each with the deviation of its noise")
		s.add("UPDATE", "moments", "")
		s.add("LABEL_RANGE", number(a.Label.Low)+":"+number(a.Label.High), "public: confirmed by you")
	case Statistics:
		s.add("OPERATOR", "aggregate", "numbers by cell, each with an interval")
		if a.Cells != "" {
			s.add("CELLS", a.Cells, "public: columns and their places")
		}
		statistics := "count"
		if a.Value.Name != "" {
			s.add("VALUE", a.Value.Name+"="+number(a.Value.Low)+":"+number(a.Value.High),
				"public: confirmed by you; values beyond are clamped to it")
			statistics += ",sum,mean"
		}
		s.add("STATISTICS", cmp.Or(a.Statistics, statistics), "")
		s.add("INCREMENTS", "true", "so that `oriel numbers --every 1h` has numbers by the hour; no matter of privacy")
	case Experiment:
		s.add("OPERATOR", "aggregate", "an A/B test that may be looked at, and stopped, at any time")
		s.add("CELLS", a.Cells, "public: the arms, the control first")
		s.add("VALUE", a.Value.Name+"="+number(a.Value.Low)+":"+number(a.Value.High),
			"public: confirmed by you; the outcome is clamped to it")
		s.add("STATISTICS", "count,mean", "")
		column, _, _ := strings.Cut(a.Cells, "=")
		s.add("ARMS", column, "")
		s.add("ALWAYS_VALID", "0.05", "the probability that the bands of effects fail, at any look")
		s.add("PROPENSITIES", a.Drawn.Propensities, "the probabilities with which arms are drawn; without them no effect can be shown to have a cause")
		s.add("UNITS", "single", "confirmed by you: each unit, such as a visitor, sends one event")
		s.add("NEAR", number(a.Drawn.Near), "your guess of the mean outcome, from public or older data")
		s.add("TARGET", strconv.FormatUint(a.Drawn.Target, 10), "events after which the effect that you want is found with probability 0.8")
	case Choice:
		s.add("OPERATOR", "arms", "decisions are plays; an event under the key of a play gives its cost")
		s.add("ARMS", a.Arms, "")
		s.add("LOSS_RANGE", number(a.Label.Low)+":"+number(a.Label.High), "public: confirmed by you")
		s.add("BATCH", "128", "answers until the next arm is chosen")
		s.add("PLAYS", "256", "that go out at a time")
		s.add("DELAY", "4", "steps that an answer may be late")
	}
	if a.Want == Classes || a.Want == Value {
		s.add("DIMENSION", strconv.Itoa(a.dimension()), "coordinates that names and texts of features are hashed to")
		if len(a.Ranges) > 0 {
			s.add("FEATURES_RANGE", Ranges(a.Ranges), "public: confirmed by you")
		}
	}
	if a.Every > 0 {
		s.add("EMIT_EVERY", strconv.FormatUint(a.Every, 10), "steps from decision to decision, as `oriel plan` advises; no matter of privacy")
	}
}

// promised adds the settings of privacy.
func (a Answers) promised(s *sheet) {
	s.title("Promise: exchanging any one event changes everything published by (ε, δ) at most, for ever")
	if a.Want == Choice {
		s.add("MECHANISM", "once-gamma", "")
		s.add("WINDOW", "lifetime", "each event counts in one release")
	} else {
		s.add("MECHANISM", "blt", "")
		s.add("WINDOW", "lifetime", "each event is protected for ever, because sums forget")
		if a.batch() > 1 {
			s.add("BATCH", strconv.FormatUint(a.batch(), 10), "events a step")
		}
		memory := "steps: how long ago is worth learning from"
		if a.Want == Experiment {
			memory = "steps; an experiment counts all of its events, however old"
		}
		s.add("MEMORY", strconv.FormatUint(a.memory(), 10), memory)
		s.add("DELTA", a.delta(), "well below 1/(events of the memory)")
	}
	s.add("EPSILON", number(a.Epsilon), "")
}

// Environ returns the settings as the environment of a process.
func (a Answers) Environ(more ...string) (environ []string) {
	for _, line := range a.lines(more) {
		if line.Name != "" {
			environ = append(environ, line.Name+"="+line.Value)
		}
	}
	return environ
}

// File returns the settings as the text of a file for --env-file. quoted quotes a value for this file.
func (a Answers) File(quoted func(string) string, more ...string) []byte {
	text := "# Made by `oriel init`. Settings decide the promise. Settings of reading, learning and privacy must not change once\n" +
		"# `oriel run` has opened a stream; until then, run `oriel topics` after each change. `oriel --env-file FILE config` shows all,\n" +
		"# and checks them.\n"
	for _, line := range a.lines(more) {
		switch {
		case line.Name == "":
			text += "\n# " + line.Comment + "\n"
			continue
		case line.Comment != "":
			text += "# " + line.Comment + "\n"
		}
		text += line.Name + "=" + quoted(line.Value) + "\n"
	}
	return []byte(text)
}

// Document returns the mapping that follows from the answers. where is the filter that selects the records that are
// events; label is the predicted member.
func (a Answers) Document(where, label string) []byte {
	if a.Want == Statistics || a.Want == Choice || a.Want == Experiment {
		return Document(where, "", nil, a.Items)
	}
	return Document(where, label, a.Items, nil)
}

// Confirmed returns the items that may be used: numbers with a public range, and all items that are not numbers.
// dropped has the names of the others.
func Confirmed(items []Item, ranges []Range) (kept []Item, dropped []string) {
	for _, item := range items {
		has := func(r Range) bool { return r.Name == item.Name }
		if item.As == "number" && !slices.ContainsFunc(ranges, has) {
			dropped = append(dropped, item.Name)
			continue
		}
		kept = append(kept, item)
	}
	return kept, dropped
}

// NewKey draws a master key, in the format of ORIEL_MASTER_KEY_FILE.
func NewKey() []byte {
	secret := state.NewSecret()
	return append(hex.AppendEncode(nil, secret[:]), '\n')
}

// WriteNew writes a new file. It returns fs.ErrExist if the file exists, and removes a file that it could not write
// completely.
func WriteNew(name string, content []byte, mode os.FileMode) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}
