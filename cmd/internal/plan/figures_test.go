package plan

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"oriel/cmd/internal/plan/opened"
	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/protection"
)

// inTexts matches a figure as texts print it, for example 1 849 or 3.7·10⁵.
var inTexts = regexp.MustCompile(`^(\d+(?: \d{3})*(?:\.\d+)?)(?:·10(\p{No}+))?$`)

// shown parses a figure, and returns its value and the unit of its last digit.
func shown(t *testing.T, text string) (value, unit float64) {
	t.Helper()
	parts := inTexts.FindStringSubmatch(strings.TrimSpace(text))
	if parts == nil {
		t.Fatalf("%q is no figure", text)
	}
	digits := strings.ReplaceAll(parts[1], " ", "")
	value, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		t.Fatal(err)
	}
	_, fraction, _ := strings.Cut(digits, ".")
	unit = math.Pow(10, -float64(len(fraction)))
	scale := math.Pow(10, float64(superscript(parts[2])))
	return value * scale, unit * scale
}

func superscript(text string) int {
	n := 0
	for _, c := range text {
		for digit, s := range []rune("⁰¹²³⁴⁵⁶⁷⁸⁹") {
			if c == s {
				n = 10*n + digit
			}
		}
	}
	return n
}

// TestFiguresOfTheTexts checks the figures of deploy/PRIVACY.md for ε by age and of groups: they must be those of the
// guarantees, with the last digit rounded up.
func TestFiguresOfTheTexts(t *testing.T) {
	guarantee := func(name string, change func(*mechanisms.Config)) protection.Guarantee {
		t.Helper()
		c := mechanisms.Config{
			Name: name, Batch: 1,
			Terms:        protection.Terms{Scope: protection.Window{Steps: 1024}, Unit: protection.Event{Exchange: dp.Replace}},
			Contribution: contribution.OneComponent(8, 1), Budget: dp.Budget{Epsilon: 1, Delta: 1e-6},
		}
		if name == "blt" {
			c.AgeWeight = 0.3
		}
		change(&c)
		m, err := opened.New(c)
		if err != nil {
			t.Fatal(err)
		}
		return m.Guarantee
	}
	event := func(*mechanisms.Config) {}
	users := func(s uint64) func(*mechanisms.Config) {
		return func(c *mechanisms.Config) { c.Unit = protection.User{Exchange: dp.Replace, Separation: s} }
	}
	at := func(loss func(uint64) dp.Budget) (all []float64) {
		for _, windows := range []uint64{1, 10, 100, 1000} {
			all = append(all, loss(windows*1024).Epsilon)
		}
		return all
	}
	blt, tree, laplace := guarantee("blt", event), guarantee("tree-gaussian", event), guarantee("tree-laplace", event)
	daily, often := guarantee("blt", users(1024)), guarantee("blt", users(100))
	check := func(what string, texts []string, want []float64) {
		t.Helper()
		if len(texts) != len(want) {
			t.Fatalf("%s: %d figures, want %d", what, len(texts), len(want))
		}
		for i, text := range texts {
			if value, unit := shown(t, text); value < want[i]*(1-1e-9) || value-want[i] >= unit {
				t.Errorf("%s: %s is shown, the guarantee is %g", what, text, want[i])
			}
		}
	}
	privacy := source(t, "deploy/PRIVACY.md")
	row := func(start string) []string {
		t.Helper()
		_, rest, found := strings.Cut(privacy, "\n| "+start+" |")
		if !found {
			t.Fatalf("no row %q", start)
		}
		line, _, _ := strings.Cut(rest, "|\n")
		return strings.Split(line, "|")
	}
	check("blt", row("`blt`"), at(blt.At))
	check("tree-gaussian", row("`tree-gaussian`"), at(tree.At))
	check("pure", row("`tree-gamma`, `tree-laplace`"), at(laplace.At))
	life := guarantee("blt", func(c *mechanisms.Config) { c.Scope, c.AgeWeight = protection.Decay{Steps: 1024}, 0 })
	check("for life", row("one event"), at(life.At))
	present := func(s uint64) protection.Guarantee {
		return guarantee("blt", func(c *mechanisms.Config) {
			c.Scope, c.AgeWeight = protection.Decay{Steps: 1024}, 0
			c.Unit = protection.User{Exchange: dp.Replace, Separation: s, Steps: 1024}
		})
	}
	check("users for life", row("a user's events among any 1024 steps, s = 100"), at(present(100).At))
	check("users for life, s = H", row("all events of a user, one each 1024 steps"), at(present(1024).AtAll))
	check("users for life, s = 100", row("all events of a user, s = 100"), at(present(100).AtAll))
	check("users, s = W", row("`blt`, all events of a user, one a window (s = W)"), at(daily.AtAll))
	check("users, s = 100", row("`blt`, all events of a user, s = 100"), at(often.AtAll))
	check("groups", row("events of a group"), []float64{blt.Group(2).Epsilon, blt.Group(5).Epsilon, blt.Group(10).Epsilon})
	var together []float64
	for _, f := range []float64{2, 5, 10} {
		together = append(together, dp.GaussianEpsilon(math.Sqrt(f)*dp.GaussianMu(dp.Budget{Epsilon: 1, Delta: 1e-6}), 1e-6))
	}
	check("deployments", row("deployments on one topic"), together)
}

func source(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile("../../../" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
