package audit

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"oriel/cmd/internal/audit/subject"
	"oriel/cmd/internal/audit/work"
	"oriel/mechanisms"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/operators"
)

// leaky plants a fault in the decisions of a machine: the contents of events reach decisions without passing through
// the private sums.
type leaky struct {
	operators.Machine
	leak func(point []float64, r operators.Record)
	last operators.Record
}

func (l *leaky) Add(r operators.Record) {
	l.last = r
	l.Machine.Add(r)
}

func (l *leaky) Close(dst []operators.Decision) []operators.Decision {
	dst = l.Machine.Close(dst)
	for _, d := range dst {
		l.leak(d.Point, l.last)
	}
	return dst
}

// refutes checks that an audit of few runs refutes the check or test with this name. Few runs are enough for faults
// outside the noise, because an exact check plays its own number of runs. That number is small in the short form if the
// fault is in the noise.
func refutes(t *testing.T, what string, a *subject.Subject, name string, want error) {
	t.Helper()
	runs := 60
	if errors.Is(want, ErrCheck) {
		runs = work.LeastRuns
	}
	refutesIn(t, runs, what, a, name, want)
}

// refutesIn is refutes with a given number of runs.
func refutesIn(t *testing.T, runs int, what string, a *subject.Subject, name string, want error) {
	t.Helper()
	if errors.Is(want, ErrNoise) {
		a.Repeated = fewRepeats()
	}
	r := audited(t, a, runs)
	err := r.Err()
	t.Logf("%s: %v", what, err)
	if !errors.Is(err, want) || !strings.Contains(err.Error(), ": "+name+": ") {
		t.Errorf("%s: not caught by %s: %v", what, name, err)
	}
}

func TestAuditCatchesDecisionsThatLeak(t *testing.T) {
	for what, leak := range map[string]func(point []float64, r operators.Record){
		"a millionth of a number of the event": func(point []float64, r operators.Record) {
			if len(r.Event.Vector.Values) > 0 {
				point[0] += 1e-6 * r.Event.Vector.Values[0]
			}
		},
		"the null flag in a last bit": func(point []float64, r operators.Record) {
			point[1] = math.Float64frombits(math.Float64bits(point[1]) &^ 1)
			if r.Null {
				point[1] = math.Float64frombits(math.Float64bits(point[1]) | 1)
			}
		},
	} {
		a := cocoSubject(t)
		whole := a.Machine
		a.Machine = func(c operators.Operator, params []byte, s *mechanisms.Stream) (operators.Machine, error) {
			m, err := whole(c, params, s)
			return &leaky{Machine: m, leak: leak}, err
		}
		refutes(t, what, a, "decisions", ErrCheck)
	}
}

// bent plants a fault in the private sum. A nil function keeps the original behaviour.
type bent struct {
	mechanisms.Sum
	add     func(dst []float64, v []lattice.Int128, chain *noise.Chain, sum mechanisms.Sum)
	restore func(state []byte) []byte
}

func (b *bent) Add(dst []float64, v []lattice.Int128, chain *noise.Chain) {
	if b.add == nil {
		b.Sum.Add(dst, v, chain)
		return
	}
	b.add(dst, v, chain, b.Sum)
}

func (b *bent) Restore(state []byte) error {
	if b.restore != nil {
		state = b.restore(slices.Clone(state))
	}
	return b.Sum.Restore(state)
}

// bend plants a fault in the sum of every stream that the subject opens.
func bend(t *testing.T, a *subject.Subject, f func(c mechanisms.Config, p mechanisms.Calibration) bent) {
	a.Stream = func(c mechanisms.Config, p mechanisms.Calibration, key [32]byte) (*mechanisms.Stream, error) {
		b := f(c, p)
		b.Sum = mechtest.Sum(t, c, p, gaussian(t, p))
		return mechanisms.NewStream(c, p, key, &b)
	}
}

func gaussian(t *testing.T, p mechanisms.Calibration) noise.Sampler {
	t.Helper()
	sampler, err := noise.NewGaussian(p.Scale)
	if err != nil {
		t.Fatal(err)
	}
	return sampler
}

func TestAuditCatchesARestoreThatDropsBuffers(t *testing.T) {
	a := cocoSubject(t)
	bend(t, a, func(c mechanisms.Config, _ mechanisms.Calibration) bent {
		return bent{restore: func(state []byte) []byte {
			clear(state[8+lattice.Int128Len*c.Dimension():])
			return state
		}}
	})
	refutes(t, "Restore zeroes the buffers of blt", a, "restart", ErrCheck)
}

// TestAuditCatchesACoordinateWithoutClip plants a clip that leaves the last coordinate of a contribution at its
// original length.
func TestAuditCatchesACoordinateWithoutClip(t *testing.T) {
	a := cocoSubject(t, "ORIEL_LOSS=hinge") // contributions are clipped
	bend(t, a, func(c mechanisms.Config, p mechanisms.Calibration) bent {
		return bent{add: func(dst []float64, v []lattice.Int128, chain *noise.Chain, sum mechanisms.Sum) {
			longer, last := slices.Clone(v), c.Dimension()-1
			if x := int64(v[last].Lo); x > p.Grid.Lambda*9/10 || x < -p.Grid.Lambda*9/10 {
				longer[last] = lattice.Int128{}.AddInt64(operators.CanaryFactor * x)
			}
			sum.Add(dst, longer, chain)
		}}
	})
	refutes(t, "the last coordinate is not clipped", a, "contributions", ErrNoise)
	refutesIn(t, work.LeastRuns, "the last coordinate is not clipped", a, "clip", ErrNoise)
}

// TestAuditCatchesAClampOfDraws plants a clamp of draws at 4.5 scales, after the sampler. Of the three million draws
// here, 22 are beyond it.
func TestAuditCatchesAClampOfDraws(t *testing.T) {
	for _, more := range [][]string{
		{"ORIEL_MECHANISM=blt"},
		{"ORIEL_MECHANISM=tree-gaussian"},
		{"ORIEL_MECHANISM=once-gaussian", "ORIEL_UPDATE=ogd", "ORIEL_WINDOW=lifetime"},
	} {
		a := cocoSubject(t, more...)
		a.Stream = func(c mechanisms.Config, p mechanisms.Calibration, key [32]byte) (*mechanisms.Stream, error) {
			sum := mechtest.Sum(t, c, p, &clamped{gaussian(t, p), int64(4.5 * p.Scale.Float64())})
			return mechanisms.NewStream(c, p, key, sum)
		}
		refutesIn(t, 200, strings.Join(more, " "), a, "far tails", ErrNoise)
	}
}

type clamped struct {
	noise.Sampler
	at int64
}

func (c *clamped) Fill(dst []int64, seed noise.Seed) {
	c.Sampler.Fill(dst, seed)
	for i, x := range dst {
		dst[i] = max(-c.at, min(c.at, x))
	}
}
