package settings

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"oriel/cmd/internal/registry"
	"oriel/mechanisms"
	"oriel/operators"
)

// Need is a group of settings that a command requires.
type Need string

// The groups of settings.
const (
	Kafka      Need = "kafka"      // needed to reach the brokers
	Deployment Need = "deployment" // needed to name a deployment and open its sealed records
	Keyless    Need = "keyless"    // with Deployment: the master key is not needed, because it may be lost
	Service    Need = "service"    // needed to run the service
	Letters    Need = "letters"    // needed to write dead letters
	Events     Need = "events"     // needed to decode events
	Operator   Need = "operator"   // needed to process events and release decisions
)

// Load reads the environment, in the form of os.Environ, and validates all of it for a command that needs these groups.
func Load(environ []string, needs ...Need) (Settings, error) {
	return LoadOf(registry.All, environ, needs...)
}

// LoadOf is like Load, with another table of operators.
func LoadOf(table registry.Table, environ []string, needs ...Need) (Settings, error) {
	given := map[string]string{}
	for _, line := range environ {
		if name, value, ok := strings.Cut(line, "="); ok && strings.HasPrefix(name, prefix) {
			if given[name] = strings.TrimSpace(value); given[name] == "" { // an empty value is not set
				delete(given, name)
			}
		}
	}
	var s Settings
	p := &operators.Problems{}
	s.parse(p, given)
	s.namesID = given[prefix+"DECISIONS_SCHEMA_ID"] != ""
	// Kafka's own names are upper case, for example PLAIN and SCRAM-SHA-256
	s.SASLMechanism = strings.ToLower(s.SASLMechanism)
	p.Add(unknown(table, s.Operator, given)...)
	for _, r := range s.rows() {
		keyless := s.MasterKeyCommand != "" || slices.Contains(needs, Keyless)
		replaced := r.name == "WINDOW" && s.perStep() || r.name == "MASTER_KEY_FILE" && keyless
		if slices.Contains(needs, r.need) && given[prefix+r.name] == "" && !replaced {
			p.Break(r.name, "not set; %s", r.text)
		}
	}
	definition, _ := table.Find(s.Operator)
	s.checkValues(p, given, definition.Mechanisms)
	s.readFilter(p, given, slices.Contains(needs, Operator))
	s.readStart(p, slices.Contains(needs, Service))
	reads := slices.Contains(needs, Operator) || slices.Contains(needs, Events)
	s.readMap(p, reads)
	if reads {
		s.readRecords(p)
	}
	definition = s.readOperator(p, table, given, needs)
	s.check(needs, p)
	s.configure(p, definition, needs)
	return s, invalid(p.Err())
}

// parse reads the settings that every operator has.
func (s *Settings) parse(p *operators.Problems, given map[string]string) {
	for _, r := range s.rows() {
		text := cmp.Or(given[prefix+r.name], r.initial)
		if text == "" {
			continue
		}
		if err := r.read(text); err != nil {
			p.Malformed(r.name, text, err, r.unit)
		}
	}
}

// readFilter reads and checks the settings that shape the mechanism's filter. It refuses them for mechanisms without a
// filter.
func (s *Settings) readFilter(p *operators.Problems, given map[string]string, needed bool) {
	for _, name := range []string{"AGE_WEIGHT", "POLES"} {
		_, set := given[prefix+name]
		takes := s.facts().Structure == mechanisms.Filter || !p.Sound("MECHANISM")
		p.Want(name, !set || takes || !needed, "set, but only ORIEL_MECHANISM=blt has a filter that it shapes")
	}
	if s.Window == horizon || s.decays() {
		_, set := given[prefix+"AGE_WEIGHT"]
		p.Want("AGE_WEIGHT", !set || s.facts().Structure != mechanisms.Filter || s.AgeWeight == 0,
			"%g: with ORIEL_WINDOW=%s no event outlives the window; leave it out", s.AgeWeight, s.Window)
		s.AgeWeight = 0
	}
	p.Want("POLES", s.Poles == 0 || !s.decays(), "%d: with ORIEL_WINDOW=lifetime the memory decides; leave it out", s.Poles)
}

// Invalid is an error in the settings. It joins all problems, each with its variable.
type Invalid struct{ error }

// Unwrap returns the joined problems.
func (e Invalid) Unwrap() error { return e.error }

func invalid(errs ...error) error {
	if err := errors.Join(errs...); err != nil {
		return Invalid{err}
	}
	return nil
}

// unknown reports variables that do not exist, and variables of operators that are not chosen.
func unknown(table registry.Table, chosen string, given map[string]string) []error {
	known := map[string]bool{}
	for _, r := range new(Settings).rows() {
		known[prefix+r.name] = true
	}
	_, found := table.Find(chosen)
	var errs []error
	for name := range given {
		short := strings.TrimPrefix(name, prefix)
		owners := table.Owners(short)
		switch {
		case known[name], slices.Contains(owners, chosen), len(owners) > 0 && !found:
		case len(owners) > 0:
			errs = append(errs,
				fmt.Errorf("%s: not a setting of ORIEL_OPERATOR=%s, but of %s", name, chosen, strings.Join(owners, ", ")))
		default:
			errs = append(errs, fmt.Errorf("%s: no such setting; `oriel run --help` lists them", name))
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errs
}
