package settings

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/caarlos0/env/v11"
)

// Need is a group of settings that a command cannot do without.
type Need string

// The groups.
const (
	Kafka      Need = "kafka"      // reach the brokers
	Deployment Need = "deployment" // name a deployment and open what it sealed
	Service    Need = "service"    // run it
	Letters    Need = "letters"    // write its letters
	Events     Need = "events"     // decode events
	Operator   Need = "operator"   // step over events and release decisions
)

// Load reads the environment (as os.Environ gives it) and checks it as a whole for a command that needs the groups.
func Load(environ []string, needs ...Need) (Settings, error) {
	given := map[string]string{}
	for _, line := range environ {
		if name, value, ok := strings.Cut(line, "="); ok && strings.HasPrefix(name, prefix) {
			given[name] = value
		}
	}
	var s Settings
	errs := unknown(given)
	err := env.ParseWithOptions(&s, env.Options{Environment: given, Prefix: prefix})
	broken := map[string]bool{}
	var all env.AggregateError
	if errors.As(err, &all) {
		for _, e := range all.Errors {
			name, problem := parseProblem(e)
			broken[name] = true
			errs = append(errs, problem)
		}
	} else if err != nil {
		errs = append(errs, fmt.Errorf("settings: %w", err))
	}
	for _, v := range Variables() {
		if v.Name == prefix+"WINDOW" && s.once() {
			continue
		}
		if v.Need != "" && slices.Contains(needs, v.Need) && strings.TrimSpace(given[v.Name]) == "" {
			errs = append(errs, fmt.Errorf("%s: not set; %s", v.Name, v.Text))
			broken[v.Name] = true
		}
	}
	for _, name := range []string{"AGE_WEIGHT", "POLES"} {
		if _, set := given[prefix+name]; set && s.Mechanism != blt && slices.Contains(needs, Operator) {
			errs = append(errs, fmt.Errorf("%s%s: set, but only ORIEL_MECHANISM=blt has a filter that it shapes", prefix, name))
		}
	}
	if s.Window == horizon {
		if _, set := given[prefix+"AGE_WEIGHT"]; set && s.Mechanism == blt && s.AgeWeight != 0 {
			errs = append(errs, fmt.Errorf("%sAGE_WEIGHT: %g: with ORIEL_WINDOW=horizon no event outlives the window; leave it out", prefix, s.AgeWeight))
		}
		s.AgeWeight = 0
	}
	errs = append(errs, s.check(needs, broken)...)
	return s, invalid(errs...)
}

// Invalid is an error of the settings: all that is wrong with them, each problem with its variable.
type Invalid struct{ error }

// Unwrap gives the problems.
func (e Invalid) Unwrap() error { return e.error }

func invalid(errs ...error) error {
	if err := errors.Join(errs...); err != nil {
		return Invalid{err}
	}
	return nil
}

// unknown reports variables that do not exist, and those whose feature this version lacks.
func unknown(given map[string]string) []error {
	known := map[string]bool{}
	for _, v := range Variables() {
		known[v.Name] = true
	}
	var errs []error
	for name := range given {
		if known[name] {
			continue
		}
		if feature, ok := later[strings.TrimPrefix(name, prefix)]; ok {
			errs = append(errs, fmt.Errorf("%s: this version does not have %s", name, feature))
			continue
		}
		errs = append(errs, fmt.Errorf("%s: no such setting; `oriel run --help` lists them", name))
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errs
}

// parseProblem names the variable and its kind of value; the library's own text would name the Go field.
func parseProblem(err error) (name string, problem error) {
	var p env.ParseError
	if !errors.As(err, &p) {
		return "", fmt.Errorf("settings: %w", err)
	}
	for _, v := range Variables() {
		if v.field == p.Name {
			return v.Name, fmt.Errorf("%s: not a value of kind %s (%s)", v.Name, v.Unit, kindOf(p.Type))
		}
	}
	return "", fmt.Errorf("settings: %w", err)
}

func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Uint64:
		return "a whole number"
	case reflect.Int64:
		return "a duration such as 100ms"
	default:
		return "a number"
	}
}

// Variable is one row of the settings table.
type Variable struct {
	Name, Unit, Range, Default, Text string
	Need                             Need // the group that requires it; empty when it is optional or has a default
	field                            string
}

// Variables lists every setting in the order of the struct.
func Variables() []Variable {
	t := reflect.TypeFor[Settings]()
	rows := make([]Variable, 0, t.NumField())
	for i := range t.NumField() {
		f := t.Field(i)
		rows = append(rows, Variable{
			Name: prefix + f.Tag.Get("env"), Unit: f.Tag.Get("unit"), Range: f.Tag.Get("range"),
			Default: f.Tag.Get("envDefault"), Text: f.Tag.Get("text"), Need: Need(f.Tag.Get("need")), field: f.Name,
		})
	}
	return rows
}

// Table is the settings table in Markdown, as deploy/SETTINGS.md holds it.
func Table() string {
	var b strings.Builder
	b.WriteString("| setting | unit | range | default | meaning |\n|---|---|---|---|---|\n")
	for _, v := range Variables() {
		def := v.Default
		if v.Need != "" {
			def = "required"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", v.Name, v.Unit, v.Range, def, v.Text)
	}
	return b.String()
}
