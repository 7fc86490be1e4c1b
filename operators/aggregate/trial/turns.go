package trial

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Experiments of one stream take turns: each starts with a public step and ends where the next one starts. A new one
// begins from nothing: no event of an earlier step counts in it, and it has an α of its own. The stream, its key and
// its privacy stay, because an experiment only reads releases.

// MaxTurns limits the number of experiments of a stream, and maxStep the first step of an experiment.
const (
	MaxTurns = 64
	maxStep  = 1 << 40
)

// stepLine starts the line of params that lists the first steps of experiments. Params have a further line for each
// experiment that was added after the stream was opened: its first step, and the number of steps that a process may
// have closed when it was added.
const (
	stepLine  = "experiment_step="
	afterMark = " announced_after="
)

// parseStarts parses step,step,… and returns the number of steps before each. It returns nil if the text is not a list
// of steps.
func parseStarts(text string) (starts []uint64) {
	for part := range strings.SplitSeq(text, ",") {
		step, err := strconv.ParseUint(part, 10, 64)
		if err != nil || strconv.FormatUint(step, 10) != part || step < 1 || step > maxStep || len(starts) == MaxTurns ||
			len(starts) > 0 && step-1 <= starts[len(starts)-1] {
			return nil
		}
		starts = append(starts, step-1)
	}
	return starts
}

// formatStarts is the inverse of parseStarts.
func formatStarts(starts []uint64) string {
	var texts []string
	for _, start := range starts {
		texts = append(texts, strconv.FormatUint(start+1, 10))
	}
	return strings.Join(texts, ",")
}

// turnAfter returns the index of a stream's experiment after the given number of steps: the last experiment that has
// begun, or else the first.
func turnAfter(starts []uint64, steps uint64) int {
	turn := len(starts) - 1
	for turn > 0 && starts[turn] >= steps {
		turn--
	}
	return turn
}

// Longest returns the number of steps of the stream's Longest experiment, at most most. The last experiment ends with
// the horizon. If horizon is 0 the stream has no end.
func (t *Trial) Longest(most, horizon uint64) (steps uint64) {
	for i, start := range t.Starts {
		end := start + most
		if horizon > 0 {
			end = min(end, horizon)
		}
		if i+1 < len(t.Starts) {
			end = min(end, t.Starts[i+1])
		}
		steps = max(steps, max(end, start)-start)
	}
	return steps
}

// Append returns the trial with the experiments that Next has appended to params. lines is the end of the params,
// behind Canonical. It is false for lines that Next does not append.
func (t *Trial) Append(lines string) (further *Trial, ok bool) {
	all, announced := formatStarts(t.Starts), slices.Clone(t.Announced)
	for line := range strings.Lines(lines) {
		step, after, isStep := strings.Cut(line, afterMark)
		first, isFirst := strings.CutPrefix(step, stepLine)
		start := parseStarts(first)
		known, err := strconv.ParseUint(strings.TrimSuffix(after, "\n"), 10, 64)
		if !isStep || !isFirst || len(start) != 1 || err != nil || known >= start[0] ||
			line != appendedLine(start[0]+1, known) {
			return nil, false
		}
		all, announced = all+","+first, append(announced, known)
	}
	copied := *t
	copied.Starts, copied.Announced = parseStarts(all), announced
	return &copied, copied.Starts != nil
}

// appendedLine returns the line of params for an experiment that was added after the stream was opened.
func appendedLine(step, announced uint64) string {
	return stepLine + strconv.FormatUint(step, 10) + afterMark + strconv.FormatUint(announced, 10) + "\n"
}

// Turns returns the first steps of the experiments of a stream; none if no experiment is configured.
func (t *Trial) Turns() []uint64 {
	if t == nil {
		return nil
	}
	return t.steps()
}

// Next returns the line to append to the params of a stream, so that its next experiment starts with the given step.
// The choice of the step may depend on the releases of the first `announced` steps.
func (t *Trial) Next(step, announced uint64) ([]byte, error) {
	steps := t.Turns()
	switch {
	case steps == nil:
		return nil, errors.New("aggregate: the deployment has no experiment; ORIEL_ALWAYS_VALID makes one in a new deployment")
	case len(steps) >= MaxTurns:
		return nil, fmt.Errorf("aggregate: the stream has %d experiments, and no room for another", len(steps))
	}
	last, most := steps[len(steps)-1], uint64(maxStep)
	if t.Horizon > 0 {
		most = t.Horizon
	}
	if step <= last || step > most {
		return nil, fmt.Errorf("aggregate: step %d: an experiment starts with step %d, and the next one must start later, up to step %d",
			step, last, most)
	}
	if announced+1 >= step {
		return nil, fmt.Errorf("aggregate: step %d: an experiment must start after a step that has not been published, and steps up to %d "+
			"may have been seen", step, announced)
	}
	return []byte(appendedLine(step, announced)), nil
}
