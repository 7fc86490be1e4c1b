//go:build soak

package soak

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// report collects the findings of a run and prints them as they come.
type report struct {
	out   io.Writer
	title string

	mu         sync.Mutex
	counts     map[string]int // number of faults by kind
	took       map[string][]time.Duration
	elections  []time.Duration // how long the other brokers still depended on a broker that was away
	facts      []string        // lines of the report, in order
	violations []string
}

func newReport(out io.Writer, title string) *report {
	return &report{out: out, title: title, counts: map[string]int{}, took: map[string][]time.Duration{}}
}

// fault counts and prints a fault that begins.
func (r *report) fault(n int, f fault, on string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[f.row()]++
	fmt.Fprintf(r.out, "%s  %3d  %s\n", clock(time.Now()), n, f.describe(on))
}

func (r *report) recovered(k string, d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.took[k] = append(r.took[k], d)
	fmt.Fprintf(r.out, "%s       got over in %.1f s\n", clock(time.Now()), d.Seconds())
}

func (r *report) elected(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.elections = append(r.elections, d)
	fmt.Fprintf(r.out, "%s       the other brokers do without it after %.1f s\n", clock(time.Now()), d.Seconds())
}

func (r *report) violation(format string, arguments ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := fmt.Sprintf(format, arguments...)
	r.violations = append(r.violations, clock(time.Now())+" "+text)
	fmt.Fprintf(r.out, "%s  VIOLATION: %s\n", clock(time.Now()), text)
}

func (r *report) fact(format string, arguments ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.facts = append(r.facts, fmt.Sprintf(format, arguments...))
}

func (r *report) failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.violations) > 0
}

func (r *report) markdown() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	total := 0
	for _, n := range r.counts {
		total += n
	}
	fmt.Fprintf(&b, "## %s\n\n%d faults. Seconds until every partition has a new committed decision (of faults of letters: letter), where no\nother fault came between:\n\n", r.title, total)
	fmt.Fprint(&b, "| fault | times | measured | p50 | p95 | worst |\n|---|---|---|---|---|---|\n")
	for _, k := range slices.Sorted(maps.Keys(r.counts)) {
		took := slices.Sorted(slices.Values(r.took[k]))
		fmt.Fprintf(&b, "| %s | %d | %d |", k, r.counts[k], len(took))
		for _, share := range []float64{0.5, 0.95, 1} {
			if len(took) == 0 {
				fmt.Fprint(&b, " – |")
				continue
			}
			fmt.Fprintf(&b, " %.1f |", took[int(share*float64(len(took)-1)+0.5)].Seconds())
		}
		fmt.Fprintln(&b)
	}
	fmt.Fprintln(&b)
	if n := len(r.elections); n > 0 {
		took := slices.Sorted(slices.Values(r.elections))
		fmt.Fprintf(&b, "- brokers did without one that was away after %.1f s (median), %.1f s (worst), %d times\n",
			took[n/2].Seconds(), took[n-1].Seconds(), n)
	}
	for _, f := range r.facts {
		fmt.Fprintln(&b, "-", f)
	}
	fmt.Fprintf(&b, "- violations: %d\n", len(r.violations))
	for _, v := range r.violations {
		fmt.Fprintln(&b, "  -", v)
	}
	return b.String()
}
