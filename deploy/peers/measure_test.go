package peers

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// attempts is how often a claim must fail before it counts as broken. A step that is slow by itself is slow in every
// attempt. A busy neighbour on the machine, or memory pages that compete for the same cache lines, slows some attempts
// only.
const attempts = 3

// line is one line of the table.
type line struct {
	name  string
	time  func() float64 // returns the time of a draw or a step in ns
	times []float64      // times in ns, one for each round
}

// claim is a limit on the ratio of two lines. A limit of 0 stands for none.
type claim struct {
	of, to          *line
	atMost, atLeast float64
}

// hold measures lines and checks claims about them. While a claim fails, it makes and measures the lines again, up to
// attempts times, so that neither one bad minute nor one bad place in memory decides.
func hold(rounds int, make func() ([]*line, []claim)) error {
	var broken error
	for range attempts {
		lines, claims := make()
		measure(lines, rounds)
		var errs []error
		for _, c := range claims {
			errs = append(errs, c.judge())
		}
		if broken = errors.Join(errs...); broken == nil {
			return nil
		}
		fmt.Printf("over a limit:\n%v\n", broken)
	}
	return fmt.Errorf("over a limit in each of %d attempts, the last: %w", attempts, broken)
}

// measure times every line in each round, alternately forwards and backwards, so that a machine whose speed changes
// favours no line. It prints the fastest time of each line and its ratio to the first line's time.
func measure(lines []*line, rounds int) {
	for round := range rounds + 1 {
		for i := range lines {
			l := lines[i]
			if round%2 == 1 {
				l = lines[len(lines)-1-i]
			}
			if took := l.time(); round > 0 { // round 0 only warms up
				l.times = append(l.times, took)
			}
		}
	}
	for _, l := range lines {
		fmt.Printf("%-34s %10.1f ns %10.2f\n", l.name, l.fastest(), l.fastest()/lines[0].fastest())
	}
}

// fastest returns the shortest time of a line, which other programs disturbed least.
func (l *line) fastest() float64 { return slices.Min(l.times) }

// judge compares the ratio of the fastest times with the limits.
func (c claim) judge() error {
	ratio := c.of.fastest() / c.to.fastest()
	fmt.Printf("%-34s %24.2f times %s\n", c.of.name, ratio, c.to.name)
	if c.atMost > 0 && !(ratio <= c.atMost) {
		return fmt.Errorf("%s: %.2f times %s, want at most %g", c.of.name, ratio, c.to.name, c.atMost)
	}
	if !(ratio >= c.atLeast) {
		return fmt.Errorf("%s: %.0f times %s, want at least %g", c.of.name, ratio, c.to.name, c.atLeast)
	}
	return nil
}

// noisy returns a line as on a busy machine: half of the rounds take up to three times as long.
func noisy(name string, time float64, random *rand.Rand) *line {
	return &line{name: name, time: func() float64 {
		if random.IntN(2) == 0 {
			return time * (1 + 2*random.Float64())
		}
		return time * (1 + random.Float64()/100)
	}}
}

func TestHold(t *testing.T) {
	random, made := rand.New(rand.NewPCG(1, 1)), 0
	pair := func(slower, later float64) func() ([]*line, []claim) {
		made = 0
		return func() ([]*line, []claim) {
			made++
			factor := slower
			if made > 1 {
				factor = later
			}
			first, second := noisy("first", 100, random), noisy("second", 100*factor, random)
			claims := []claim{{of: second, to: first, atMost: 1.3}, {of: first, to: second, atLeast: 1 / 1.3}}
			return []*line{first, second}, claims
		}
	}
	for _, test := range []struct {
		name          string
		slower, later float64
		fails         bool
		made          int
	}{
		{"equal lines on a noisy machine", 1, 1, false, 1},
		{"one slow attempt", 1.5, 1, false, 2},
		{"a line that is slow", 1.35, 1.35, true, attempts},
	} {
		if err := hold(40, pair(test.slower, test.later)); (err != nil) != test.fails || made != test.made {
			t.Errorf("%s: after %d attempts: %v", test.name, made, err)
		}
	}
}
