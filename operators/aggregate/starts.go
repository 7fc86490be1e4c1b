package aggregate

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

// maxExperiments limits the number of experiments of a stream, and maxStep the first step of an experiment.
const (
	maxExperiments = 64
	maxStep        = 1 << 40
)

// stepLine starts the line of a plan that lists the first steps of experiments. A plan has a further line for each
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
		if err != nil || strconv.FormatUint(step, 10) != part || step < 1 || step > maxStep ||
			len(starts) == maxExperiments ||
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

// experimentAfter returns the index of a stream's experiment after the given number of steps: the last experiment that
// has begun, or else the first.
func experimentAfter(starts []uint64, steps uint64) int {
	index := len(starts) - 1
	for index > 0 && starts[index] >= steps {
		index--
	}
	return index
}

// longest returns the number of steps of the stream's longest experiment, at most most. The last experiment ends with
// the horizon. If horizon is 0 the stream has no end.
func (t *tested) longest(most, horizon uint64) (steps uint64) {
	for i, start := range t.starts {
		end := start + most
		if horizon > 0 {
			end = min(end, horizon)
		}
		if i+1 < len(t.starts) {
			end = min(end, t.starts[i+1])
		}
		steps = max(steps, max(end, start)-start)
	}
	return steps
}

// then returns the operator with further experiments after its own.
func (c operator) then(starts, announced []uint64) operator {
	test := *c.test
	test.starts, test.announced = slices.Concat(test.starts, starts), slices.Concat(test.announced, announced)
	c.test = &test
	return c
}

// added returns the experiments that Next has appended to a plan: the number of steps before each, and before its
// announcement. It refuses a plan of other settings.
func (c operator) added(params []byte) (starts, announced []uint64, err error) {
	if len(params) == 0 || params[0] != c.kind() {
		return nil, nil, errParams
	}
	rest, ok := strings.CutPrefix(string(params[1:]), c.canonical())
	switch {
	case !ok:
		return nil, nil, errParams
	case rest == "":
		return nil, nil, nil
	case c.test == nil:
		return nil, nil, errParams
	}
	all := formatStarts(c.test.starts)
	for line := range strings.Lines(rest) {
		step, after, isStep := strings.Cut(line, afterMark)
		first, isFirst := strings.CutPrefix(step, stepLine)
		start := parseStarts(first)
		known, err := strconv.ParseUint(strings.TrimSuffix(after, "\n"), 10, 64)
		if !isStep || !isFirst || len(start) != 1 || err != nil || known >= start[0] ||
			line != appendedLine(start[0]+1, known) {
			return nil, nil, errParams
		}
		all, announced = all+","+first, append(announced, known)
	}
	if starts = parseStarts(all); starts == nil {
		return nil, nil, errParams
	}
	return starts[len(c.test.starts):], announced, nil
}

// appendedLine returns the line of a plan for an experiment that was added after the stream was opened.
func appendedLine(step, announced uint64) string {
	return stepLine + strconv.FormatUint(step, 10) + afterMark + strconv.FormatUint(announced, 10) + "\n"
}

// Starts returns the first steps of the experiments of a stream; none if no experiment is configured.
func (c operator) Starts(params []byte) (steps []uint64, err error) {
	starts, _, err := c.added(params)
	if err != nil || c.test == nil {
		return nil, err
	}
	for _, start := range slices.Concat(c.test.starts, starts) {
		steps = append(steps, start+1)
	}
	return steps, nil
}

// Next returns the bytes to append to the plan of a stream, so that its next experiment starts with the given step. The
// choice of the step may depend on the releases of the first `announced` steps.
func (c operator) Next(params []byte, step, announced uint64) ([]byte, error) {
	steps, err := c.Starts(params)
	switch {
	case err != nil:
		return nil, err
	case steps == nil:
		return nil, errors.New("aggregate: the deployment has no experiment; ORIEL_ALWAYS_VALID makes one in a new deployment")
	case len(steps) >= maxExperiments:
		return nil, fmt.Errorf("aggregate: the stream has %d experiments, and no room for another", len(steps))
	}
	last, most := steps[len(steps)-1], uint64(maxStep)
	if scope := c.terms.Scope; scope != nil && scope.Figures().Horizon > 0 {
		most = scope.Figures().Horizon
	}
	if step <= last || step > most {
		return nil, fmt.Errorf("aggregate: step %d: an experiment starts with step %d, and the next one must start later, up to step %d",
			step, last, most)
	}
	if announced+1 >= step {
		return nil, fmt.Errorf("aggregate: step %d: an experiment must start after a step that nobody has seen, and steps up to %d "+
			"may have been seen", step, announced)
	}
	return []byte(appendedLine(step, announced)), nil
}
