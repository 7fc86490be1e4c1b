package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/settings"
	"oriel/mechanisms"
	"oriel/mechanisms/audit"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/windowtree"
	"oriel/operators"
	"oriel/operators/convex"
	"oriel/operators/loss"
)

// auditEnv is a small deployment at ε = 20: µ is 3.2, and some thousand runs bound it to a tenth.
func auditEnv(more ...string) []string {
	return append([]string{
		"ORIEL_OPERATOR=coco", "ORIEL_UPDATE=projection", "ORIEL_LOSS=logistic", "ORIEL_SET=l2-ball", "ORIEL_RADIUS=5", "ORIEL_DIMENSION=4",
		"ORIEL_STRONG_CONVEXITY=0.01", "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=8", "ORIEL_EPSILON=20", "ORIEL_DELTA=1e-6", "ORIEL_CLIP=1.5",
	}, more...)
}

func auditSettings(t *testing.T, more ...string) settings.Settings {
	t.Helper()
	given := map[string]string{}
	for _, line := range auditEnv(more...) {
		name, value, _ := strings.Cut(line, "=")
		given[name] = value
	}
	var lines []string
	for name, value := range given {
		lines = append(lines, name+"="+value)
	}
	s, err := settings.Load(lines, settings.Events, settings.Operator)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// runAuditCommand runs `oriel audit` in this process.
func runAuditCommand(t *testing.T, args ...string) (string, error) {
	t.Helper()
	for _, line := range os.Environ() { // what the test itself was run with is no setting
		if name, _, _ := strings.Cut(line, "="); strings.HasPrefix(name, "ORIEL_") {
			t.Setenv(name, "") // put back at the end
			_ = os.Unsetenv(name)
		}
	}
	for _, line := range auditEnv() {
		name, value, _ := strings.Cut(line, "=")
		t.Setenv(name, value)
	}
	cmd := auditCommand()
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(io.Discard)
	cmd.SilenceUsage = true
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

type auditJSON struct {
	Mechanism string
	Runs      int
	Reach     float64
	Bounds    []audit.Bound
	Verdict   string
}

// An honest machine comes to nine tenths of its claim and not beyond, in words, in JSON, and in the scores that other auditors read; a seed
// repeats every figure.
func TestAuditCommand(t *testing.T) {
	file := filepath.Join(t.TempDir(), "scores.csv")
	args := []string{"--runs", "5000", "--seed", seedText, "--position", "3"}
	text, err := runAuditCommand(t, append(args, "--scores", file)...)
	if err != nil || !strings.Contains(text, "No bound exceeds its claim. The first comes to 0.9") || !strings.Contains(text, "leaf moves by 3 of 3") {
		t.Fatalf("%v: %s", err, text)
	}
	document, err := runAuditCommand(t, append(args, "--json")...)
	var got auditJSON
	if err = errors.Join(err, json.Unmarshal([]byte(document), &got)); err != nil {
		t.Fatal(err)
	}
	first := got.Bounds[0]
	if got.Mechanism != "blt" || got.Runs != 5000 || got.Verdict != "holds" || first.Value < 0.9*first.Claim || first.Value > first.Claim {
		t.Errorf("%+v", got)
	}
	if want := fmt.Sprintf("%s  %.3f  %d of 5000", lower(first.Value), first.Value/first.Claim, first.Right); !strings.Contains(strings.Join(strings.Fields(text), "  "), strings.Join(strings.Fields(want), "  ")) {
		t.Errorf("the table lacks %q:\n%s", want, text)
	}

	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(content)).ReadAll()
	if err != nil || len(rows) != 5001 || !slices.Equal(rows[0], []string{"canary", "score"}) {
		t.Fatalf("%d rows, first %v: %v", len(rows), rows[0], err)
	}
	right := 0
	for _, row := range rows[1:] {
		score, err := strconv.ParseFloat(row[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		if (score > 0) == (row[0] == "1") {
			right++
		}
	}
	if right != first.Right {
		t.Errorf("%d right guesses by the scores, %d by the report", right, first.Right)
	}
}

func TestAuditStopsInTime(t *testing.T) {
	start := time.Now()
	text, err := runAuditCommand(t, "--time", "300ms", "--epsilon", "0.5")
	if took := time.Since(start); err != nil || took > 10*time.Second || !strings.Contains(text, "0.9 takes about") {
		t.Errorf("after %v: %v: %s", took, err, text)
	}
}

func TestAuditRefusesBadFlags(t *testing.T) {
	for _, args := range [][]string{
		{"--runs", "1"},
		{"--runs", "-5"},
		{"--runs", "9000000"},
		{"--time", "0s"},
		{"--position", "0"},
		{"--position", "3000000"},
		{"--steps", "3000000"},
		{"--alpha", "0"},
		{"--alpha", "1"},
		{"--epsilon", "-1"},
		{"--seed", "0a"},
		{"--runs", "9", "--time", "1s"},
	} {
		if _, err := runAuditCommand(t, args...); err == nil || !strings.Contains(err.Error(), strings.TrimLeft(args[0], "-")) {
			t.Errorf("%v: %v", args, err)
		}
	}
	if _, err := runAuditCommand(t, "--runs", "9", "--scores", t.TempDir()); err == nil {
		t.Error("scores into a directory")
	}
}

// halfNoise plants noise at half scale under the configured machine.
func halfNoise(c mechanisms.Config, p mechanisms.Plan, key [32]byte) (*mechanisms.Stream, error) {
	sampler, err := noise.NewGaussian(noise.Scale{Mant: p.Scale.Mant, Exp: p.Scale.Exp - 1})
	if err != nil {
		return nil, err
	}
	sum, err := windowtree.New(c.Window, p.Grid, c.Dimension, sampler, 0)
	if err != nil {
		return nil, err
	}
	return mechanisms.NewStream(c, p, key, sum)
}

// A refuted claim is an error that says so, after the table.
func TestAuditFailsWhenAClaimIsRefuted(t *testing.T) {
	o := auditOptions{runs: 3000, position: 1, alpha: 0.001, time: time.Minute}
	subject, err := newAuditSubject(auditSettings(t, "ORIEL_MECHANISM=tree-gaussian"), o)
	if err != nil {
		t.Fatal(err)
	}
	subject.stream = halfNoise
	result, err := subject.audit(t.Context(), io.Discard, o, [32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	var table, document bytes.Buffer
	if err := errors.Join(result.print(&table), result.printJSON(&document)); err != nil {
		t.Fatal(err)
	}
	err = result.verdict()
	if !errors.Is(err, audit.ErrClaim) || !strings.Contains(err.Error(), "0.001") {
		t.Errorf("verdict %v", err)
	}
	if strings.Contains(table.String(), "No bound exceeds") || !strings.Contains(document.String(), `"verdict": "refuted"`) {
		t.Errorf("%s%s", table.String(), document.String())
	}
}

// Every configuration has a canary that moves a leaf by the whole sensitivity, whatever was decided before, and whose gradient is far longer
// than the clip with its weight. Without it the weight alone is.
func TestCanaryMovesTheLeafByTheWholeSensitivity(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, mechanism := range []string{"blt", "tree-laplace"} {
		for _, name := range loss.Names() {
			for _, set := range convex.Names() {
				if name == "portfolio" && set != "simplex" {
					continue
				}
				for _, radius := range []string{"0.01", "7"} {
					s := auditSettings(t, "ORIEL_LOSS="+name, "ORIEL_SET="+set, "ORIEL_RADIUS="+radius, "ORIEL_MECHANISM="+mechanism, "ORIEL_DIMENSION=5")
					a, err := newAuditSubject(s, auditOptions{position: 1})
					if err != nil {
						t.Fatal(err)
					}
					what := fmt.Sprintf("%s on the %s of radius %s", name, set, radius)
					if d := a.canary.Distance(); math.Abs(d-3) > 1e-6 {
						t.Errorf("%s: leaves are %g apart, want 3", what, d)
					}
					checkCanary(t, what, a, rng)
				}
			}
		}
	}
}

func checkCanary(t *testing.T, what string, a *auditSubject, rng *rand.Rand) {
	t.Helper()
	projection, err := convex.NewProjection(a.operator.Set)
	if err != nil {
		t.Fatal(err)
	}
	x, gradient, units := make([]float64, 5), make([]float64, 5), make([]int64, 5)
	for range 30 {
		for i := range x {
			x[i] = 20 * rng.NormFloat64()
		}
		projection.Project(x, x)
		for r, leaf := range map[*operators.Record][]float64{&a.with: a.canary.With, &a.without: a.canary.Without} {
			if r.Event.Weight < beyond || !a.operator.Loss.Gradient(gradient, x, r.Event) {
				t.Fatalf("%s: weight %g, or no gradient at %v", what, r.Event.Weight, x)
			}
			a.operator.Set.Tangent(gradient)
			length := 0.0
			for _, g := range gradient {
				length = math.Hypot(length, g)
			}
			if length < 0.99*beyond*a.mechanism.Clip {
				t.Errorf("%s: a gradient of length %g at %v", what, length, x)
			}
			a.plan.Grid.Quantise(units, gradient)
			for i, q := range units {
				if math.Abs(float64(q)*a.plan.Grid.Unit()-leaf[i]) > 4*a.plan.Grid.Unit() {
					t.Errorf("%s: leaf %v at %v, want %v", what, units, x, leaf)
					break
				}
			}
		}
	}
}

// The whole way for other mechanisms, units and updates: nothing is refuted, and the history is one.
func TestAuditOfOtherSettings(t *testing.T) {
	for _, more := range [][]string{
		{"ORIEL_MECHANISM=tree-gaussian", "ORIEL_BATCH=3", "ORIEL_ADJACENCY=zero-out"},
		{"ORIEL_MECHANISM=tree-gamma", "ORIEL_LOSS=portfolio", "ORIEL_SET=simplex", "ORIEL_RADIUS=1"},
		{"ORIEL_MECHANISM=tree-laplace", "ORIEL_LOSS=hinge", "ORIEL_SET=box"},
		{"ORIEL_MECHANISM=tree-gaussian-paper"},
		{"ORIEL_UPDATE=ogd", "ORIEL_MECHANISM=once-gaussian", "ORIEL_WINDOW=lifetime", "ORIEL_LOSS=squared"},
		{"ORIEL_WINDOW=horizon", "ORIEL_HORIZON=6", "ORIEL_AGE_WEIGHT=0", "ORIEL_UPDATE=llo", "ORIEL_SET=l1-ball"},
		{"ORIEL_USER_ID=key", "ORIEL_USER_SEPARATION=3", "ORIEL_LOSS=linear"},
	} {
		o := auditOptions{runs: 300, position: 1, alpha: 0.001, time: time.Minute}
		subject, err := newAuditSubject(auditSettings(t, more...), o)
		if err != nil {
			t.Errorf("%v: %v", more, err)
			continue
		}
		result, err := subject.audit(t.Context(), io.Discard, o, [32]byte{1})
		var table, document bytes.Buffer
		if err = errors.Join(err, result.verdict(), result.print(&table), result.printJSON(&document)); err != nil {
			t.Errorf("%v: %v", more, err)
		}
		if result.report.Runs != 300 || !json.Valid(document.Bytes()) || !strings.Contains(table.String(), "No bound exceeds") {
			t.Errorf("%v: %s%s", more, table.String(), document.String())
		}
		t.Logf("%s", table.String())
	}
}

func TestLowerNeverRoundsUp(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 1: "1", 0.123456: "0.1234", 0.99999: "0.9999", 12345: "1.234e+04", 2.9999999: "2.999"} {
		if got := lower(x); got != want {
			t.Errorf("lower(%g) = %s, want %s", x, got, want)
		}
	}
}
