package settings

import (
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/registry"
	"oriel/cmd/internal/settings/values"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/operators/setting"
	"oriel/state"
)

// noNumbers are texts that are no number of any setting. numbers are unusual notations of numbers.
var (
	noNumbers = []string{
		"nan", "NaN", "inf", "-Inf", "+infinity", "1e400", "-1e400", "1e-400", "0x10", "0x1p-2", "1_0", "1_000.5",
		strings.Repeat("9", 400), "1,5", "1 5", "--1", "1e", "e1", "½", "１",
	}
	numbers = []string{
		"-0", "+1", " 2 ", "007", "0." + strings.Repeat("3", 400), "1e0", "5e-324", "-1e308", "1e308", "18446744073709551615",
	}
)

// forms are the forms of settings that contain numbers. %s stands for a number.
var forms = []string{
	"%s", "x=%s:1", "x=0:%s", "%s:1", "0:%s", "c=%s:10:4", "c=0:%s:4", "c=0:10:%s", "%s,1", "1,%s", "4:%s", "%s|0.5",
	"f:%s:1", "f:0:%s:cyclic", "count*%s", "p%s", "%s=file", "%sd", "1h%ss", "a:%s:3", "%s 1",
	`{"label":"l","features":[{"name":"a","from":"b","scale":%s}]}`,
	`{"label":"l","features":["a"],"members":[{"name":"weight","constant":%s}]}`,
}

// TestEveryNumberOfEverySetting sets each row of the table to each notation of a number, alone and in each form in
// which settings contain numbers; the short form of the test tries one of 149 combinations. Each text must have its
// value, or an error that names a setting and does not repeat 400 digits. Users saw panics where ends of ranges were
// infinite.
func TestEveryNumberOfEverySetting(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lines")
	done, tried := map[string]bool{}, 0
	for path, example := range examples(t) {
		if done[example.Operator] {
			continue
		}
		environ := readEnv(t, path)
		first := len(done) == 0
		done[example.Operator] = true
		for _, g := range Groups() {
			if g.Operator != example.Operator && (g.Operator != "" || !first) {
				continue
			}
			for _, v := range g.Settings {
				kind := kindOf(g.Operator, v.Name)
				v.Name = prefix + v.Name
				for i, text := range slices.Concat(noNumbers, numbers) {
					if kind == "number" || kind == "count" || kind == "duration" {
						given := environWith(environ, v.Name, text)
						readsAsWritten(t, given, v.Name, kind, text)
						continue
					}
					for j, form := range forms {
						if tried++; tried%tiertest.Runs(149, 1) != 0 && (i != 2 || j > 4) { // -Inf is in each row
							continue
						}
						value := strings.ReplaceAll(form, "%s", text)
						if kind == "file" {
							if err := os.WriteFile(file, []byte(value+"\n"+value+"\n"), 0o600); err != nil {
								t.Fatal(err)
							}
							value = file
						}
						_, _ = loads(t, environWith(environ, v.Name, value), v.Name, value)
					}
				}
			}
		}
	}
	if len(done) != len(registry.All) {
		t.Errorf("%d operators", len(done))
	}
}

// environWith returns an environment with one setting changed.
func environWith(environ []string, name, value string) []string {
	return append(environ[:len(environ):len(environ)], name+"="+value)
}

// kindOf returns the kind of a setting: number, count, duration, file, or another.
func kindOf(operator, name string) string {
	if definition, ok := registry.All.Find(operator); ok {
		return map[setting.Kind]string{
			setting.Number: "number", setting.Count: "count", setting.File: "file",
		}[setting.Of(definition.Settings, name).Kind]
	}
	for _, r := range new(Settings).rows() {
		if r.name != name {
			continue
		}
		switch r.value.(type) {
		case *time.Duration:
			return "duration"
		case *float64:
			return "number"
		case *uint64, *int:
			return "count"
		}
	}
	return ""
}

// loads loads an environment as `oriel run` does and as a command does that uses no settings, and uses what it has
// loaded.
func loads(t *testing.T, environ []string, name, value string) (s Settings, err error) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%s=%.60q: panic: %v", name, value, r)
		}
	}()
	_, _ = Load(environ)
	if s, err = Load(environ, all...); err == nil {
		if strings.Contains(s.Canonical(), "NaN") || strings.Contains(s.Canonical(), "Inf") {
			t.Errorf("%s=%.60q: %s", name, value, s.Canonical())
		}
		_ = s.Deployment()
		return s, nil
	}
	text := err.Error()
	repeats := strings.Contains(text, strings.Repeat("9", 100)) || strings.Contains(text, strings.Repeat("3", 100))
	if !strings.Contains(text, prefix) || repeats && name != "ORIEL_MAP" { // whose text may be the name of a file
		t.Errorf("%s=%.60q: %v", name, value, err)
	}
	return s, err
}

