package exact

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"oriel/cmd/internal/audit/subject"
	"oriel/cmd/internal/audit/traffic"
	"oriel/mechanisms"
	"oriel/operators"
)

// recorded holds the releases and decisions of a run, by step and as bytes, and the draws of the run.
type recorded struct {
	steps [][]byte
	draws []RecordedDraw
}

// Restarts plays runs twice: undisturbed, and with restarts at random places. It also returns the draws of the
// undisturbed runs.
func Restarts(a *subject.Subject, steps uint64) (check subject.Check, draws []RecordedDraw, err error) {
	runs, steps := a.Repetitions(steps)
	check = subject.Check{
		Name: "restart", Looked: "runs written down and read back, anywhere", Count: runs,
		Found: "releases and decisions equal the ones of unbroken runs", Holds: true,
	}
	c, err := traffic.Open(a, steps)
	if err != nil {
		return check, nil, err
	}
	for run := range runs {
		original, err := record(c, run, false)
		if err != nil {
			return check, nil, err
		}
		draws = append(draws, original.draws...)
		if !check.Holds {
			continue
		}
		broken, err := record(c, run, true)
		if err != nil {
			check.Holds, check.Found = false, fmt.Sprintf("run %d: a state is refused: %v", run, err)
			continue
		}
		for t := range original.steps {
			if check.Holds && !bytes.Equal(original.steps[t], broken.steps[t]) {
				check.Holds = false
				check.Found = fmt.Sprintf("run %d, step %d: another release or decision after a restart", run, t+1)
			}
		}
	}
	return check, draws, nil
}

// record plays a run. If broken is true, the machine restarts.
func record(c *traffic.Background, run uint64, broken bool) (out recorded, err error) {
	draw := func(d mechanisms.Draw, index int) int {
		d.Scores = slices.Clone(d.Scores)
		out.draws = append(out.draws, RecordedDraw{Draw: d, Index: index})
		return index
	}
	for _, s := range c.Streams {
		s.DrawBy(draw)
		defer s.DrawBy(nil)
	}
	err = c.Play("crowd", run, broken, func(s traffic.Step) {
		var step []byte
		for i := range c.Subject.WholeMechanism.Contribution.Components {
			step = appendNumbers(step, c.Stream().Sum(i))
		}
		out.steps = append(out.steps, appendDecisions(step, s.Decisions))
	})
	return out, err
}

func appendNumbers(dst []byte, numbers []float64) []byte {
	dst = slices.Grow(dst, 8*len(numbers))
	for _, x := range numbers {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(x))
	}
	return dst
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
