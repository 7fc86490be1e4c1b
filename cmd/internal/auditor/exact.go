package auditor

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"oriel/mechanisms"
	"oriel/mechanisms/audit"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
	"oriel/operators"
	"oriel/operators/neighbours"
	"oriel/schemas/decision"
)

// Check is the result of an exact check: it holds, or it is refuted.
type Check struct {
	Name   string `json:"check"`
	Looked string `json:"looked_at"`
	Count  uint64 `json:"count"` // number of compared items
	Found  string `json:"found"`
	Holds  bool   `json:"holds"`
}

// refutedBy returns the check as refuted if err is one of the faults. Otherwise it returns the check and err.
func (c Check) refutedBy(err error, faults ...error) (Check, error) {
	if slices.ContainsFunc(faults, func(fault error) bool { return errors.Is(err, fault) }) {
		c.Holds, c.Found = false, err.Error()
		return c, nil
	}
	return c, err
}

// These limits bound the replays of a check: runs, records of all runs, and released numbers of a run.
const (
	mostRepeated    = 32
	repeatedRecords = 1 << 16
	repeatedNumbers = 1 << 24
)

// repetitions returns how many runs a check plays, and how many steps each run has.
func (a *Subject) repetitions(steps uint64) (runs, each uint64) {
	each = min(steps, max(2, repeatedNumbers/uint64(a.mechanism.Dimension())))
	return max(2, min(a.repeated, repeatedRecords/(each*a.mechanism.Batch))), each
}

// recorded holds what a run published, as bytes: releases and decisions by step, and draws. For sums that report
// increments, it also holds the increments, by step and component.
type recorded struct {
	releases, decisions [][]byte
	owed                [][]byte // the contents of decisions that may depend on releases alone
	increments          [][][]lattice.Int128
	draws               []recordedDraw
}

func record(c *background, purpose string, number uint64, broken bool) (out recorded, err error) {
	c.observe(func(d mechanisms.Draw, index int) int {
		out.draws = append(out.draws, clone(d, index))
		return index
	})
	defer c.observe(nil)
	err = c.record(&out, purpose, number, broken)
	return out, err
}

// record records everything observable of a run except its draws.
func (c *background) record(out *recorded, purpose string, number uint64, broken bool) error {
	return c.play(purpose, number, broken, func(s step) {
		out.releases = append(out.releases, c.appendSums(nil))
		out.increments = append(out.increments, c.copyIncrements())
		out.decisions = append(out.decisions, appendDecisions(nil, s.decisions))
		out.owed = append(out.owed, c.owed(s))
	})
}

func appendNumbers(dst []byte, numbers []float64) []byte {
	dst = slices.Grow(dst, 8*len(numbers))
	for _, x := range numbers {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(x))
	}
	return dst
}

// owed appends the contents of a step's decisions that may depend on releases alone. If the record that an action
// answers differs between purposes, the action may differ too, but not its length.
func (c *background) owed(s step) (dst []byte) {
	own := 0
	for _, d := range s.decisions {
		if d.Output == 1 && c.traffic.answers {
			if own++; own <= len(s.same) && !s.same[own-1] {
				d = c.subject.disguised(d)
			}
		}
		dst = appendDecisions(dst, []operators.Decision{d})
	}
	return dst
}

// disguised replaces the contents of a decision by its length in each encoding. It keeps the record key that the
// decision answers.
func (a *Subject) disguised(d operators.Decision) operators.Decision {
	extras, key := a.operator.Extras(), operators.SecondTopicOf(a.operator).Key
	lengths := neighbours.Lengths(d, extras)
	d.Point, d.Extras = nil, slices.Clone(d.Extras)
	for i, x := range extras {
		if x.Name != key {
			d.Extras[i] = decision.ExtraValue{}
		}
	}
	for _, bytes := range lengths {
		d.Point = append(d.Point, float64(bytes))
	}
	return d
}

// appendDecisions appends all contents of decisions without ambiguity, so that different decisions have different
// bytes.
func appendDecisions(dst []byte, decisions []operators.Decision) []byte {
	for _, d := range decisions {
		dst = binary.LittleEndian.AppendUint64(dst, d.Index)
		dst = binary.LittleEndian.AppendUint64(dst, d.Step)
		dst = append(dst, d.Output)
		dst = appendNumbers(binary.LittleEndian.AppendUint32(dst, uint32(len(d.Point))), d.Point)
		for _, x := range d.Extras {
			dst = appendNumbers(dst, []float64{x.Number})
			dst = appendNumbers(binary.LittleEndian.AppendUint32(dst, uint32(len(x.Numbers))), x.Numbers)
			dst = append(binary.LittleEndian.AppendUint32(dst, uint32(len(x.Text))), x.Text...)
		}
	}
	return dst
}

