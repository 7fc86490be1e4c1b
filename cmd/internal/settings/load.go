package settings

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"oriel/cmd/internal/registry"
	"oriel/operators/setting"
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
	p := &setting.Problems{}
	s.parse(p, given)
	s.NamesID = given[prefix+"DECISIONS_SCHEMA_ID"] != ""
	// Kafka's own names are upper case, for example PLAIN and SCRAM-SHA-256
	s.SASLMechanism = strings.ToLower(s.SASLMechanism)
	p.Add(unknown(table, s.Operator, given)...)
	for _, r := range s.rows() {
		keyless := s.MasterKeyCommand != "" || slices.Contains(needs, Keyless)
		replaced := r.name == "WINDOW" && (s.PerStep() || s.ByClock()) || r.name == "MASTER_KEY_FILE" && keyless
		if slices.Contains(needs, r.need) && given[prefix+r.name] == "" && !replaced {
			p.Break(r.name, "not set; %s", r.text)
		}
	}
	s.checkValues(p, given)
	s.ReadFilter(p, given, slices.Contains(needs, Operator))
	s.ReadStep(p, given, slices.Contains(needs, Operator))
	s.readStart(p, slices.Contains(needs, Service))
	reads := slices.Contains(needs, Operator) || slices.Contains(needs, Events)
	s.ReadMap(p, reads)
	if reads {
		s.Records.Read(p, s.InputTopic)
	}
	definition := s.readOperator(p, table, given, needs)
	s.check(needs, p)
	s.configure(p, definition, needs)
	return s, invalid(p.Err())
}

// parse reads the settings that every operator has.
func (s *Settings) parse(p *setting.Problems, given map[string]string) {
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

// checkValues refuses a value that no command can use, whatever the other settings are. Every command calls it for all
// settings that are set. Rules of settings together are checked by the commands that use them.
func (s *Settings) checkValues(p *setting.Problems, given map[string]string) {
	for _, r := range s.rows() {
		if given[prefix+r.name] == "" {
			continue
		}
		if r.choices != nil {
			p.OneOf(r.name, *r.value.(*string), r.choices...)
		}
		if r.wrong != nil {
			p.Break(r.name, "%w", r.wrong)
		}
	}
}
