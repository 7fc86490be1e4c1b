package setup

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"oriel/cmd/internal/setup/sample"
	"oriel/state/keys"
)

// The uses that a user may want to make of a topic.
const (
	Numbers    = "numbers"    // numbers of each hour or day, by cell
	Listing    = "names"      // counts of names that nobody lists beforehand
	Classes    = "classes"    // predict a label of two classes
	Value      = "number"     // predict a number
	Choice     = "choice"     // find which of a few actions costs least
	Experiment = "experiment" // find the effect of arms that are drawn with known probabilities
)

// Answers holds the user's answers about a topic.
type Answers struct {
	Name, Topic string
	Kafka       []string // connection settings from the environment, NAME=value
	Single      bool     // the cluster has fewer than three replicas
	Appended    bool     // records have the broker's time
	Encoding    sample.Encoding
	Want        string // use of the topic
	Items       []Item // features, or the columns of a row
	Ranges      []Range
	Label       Range  // public range of the label or the loss (Value, Choice)
	Cells       string // value of ORIEL_CELLS (Numbers, Experiment)
	Value       Range  // range of the value or the outcome (Numbers, Experiment); an empty name means no value
	Statistics  string // value of ORIEL_STATISTICS; empty: count, and of a value its sum and its mean
	Every       uint64 // value of ORIEL_EMIT_EVERY; 0: the operator's default
	Arms        string // names of the arms (Choice)
	Drawn       Drawn  // how arms are drawn (Experiment)
	Events      uint64 // memory, as a number of events: how long ago is worth learning from
	Epsilon     float64

	// Numbers and Listing: values of ORIEL_STEP, ORIEL_USER_PERIOD, ORIEL_USER_ID (empty: each event is protected by
	// itself), ORIEL_USER_EVENTS and ORIEL_MECHANISM.
	Step, Period, Person, Counted, Mechanism string

	Map, Key, State string // paths of the mapping file, the key file and the state folder
	Start           string
}

// mostSteps is the largest proposed ORIEL_MEMORY, steps.
const mostSteps = 1 << 20

// Batch returns the number of events in a step. It is so large that the memory has at most mostSteps steps.
func (a Answers) Batch() uint64 {
	if a.Want == Experiment {
		return max(1, a.Drawn.Target/experimentLooks)
	}
	return max(1, (a.Events+mostSteps-1)/mostSteps)
}

// Memory returns the memory in steps.
func (a Answers) Memory() uint64 {
	if a.Want == Experiment {
		return experimentMemory
	}
	return max(2, (a.Events+a.Batch()-1)/a.Batch())
}

// Delta returns δ: a power of ten below 1/(100·events), and at most 10⁻⁶.
func (a Answers) Delta() string {
	return fmt.Sprintf("1e-%d", max(6, int(math.Ceil(math.Log10(float64(a.Memory()*a.Batch()))))+2))
}

// Dimension returns a number of coordinates that suffices for each feature, and is larger for features that are texts.
func (a Answers) Dimension() int {
	switch n := len(a.Items); {
	case n <= 4:
		return 32
	case n <= 8:
		return 64
	}
	return 128
}

// ByClock reports whether steps end by the clock.
func (a Answers) ByClock() bool { return a.Want == Numbers || a.Want == Listing }

// Loss names the parameters of the guarantee by the clock.
func (a Answers) Loss() string {
	if a.Want == Listing || a.Mechanism == Gaussian {
		return "(ε, δ)"
	}
	return "ε"
}

// Columns returns the value of ORIEL_STATISTICS for numbers.
func (a Answers) Columns() string {
	if a.Statistics == "" && a.Value.Name != "" {
		return "count,sum,mean"
	}
	return cmp.Or(a.Statistics, "count")
}

// Column returns the column of an experiment's arms.
func (a Answers) Column() string {
	column, _, _ := strings.Cut(a.Cells, "=")
	return column
}

// Laplace and Gaussian are the mechanisms of numbers by the clock.
const (
	Laplace  = "once-laplace"
	Gaussian = "once-gaussian"
)

// sheet is the text of a file of settings.
//
//go:embed settings.tmpl
var sheet string

// File returns the settings as the text of a file for --env-file. quoted quotes a value for this file. more has
// additional settings of a model, NAME=value.
func (a Answers) File(quoted func(string) string, more ...string) []byte {
	set := func(name, value string) string { return "ORIEL_" + name + "=" + quoted(value) }
	functions := template.FuncMap{
		"set":    set,
		"setf":   func(name, format string, values ...any) string { return set(name, fmt.Sprintf(format, values...)) },
		"ranges": Ranges,
		"line": func(line string) string {
			name, value, _ := strings.Cut(line, "=")
			return name + "=" + quoted(value)
		},
	}
	var text bytes.Buffer
	err := template.Must(template.New("settings").Funcs(functions).Parse(sheet)).Execute(&text, struct {
		Answers
		More []string
	}{a, more})
	if err != nil {
		panic(fmt.Sprintf("BUG: the template of settings: %v", err))
	}
	return text.Bytes()
}

// Environ returns the settings as the environment of a process.
func (a Answers) Environ(more ...string) (environ []string) {
	for line := range strings.Lines(string(a.File(strconv.Quote, more...))) {
		name, value, isSetting := strings.Cut(strings.TrimSpace(line), "=")
		if text, err := strconv.Unquote(value); isSetting && err == nil {
			environ = append(environ, name+"="+text)
		}
	}
	return environ
}

// Document returns the mapping that follows from the answers. where is the filter that selects the records that are
// events; label is the predicted member.
func (a Answers) Document(where, label string) []byte {
	if a.Want == Classes || a.Want == Value {
		return Document(where, label, a.Items, nil)
	}
	return Document(where, "", nil, a.Items)
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
	secret := keys.NewSecret()
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