// differ returns the first step, counted from 1, at which two recordings differ, or 0.
func differ(x, y [][]byte) int {
	for t := range x {
		if !bytes.Equal(x[t], y[t]) {
			return t + 1
		}
	}
	return 0
}

// sums returns, by component, a sum that releases the recorded values once the stream has scaled them.
func (r *recorded) sums(c contribution.Contribution) []mechanisms.Sum {
	var sums []mechanisms.Sum
	at := 0
	for k, component := range c.Components {
		from := at
		sum := audit.NewScripted(func(dst []float64, step uint64) {
			for i := range dst {
				dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(r.releases[step-1][8*(from+i):]))
				if component.Scales != nil {
					dst[i] = unscaled(dst[i], math.Sqrt(float64(component.Scales[i])))
				}
			}
		}).With(func(step uint64) []lattice.Int128 { return r.increments[step-1][k] })
		sums = append(sums, sum)
		at += component.Size
	}
	return sums
}

// unscaled returns a number whose product with root, rounded, is y.
func unscaled(y, root float64) float64 {
	x := y / root
	for _, near := range []float64{x, math.Nextafter(x, math.Inf(1)), math.Nextafter(x, math.Inf(-1))} {
		if float64(near*root) == y {
			return near
		}
	}
	panic("BUG: auditor: a release that no sum has")
}

// replays plays runs three times: undisturbed, with restarts, and with other events over the same releases and draws.
// Decisions must be the same in all three, because they are computed from releases and draws alone. It returns the
// results for restarts and for decisions, and the draws of all runs.
func (a *Subject) replays(steps uint64) (restart, decisions Check, draws []recordedDraw, err error) {
	runs, steps := a.repetitions(steps)
	restart = Check{
		Name: "restart", Looked: "runs written down and read back, anywhere", Count: runs,
		Found: "releases and decisions equal the ones of unbroken runs", Holds: true,
	}
	decisions = Check{
		Name: "decisions", Looked: "runs of other events over the same releases", Count: runs,
		Found: "decisions are the same bytes", Holds: true,
	}
	var original recorded
	c, errOpen := a.openBackground(steps)
	repeats, errScript := a.scripted(&original).openBackground(steps)
	if err := errors.Join(errOpen, errScript); err != nil {
		return restart, decisions, nil, err
	}
	for run := uint64(0); run < runs && (restart.Holds || decisions.Holds); run++ {
		if original, err = record(c, "crowd", run, false); err != nil {
			return restart, decisions, nil, err
		}
		if restart.Holds {
			if fault := c.restarted(original, run); fault != "" {
				restart.Holds, restart.Found = false, fmt.Sprintf("run %d%s", run, fault)
			}
		}
		if !decisions.Holds {
			continue
		}
		draws = append(draws, original.draws...)
		fault, err := repeats.repeated(original, run)
		if err != nil {
			return restart, decisions, nil, err
		}
		if fault != "" {
			decisions.Holds, decisions.Found = false, fmt.Sprintf("run %d, %s", run, fault)
		}
	}
	if len(draws) > 0 {
		decisions.Looked = "runs of other events over the same releases and draws"
	}
	return restart, decisions, draws, nil
}

// restarted plays a run again with restarts, and describes the first difference.
func (c *background) restarted(original recorded, run uint64) (fault string) {
	broken, err := record(c, "crowd", run, true)
	if err != nil {
		return fmt.Sprintf(": a state is refused: %v", err)
	}
	t := max(differ(original.releases, broken.releases), differ(original.decisions, broken.decisions))
	if t > 0 {
		return fmt.Sprintf(", step %d: another release or decision after a restart", t)
	}
	return ""
}

// scripted returns the subject with a stream that repeats the releases of the recording original. The caller may
// replace the recording between two runs.
func (a *Subject) scripted(original *recorded) *Subject {
	b := *a
	b.stream = func(m mechanisms.Config, p mechanisms.Calibration, key [32]byte) (*mechanisms.Stream, error) {
		return mechanisms.NewStream(m, p, key, original.sums(m.Contribution)...)
	}
	return &b
}

