package audit

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"oriel/cmd/internal/audit/pairs"
	"oriel/cmd/internal/audit/subject"
	"oriel/cmd/internal/settings"
	"oriel/mechanisms/mechtest/tiertest"
)

// randomSettings draws random settings of an operator. Some of these settings contradict each other, so that Oriel
// refuses them.
func randomSettings(rng *rand.Rand, operator string) []string {
	one := func(all ...string) string { return all[rng.IntN(len(all))] }
	count := func(least, most int) string { return fmt.Sprint(least + rng.IntN(most-least+1)) }
	lines := []string{
		"ORIEL_OPERATOR=" + operator, "ORIEL_EPSILON=" + one("0.1", "1", "4", "20"), "ORIEL_DELTA=" + one("1e-6", "1e-9"),
		"ORIEL_BATCH=" + one("1", "1", "2", "3", "7"), "ORIEL_ADJACENCY=" + one("replace", "replace", "zero-out"),
	}
	add := func(more ...string) { lines = append(lines, more...) }
	scope := func(trees bool) {
		names := []string{"blt"}
		if trees {
			names = append(names, "tree-gaussian", "tree-gamma", "tree-laplace")
		}
		switch name := one(names...); {
		case name != "blt":
			add("ORIEL_MECHANISM="+name, "ORIEL_WINDOW="+one("1", "2", "8", "16"))
		case rng.IntN(3) == 0:
			add("ORIEL_MECHANISM=blt", "ORIEL_WINDOW="+count(2, 20))
		case rng.IntN(4) == 0:
			add("ORIEL_MECHANISM=blt", "ORIEL_WINDOW=horizon", "ORIEL_HORIZON="+count(8, 40))
		default:
			add("ORIEL_MECHANISM=blt", "ORIEL_WINDOW=lifetime", "ORIEL_MEMORY="+one("2", "8", "100"))
		}
	}
	users := func() {
		if rng.IntN(3) == 0 {
			add("ORIEL_USER_ID="+one("key", "header:who"), "ORIEL_USER_SEPARATION="+count(1, 5))
			if strings.Contains(strings.Join(lines, " "), "ORIEL_MEMORY=") {
				add("ORIEL_USER_WINDOW=" + count(1, 12))
			}
		}
	}
	emit := func() { add("ORIEL_EMIT_EVERY=" + one("1", "2", "5", "9")) }
	plays := func() { add("ORIEL_DELAY="+count(0, 4), "ORIEL_PLAYS="+one("0", "8", "15")) }
	once := func() { add("ORIEL_MECHANISM="+one("once-gamma", "once-gaussian"), "ORIEL_WINDOW=lifetime") }
	switch operator {
	case "coco":
		add("ORIEL_LOSS="+one("linear", "logistic", "hinge", "squared", "absolute"),
			"ORIEL_SET="+one("l2-ball", "box", "l1-ball", "simplex"), "ORIEL_RADIUS="+one("0.5", "1", "5"),
			"ORIEL_DIMENSION="+count(1, 5), "ORIEL_STRONG_CONVEXITY=0.01", "ORIEL_CLIP="+one("0.3", "1", "9"))
		emit()
		if rng.IntN(4) == 0 {
			add("ORIEL_UPDATE=ogd")
			once()
			break
		}
		add("ORIEL_UPDATE=" + one("projection", "projection", "llo"))
		scope(true)
		users()
	case "aggregate":
		add("ORIEL_CELLS="+one("hour=0:24:3", "carrier=AA|DL|UA,hour=0:24:2"), "ORIEL_VALUE=delay=-60:180",
			"ORIEL_STATISTICS="+one("count", "count,mean", "count,mean,variance", "count,median"))
		scope(false)
		if rng.IntN(2) == 0 {
			add("ORIEL_WEIGHT_MAX=3")
		}
		emit()
		users()
	case "ridge":
		add(one("ORIEL_UPDATE=moments", "ORIEL_UPDATE=innovation ORIEL_RESIDUAL_MAX=100"), "ORIEL_DIMENSION="+count(1, 4),
			"ORIEL_LABEL_RANGE=-60:180")
		scope(false)
		emit()
		users()
	case "arms":
		add("ORIEL_ARMS=a,b,c", "ORIEL_RULE="+one("ucb", "exp3"), "ORIEL_LOSS_RANGE=0:"+count(1, 60))
		plays()
		once()
	case "bandit":
		add("ORIEL_SET="+one("box", "l2-ball"), "ORIEL_RADIUS=1", "ORIEL_DIMENSION="+count(1, 3),
			"ORIEL_SMOOTHING=0.2", "ORIEL_RATE=0.1", "ORIEL_BASELINE="+one("0", "0.5"))
		scope(true)
		plays()
	case "linucb":
		add("ORIEL_PLAYED="+one("served", "logged"), "ORIEL_DIMENSION="+count(1, 3), "ORIEL_WAIT="+count(2, 5))
		add(one("ORIEL_ARMS=a,b,c", "ORIEL_CANDIDATES=2"))
		scope(false)
		emit()
	case "submodular":
		if rng.IntN(3) == 0 {
			add("ORIEL_RULE=draws", "ORIEL_MECHANISM=draws", "ORIEL_WINDOW=horizon", "ORIEL_HORIZON="+one("20", "64"))
		} else {
			add("ORIEL_RULE=" + one("argmax", "leaders", "shares"))
			scope(false)
		}
		add("ORIEL_PICK="+count(1, 2), "ORIEL_ELEMENTS="+count(3, 5))
		emit()
		users()
	case "sets":
		add("ORIEL_PICK="+count(1, 2), "ORIEL_ELEMENTS=a,b,c,d", "ORIEL_TRIES="+count(1, 3))
		plays()
		if rng.IntN(3) == 0 {
			add("ORIEL_RULE=draws", "ORIEL_MECHANISM=draws", "ORIEL_WINDOW=horizon", "ORIEL_HORIZON="+one("20", "64"),
				"ORIEL_SHARE=0.5")
		} else {
			once()
		}
	}
	return strings.Fields(strings.Join(lines, " "))
}

var operatorNames = []string{"coco", "aggregate", "ridge", "arms", "bandit", "linucb", "submodular", "sets"}

// TestNeighboursOfRandomSettings checks that no correct machine is refuted, whatever its settings.
func TestNeighboursOfRandomSettings(t *testing.T) {
	rng, audited := rand.New(rand.NewPCG(27, 1)), map[string]int{}
	for tries, wanted := 0, tiertest.Runs(1, 30); tries < 400*wanted; tries++ {
		operator := operatorNames[tries%len(operatorNames)]
		if audited[operator] == wanted {
			continue
		}
		lines := randomSettings(rng, operator)
		s, err := settings.Load(lines, settings.Events, settings.Operator)
		if err != nil {
			continue
		}
		a, err := subject.New(s, [32]byte{byte(tries)}, subject.AllComponents)
		if err != nil {
			continue
		}
		if a, err = a.Deployed(); err != nil {
			t.Fatal(err)
		}
		c, err := pairs.Check(a)
		if err != nil || !c.Holds || c.Count < fewestPairs {
			t.Errorf("%s: %+v, %v", strings.Join(lines, " "), c, err)
		}
		audited[operator]++
	}
	for _, operator := range operatorNames {
		if audited[operator] < tiertest.Runs(1, 25) {
			t.Errorf("%s: %d settings", operator, audited[operator])
		}
	}
}
