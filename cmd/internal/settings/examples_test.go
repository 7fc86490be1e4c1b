package settings

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"oriel/cmd/internal/registry"
	"oriel/operators"
	"oriel/schemas/decision"
	"oriel/schemas/event"
	"oriel/schemas/text"
)

func readEnv(t *testing.T, path string) []string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var environ []string
	for s := bufio.NewScanner(f); s.Scan(); {
		if line := strings.TrimSpace(s.Text()); line != "" && !strings.HasPrefix(line, "#") {
			environ = append(environ, line)
		}
	}
	return environ
}

// examples changes into the folder to which the paths of deploy/examples/*.env are relative, and loads these files.
func examples(t *testing.T) map[string]Settings {
	t.Helper()
	t.Chdir("../../..")
	files, err := filepath.Glob("deploy/examples/*.env")
	if err != nil {
		t.Fatal(err)
	}
	loaded := map[string]Settings{}
	for _, path := range files {
		if loaded[path], err = Load(readEnv(t, path), all...); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	return loaded
}

// TestExampleFilesLoadAndHaveAPlan checks that each operator has an example file with a calibration that fits it, and
// that a shell reads the file as Docker does.
func TestExampleFilesLoadAndHaveAPlan(t *testing.T) {
	plain := regexp.MustCompile(`^[A-Z_]+=[A-Za-z0-9_.,:/=-]+$`)
	without := registry.All.Names()
	for path, s := range examples(t) {
		if _, err := guarantee(s); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		for _, line := range readEnv(t, path) {
			if !plain.MatchString(line) {
				t.Errorf("%s: %s: a shell would need quotes", path, line)
			}
		}
		without = slices.DeleteFunc(without, func(name string) bool { return name == s.Operator })
	}
	if len(without) > 0 {
		t.Errorf("no example of %v", without)
	}
}

// TestExampleFilesShowEvents checks that each complete JSON object in the comments of an example file is a valid event
// under the settings of the file. It skips objects with an ellipsis.
func TestExampleFilesShowEvents(t *testing.T) {
	for path, s := range examples(t) {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		config := s.EventConfig()
		decoder, err := event.OpenDecoder(config)
		if err != nil {
			t.Fatal(err)
		}
		shown := 0
		value := strings.ReplaceAll(string(content), "\n# ", " ")
		for at := strings.Index(value, "{"); at >= 0; at = strings.Index(value, "{") {
			value = value[at:]
			var object json.RawMessage
			if json.NewDecoder(strings.NewReader(value)).Decode(&object) != nil {
				object = json.RawMessage("{") // an object with an ellipsis
			} else if code := decoder.Decode(new(event.Event), object); code != text.OK {
				t.Errorf("%s: %s: %v", path, object, code)
			}
			shown, value = shown+1, value[len(object):]
		}
		if shown == 0 {
			t.Errorf("%s: shows no event", path)
		}
	}
}

// TestOperatorsHaveTheirCapabilities checks that a method with the name of an optional interface's method has the
// interface's signature, because a type assertion would silently fail otherwise. It also checks that every operator can
// be audited.
func TestOperatorsHaveTheirCapabilities(t *testing.T) {
	capabilities := []reflect.Type{
		reflect.TypeFor[operators.Formatted](), reflect.TypeFor[operators.Writer](), reflect.TypeFor[operators.Descriptive](),
		reflect.TypeFor[operators.Scorer](), reflect.TypeFor[operators.Reporter](), reflect.TypeFor[operators.Thinning](),
		reflect.TypeFor[operators.Cautious](), reflect.TypeFor[operators.Audited](),
	}
	core := reflect.TypeFor[operators.Operator]()
	for path, s := range examples(t) {
		learner := s.Learner()
		operator := reflect.TypeOf(learner.Operator())
		for _, capability := range capabilities {
			for i := range capability.NumMethod() {
				name := capability.Method(i).Name
				_, ofAll := core.MethodByName(name)
				if _, has := operator.MethodByName(name); has && !ofAll && !operator.Implements(capability) {
					t.Errorf("%s: %s of %v is not that of %v", path, name, operator, capability)
				}
			}
		}
		if _, audited := learner.Operator().(operators.Audited); !audited {
			t.Errorf("%s: %v has no reference model", path, operator)
		}
	}
}

// TestDashboardShowsNumbersOfDecisions checks the dashboard's panels of numbers that decisions contain besides their
// coordinates. Each panel must name exactly the operators whose example decisions have the panel's number.
func TestDashboardShowsNumbersOfDecisions(t *testing.T) {
	owners := map[string][]string{}
	for _, s := range examples(t) {
		m := s.Model()
		for _, x := range m.Learner.Operator().Extras() {
			if x.Kind == decision.ExtraNumber {
				owners[x.Name] = append(owners[x.Name], s.Operator)
			}
		}
	}
	content, err := os.ReadFile("deploy/grafana/dashboards/oriel.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Description string
			Targets     []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(content, &dashboard); err != nil {
		t.Fatal(err)
	}
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			_, member, found := strings.Cut(target.Expr, `member="`)
			if !found {
				continue
			}
			member, _, _ = strings.Cut(member, `"`)
			if len(owners[member]) == 0 {
				t.Errorf("a panel shows %s, which no decision has, or two panels do", member)
			}
			for _, operator := range owners[member] {
				if !strings.Contains(panel.Description, operator) {
					t.Errorf("the panel of %s does not name %s", member, operator)
				}
			}
			delete(owners, member)
		}
	}
}