// repeated plays other events over the releases and draws of a run, and describes the first difference.
func (c *background) repeated(original recorded, run uint64) (fault string, err error) {
	draws := &scriptedDraws{draws: original.draws}
	c.observe(draws.choose)
	var again recorded
	if err := c.record(&again, "other crowd", run, false); err != nil {
		return "", err
	}
	if fault := draws.end(); fault != "" {
		return fmt.Sprintf("draw %d: %s", draws.next, fault), nil
	}
	if t := differ(original.owed, again.owed); t > 0 {
		return fmt.Sprintf("step %d: the decision owes something to events beside releases", t), nil
	}
	// otherwise the guarantee covers draws, whose scores may depend on events
	if draws.affected && !c.subject.drawing() {
		return "scores of a draw depend on events, and the guarantee covers the sums alone", nil
	}
	return "", nil
}

// leastShown is the minimum number of steps with the largest number of decisions that a check of decisions plays, if
// runs are long enough to reach them.
const leastShown = 3

// shownSteps returns the number of steps that a check of decisions plays: steps, or more if decisions are rare or
// feedback waits. It also describes the decisions that no affordable run reaches.
func (a *Subject) shownSteps(steps uint64) (uint64, []string, error) {
	limit := min(longestBackground/a.mechanism.Batch, max(2, repeatedNumbers/uint64(a.mechanism.Dimension())))
	limit = min(limit, a.mechanism.Scope.End())
	if a.shown.first != a.earliest() || a.shown.limit != limit {
		p, err := a.open()
		if err != nil {
			return 0, nil, err
		}
		*a.shown = shownIn(p.both[0], a.earliest(), limit)
	}
	if a.shown.most == 0 {
		return min(steps, limit), []string{fmt.Sprintf("decisions: none that an event could be in is published in the first %d steps", limit)}, nil
	}
	return min(max(steps, a.shown.last), limit), nil, nil
}

// shown is a scan of the steps from first to limit for those with the largest number of decisions.
type shown struct {
	first, limit uint64
	most         int    // largest number of decisions of a step
	last         uint64 // step number leastShown, or the last, of those with so many decisions
}

// shownIn scans the steps of a machine. The scan takes milliseconds, so a subject keeps it.
func shownIn(m operators.Machine, first, limit uint64) shown {
	s, found := shown{first: first, limit: limit}, 0
	for t := first; t <= limit; t++ {
		_, count := m.Due(t)
		if count > s.most {
			s.most, found = count, 0
		}
		if count == s.most && count > 0 && found < leastShown {
			found++
			s.last = t
		}
	}
	return s
}

// repetition checks the noise of repeated runs. The same records under the same identities must get the same noise.
// Records under other identities, and a stream with the canary's neighbour in place of the canary, must get other
// noise.
func (a *Subject) repetition() (Check, error) {
	check := Check{
		Name: "repetition", Looked: "runs under the same identities, and under others", Count: 4,
		Found: "the same records have one noise, others another", Holds: true,
	}
	first, u := a.earliest(), a.dense(a.random("direction", 0))
	k, errCanary := audit.NewCanary(a.mechanism, first, a.followed(first, Options{}))
	var errContributions error
	k.With, k.Without, errContributions = a.contributions(u)
	p, errOpen := a.open()
	if err := errors.Join(errCanary, errContributions, errOpen); err != nil {
		return check, err
	}
	t := &Attack{Canary: k, direction: u}
	return check.refutedBy(audit.CheckHistory(t.play(p), t.Canary), audit.ErrRedrawn, audit.ErrReused, audit.ErrShared)
}

// tail passes draws of all sizes through the sum of each component. The draws come from a sampler of the auditor, not
// of the mechanism.
func (a *Subject) tail() (Check, error) {
	check := Check{
		Name: "far draws", Looked: "draws of 1 to 29 scales, from sampler to release",
		Found: "all reach the release as they were drawn", Holds: true,
	}
	for k := range a.components {
		c, p, err := componentOf(a.mechanism, a.calibration, k)
		if err != nil {
			return check, err
		}
		over := func(s noise.Sampler) ([]mechanisms.Sum, error) { return p.SumsOver(c, s) }
		draws, err := audit.CheckTail(c, p, over)
		check.Count += draws
		if err != nil {
			return check.refutedBy(err, audit.ErrTail)
		}
	}
	return check, nil
}

// reset compares streams that have different noise in their buffers, before and after resets.
func (a *Subject) reset() (Check, error) {
	check := Check{
		Name: "reset", Looked: "numbers that steps after a reset add, over other noise before it",
		Found: "they are the same", Holds: true,
	}
	stream, err := a.stream(a.wholeMechanism, a.wholeCalibration, a.key())
	if err != nil {
		return check, err
	}
	check.Count, err = audit.CheckReset(a.wholeMechanism, a.wholeCalibration, stream)
	return check.refutedBy(err, audit.ErrReset)
}
