package race

import (
	"bufio"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"oriel/cmd/internal/eval"
	"oriel/cmd/internal/repotest"
	"oriel/cmd/internal/settings"
)

// TestTheExampleOfPortfoliosLearns checks that the settings of deploy/examples/portfolio.env reach half of the gain
// without noise within 20 000 events. The six outcomes have the probabilities of six brackets of flight delays.
func TestTheExampleOfPortfoliosLearns(t *testing.T) {
	file, err := os.Open(repotest.Path("deploy/examples/portfolio.env"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var environ []string
	for s := bufio.NewScanner(file); s.Scan(); {
		if line := strings.TrimSpace(s.Text()); line != "" && !strings.HasPrefix(line, "#") {
			environ = append(environ, line)
		}
	}
	s, err := settings.Load(environ, settings.Events, settings.Operator)
	if err != nil {
		t.Fatal(err)
	}
	probabilities := []float64{0.30, 0.23, 0.19, 0.14, 0.09, 0.05}
	rng, best, events := rand.New(rand.NewPCG(8, 8)), 0.0, lines{}
	for range 20_000 {
		which, u := 0, rng.Float64()
		for u > probabilities[which] && which < 5 {
			u, which = u-probabilities[which], which+1
		}
		relatives := []string{"0.25", "0.25", "0.25", "0.25", "0.25", "0.25"}
		relatives[which] = "4.75"
		best += math.Log(0.25 + 4.5*probabilities[which])
		events = append(events, fmt.Sprintf(`{"relatives":[%s]}`, strings.Join(relatives, ",")))
	}
	r := evaluate(t, eval.Input{Settings: []settings.Settings{s}}, events)
	private, bare := float64(r.Rows[0].Wealth.Mean), float64(r.Rows[1].Wealth.Mean)
	if t.Logf("log wealth %.0f, %.0f without noise, %.0f with the probabilities", private, bare, best); private < bare/2 ||
		bare < best/4 {
		t.Errorf("log wealth %.0f, %.0f without noise, %.0f with the probabilities", private, bare, best)
	}
}
