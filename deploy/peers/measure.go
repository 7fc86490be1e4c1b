package main

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// attempts is how often a claim must fail before it counts as broken. A step that is slow by itself is slow in every
// attempt. A busy neighbour on the machine, or memory pages that compete for the same cache lines, slows some attempts
// only.
const attempts = 3

// line is one line of the table.
type line struct {
	name  string
	time  func() (float64, error) // returns the time of a draw or a step in ns
	times []float64               // times in ns, one for each round
}

// claim is a limit on the ratio of two lines. A limit of 0 stands for none.
type claim struct {
	of, to          *line
	atMost, atLeast float64
}

// hold measures lines and checks claims about them. While a claim fails, it makes and measures the lines again, up to
// attempts times, so that neither one bad minute nor one bad place in memory decides.
func hold(rounds int, make func() ([]*line, []claim, error)) error {
	var broken error
	for range attempts {
		lines, claims, err := make()
		if err != nil {
			return err
		}
		if err := measure(lines, rounds); err != nil {
			return err
		}
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
// favours no line. It prints the fastest time of each lineand its ratio to the first line's time.
func measure(lines []*line, rounds int) error {
	for round := range rounds + 1 {
		for i := range lines {
			l := lines[i]
			if round%2 == 1 {
				l = lines[len(lines)-1-i]
			}
			took, err := l.time()
			if err != nil {
				return fmt.Errorf("%s: %w", l.name, err)
			}
			if round > 0 { // round 0 only warms up
				l.times = append(l.times, took)
			}
		}
	}
	for _, l := range lines {
		fmt.Printf("%-34s %10.1f ns %10.2f\n", l.name, l.fastest(), l.fastest()/lines[0].fastest())
	}
	return nil
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

// perCall measures count calls of f and returns the time in ns of one draw; a call makes n draws.
func perCall(count, n int, f func()) float64 {
	start := time.Now()
	for range count {
		f()
	}
	return float64(time.Since(start).Nanoseconds()) / float64(count*n)
}
