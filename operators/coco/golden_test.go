package coco

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"oriel/operators"
	"oriel/operators/loss"
	"oriel/schemas/event"
)

var rewrite = flag.Bool("rewrite", false, "write testdata/golden.txt")

const goldenFile = "testdata/golden.txt"

// TestGoldenDecisions pins every bit of 300 decisions without noise, for each loss, set and update. The events are
// computed from integers, so the bytes must be equal on every CPU and build.
func TestGoldenDecisions(t *testing.T) {
	const first = 6 // number of losses in the first version; the lines of later losses follow
	lines := append(goldenLines(t, loss.Names()[:first], 0), goldenLines(t, loss.Names()[first:], first)...)
	for _, set := range []string{"l2-ball", "l1-ball", "simplex", "box"} {
		c := sample(t, set, 7)
		lines = append(lines, fmt.Sprintf("projection memory %s linear %s", set, digest(quiet(t, c, remembering(c, 64, 1)))))
	}
	for _, later := range []struct{ update, set, constants string }{
		{Projection, "subsets", Proved},
		{LLO, "subsets", Proved},
		{LLO, "flow", Proved},
		{Projection, "partition", Proved},
		{LLO, "partition", Proved},
		{LLO, "ranking", Search},
		{Projection, "ranking", Proved},
	} {
		c := sample(t, later.set, 7)
		c.Update, c.Constants = later.update, later.constants
		m := quiet(t, c, mechanism(c, 4, 1))
		lines = append(lines, fmt.Sprintf("%s %s %s linear %s", later.update, later.constants, later.set, digest(m)))
	}
	for _, set := range []string{"box", "flow", "subsets", "trees"} {
		c := sample(t, set, 7)
		c.Update, c.Constants, c.First = LLO, Search, Vertex
		m := quiet(t, c, mechanism(c, 4, 1))
		lines = append(lines, fmt.Sprintf("llo search %s vertex linear %s", set, digest(m)))
	}
	for _, set := range []string{"flow", "box", "trees", "chain", "segment"} {
		c := sample(t, set, 7)
		c.Update, c.Constants = LLO, Search
		lines = append(lines,
			fmt.Sprintf("llo search %s linear %s", set, digest(quiet(t, c, mechanism(c, 4, 1)))),
			fmt.Sprintf("llo search %s memory linear %s", set, digest(quiet(t, c, remembering(c, 64, 1)))))
	}
	if *rewrite {
		if err := os.WriteFile(goldenFile, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.Open(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	in := bufio.NewScanner(file)
	for _, line := range lines {
		if !in.Scan() || in.Text() != line {
			t.Errorf("decisions %q, stored %q", line, in.Text())
		}
	}
	if in.Scan() {
		t.Errorf("stored beyond the last: %q", in.Text())
	}
}

// goldenLines returns a line for each loss in names. number is the index of the first one among all losses.
func goldenLines(t *testing.T, names []string, number int) (lines []string) {
	t.Helper()
	for _, update := range []string{Projection, LLO, OGD} {
		for _, set := range []string{"l2-ball", "l1-ball", "simplex", "box"} {
			if update == LLO && set == "l2-ball" {
				continue
			}
			for i, name := range names {
				c := sample(t, set, 7)
				c.Update, c.Loss, c.OwnConvexity = update, mustLoss(t, name), (number+i)%2 == 1
				m := quiet(t, c, mechanism(c, 16, 1))
				lines = append(lines, fmt.Sprintf("%s %s %s %s", update, set, name, digest(m)))
			}
		}
	}
	return lines
}

func digest(m *Machine) string {
	counted := operators.ByCount(m)
	rng := rand.New(rand.NewPCG(20, 20))
	hash := sha256.New()
	var word [8]byte
	for step := range 300 {
		e := event.Event{Weight: float64(1+rng.IntN(4)) / 4, Label: float64(1 - 2*rng.IntN(2))}
		for range 7 {
			e.Vector.Values = append(e.Vector.Values, float64(1+rng.IntN(1000))/300)
		}
		for _, d := range counted.Add(nil, record(step, e)) {
			for _, x := range d.Point {
				binary.LittleEndian.PutUint64(word[:], math.Float64bits(x))
				hash.Write(word[:])
			}
		}
	}
	return hex.EncodeToString(hash.Sum(nil)[:16])
}