// readsAsWritten checks a setting of one number: it has the value that is written, or an error names the setting.
func readsAsWritten(t *testing.T, environ []string, name, kind, text string) {
	t.Helper()
	s, err := loads(t, environ, name, text)
	if slices.Contains(noNumbers, text) {
		_, idle := Load(environ)
		if !strings.Contains(fmt.Sprint(err), name+": ") || !strings.Contains(fmt.Sprint(idle), name+": ") {
			t.Errorf("%s=%.60q: %v; by a command that does not need it: %v", name, text, err, idle)
		}
		return
	}
	if err != nil || kind == "duration" {
		return
	}
	exact, _, _ := big.ParseFloat(strings.TrimSpace(text), 10, 2000, big.ToNearestEven)
	want, _ := exact.Float64()
	got := math.NaN()
	short := strings.TrimPrefix(name, prefix)
	for _, r := range s.rows() {
		if r.name != short {
			continue
		}
		switch v := r.value.(type) {
		case *float64:
			got = *v
		case *uint64:
			got = float64(*v)
		case *int:
			got = float64(*v)
		}
	}
	if s.values.Has(short) && math.IsNaN(got) {
		if kind == "number" {
			got = s.values.Number(short)
		} else {
			got = float64(s.values.Count(short))
		}
	}
	if got != want || math.Signbit(got) != (want < 0) {
		t.Errorf("%s=%.60q is read as %v", name, text, got)
	}
}

// TestRowsOfNumbersHaveBounds checks that each number of an operator has bounds, because commands that do not use a
// setting check nothing else.
func TestRowsOfNumbersHaveBounds(t *testing.T) {
	for _, definition := range registry.All {
		for _, row := range definition.Settings {
			if (row.Kind == setting.Number || row.Kind == setting.Count) && row.Bounds == (setting.Bounds{}) {
				t.Errorf("%s: %s has no bounds", definition.Name, row.Name)
			}
			if row.Kind == setting.Text && row.Choices == nil && row.Form == nil {
				t.Errorf("%s: %s has no form", definition.Name, row.Name)
			}
		}
	}
}

// TestLengthsOfTime checks the one reader of lengths of time. `oriel numbers --every 1d` was refused.
func TestLengthsOfTime(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "100ms": 100 * time.Millisecond, " 30s ": 30 * time.Second, "5m": 5 * time.Minute, "12h": 12 * time.Hour,
		"1d": 24 * time.Hour, "30d": 720 * time.Hour, "1d12h": 36 * time.Hour, "1.5d": 36 * time.Hour,
		"1h30m": 90 * time.Minute, "106751d": 106751 * 24 * time.Hour,
	} {
		if got, err := values.Duration(text); err != nil || got != want {
			t.Errorf("%q is read as %v, %v", text, got, err)
		}
	}
	for _, text := range slices.Concat(noNumbers, []string{
		"", "d", "1", "-1h", "-1d", "1d-1h", "1h1d", "1dd", "1e3d", "infd", "106752d", "106751d24h", "300y", "1_0h", "2w",
	}) {
		if got, err := values.Duration(text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
	var s Settings
	p := &setting.Problems{}
	s.parse(p, map[string]string{"ORIEL_SESSION_TIMEOUT": "0.0001d"})
	if p.Err() != nil || s.SessionTimeout != 8640*time.Millisecond {
		t.Errorf("%v, %v", s.SessionTimeout, p.Err())
	}
}

// TestDifferencesShowLists checks that the difference of two deployments shows the values of lists and of the mapping,
// of which the canonical configuration has digests, and never the contents of files.
func TestDifferencesShowLists(t *testing.T) {
	of := func(lines ...string) state.Manifest {
		t.Helper()
		s, err := Load(append([]string{
			"ORIEL_OPERATOR=aggregate", "ORIEL_VALUE=total=0:10", "ORIEL_STATISTICS=count,mean", "ORIEL_MECHANISM=blt",
			"ORIEL_WINDOW=64", "ORIEL_EPSILON=1", "ORIEL_DELTA=1e-6",
		}, lines...), Events, Operator)
		if err != nil {
			t.Fatal(err)
		}
		m := s.Model()
		return state.Manifest{Config: m.Settings, Texts: m.Texts}
	}
	for _, c := range []struct {
		stored, configured []string
		want               string
	}{
		{
			[]string{"ORIEL_CELLS=c=A|B"},
			[]string{"ORIEL_CELLS=c=A|B,hour=0:24:4"},
			"CELLS: stored c=A|B, configured c=A|B,hour=0:24:4",
		},
		{[]string{"ORIEL_STATISTICS=mean"}, nil, "STATISTICS: stored mean, configured count,mean"},
		{
			[]string{`ORIEL_MAP={"members":["total=/a"]}`},
			[]string{`ORIEL_MAP={"members":["total=/b"]}`},
			`MAP: stored {"members":["total=/a"]}, configured {"members":["total=/b"]}`,
		},
		{[]string{"ORIEL_EMIT_EVERY=2"}, nil, "EMIT_EVERY: stored 2, configured 1"},
	} {
		if diff := state.ConfigDiff(of(c.stored...), of(c.configured...)); len(diff) != 1 || diff[0] != c.want {
			t.Errorf("%q, want %q", diff, c.want)
		}
	}
	places := filepath.Join(t.TempDir(), "places")
	if err := os.WriteFile(places, []byte("here:1:2\nthere:3:4\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Load([]string{"ORIEL_OPERATOR=submodular", "ORIEL_PLACES=" + places}, Events)
	if err != nil || strings.Contains(s.texts(), "here") {
		t.Errorf("%q, %v", s.texts(), err)
	}
}
