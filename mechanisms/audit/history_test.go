package audit_test

import (
	"encoding/binary"
	"errors"
	"math"
	"math/big"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/audit"
	"oriel/mechanisms/blt"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
)

// rekeyed plants noise that ignores the stream's key chain: its own chain starts at key in each run and does not absorb
// contributions.
func rekeyed(
	t *testing.T, c mechanisms.Config, p mechanisms.Calibration, k audit.Canary, key func(run uint64) uint64,
) audit.Play {
	t.Helper()
	sum := mechtest.Sum(t, c, p, sampler(t, c, p.Scale))
	var own *noise.Chain
	play := player(open(t, c, p, &bentSum{
		Sum: sum, restore: func() {},
		add: func(dst []float64, v []lattice.Int128, _ *noise.Chain) {
			own.Close(sum.Steps() + 1)
			sum.Add(dst, v, own)
		},
	}), c, k)
	return func(run uint64, canary bool, observe func([]float64)) error {
		var k0 [32]byte
		binary.LittleEndian.PutUint64(k0[:], key(run))
		own = noise.NewChain(k0)
		return play(run, canary, observe)
	}
}

// anew returns a counter of how often each run was played, so that a retry can draw new noise.
func anew() func(uint64) uint64 {
	n := uint64(0)
	return func(uint64) uint64 { n++; return n }
}

func TestCheckHistoryCatchesPlantedFaults(t *testing.T) {
	for _, name := range []string{"tree-gaussian", "blt", "tree-gamma", "once-gaussian"} {
		c := config(name)
		p := mechtest.Plan(t, c)
		for _, step := range []uint64{1, 6} {
			if name == "tree-gamma" && step > 1 {
				continue
			}
			k := canary(t, c, step, 8)
			f := func(what string, play audit.Play, want error) {
				t.Helper()
				if err := audit.CheckHistory(play, k); !errors.Is(err, want) {
					t.Errorf("%s, canary at step %d, %s: %v, want %v", name, step, what, err, want)
				}
			}
			f("no fault", player(mechtest.Open(t, c, [32]byte{1}), c, k), nil)
			f("no noise", player(open(t, c, p, mechtest.Sum(t, c, p, mechtest.Zero{})), c, k), audit.ErrShared)
			f("identity left out of the chain", rekeyed(t, c, p, k, func(uint64) uint64 { return 1 }), audit.ErrShared)
			f("v_t left out of k_t", rekeyed(t, c, p, k, func(run uint64) uint64 { return run }), audit.ErrReused)
			f("a redraw on a retry", rekeyed(t, c, p, k, anew()), audit.ErrRedrawn)
			broken := errors.New("broken")
			f("a play that fails", func(uint64, bool, func([]float64)) error { return broken }, broken)
		}
	}
}

// TestRedrawOnARetryIsWorthTwoWindows averages two attempts at one run, as a reader could. If a history determines its
// noise, the two releases are equal. If a retry draws new noise, the loss is µ√2.
func TestRedrawOnARetryIsWorthTwoWindows(t *testing.T) {
	c := config("blt")
	p, k := mechtest.Plan(t, c), canary(t, c, 1, 8)
	mean := func(play audit.Play) audit.Play {
		return func(run uint64, canary bool, observe func([]float64)) error {
			var first [][]float64
			err := play(run, canary, func(y []float64) { first = append(first, append([]float64(nil), y...)) })
			t := 0
			return errors.Join(err, play(run, canary, func(y []float64) {
				for i, x := range y {
					first[t][i] = (first[t][i] + x) / 2
				}
				observe(first[t])
				t++
			}))
		}
	}
	law, guarantee := newLaw(t, c, p, k), mechtest.Open(t, c, [32]byte{}).Guarantee()
	if r := run(t, mean(player(mechtest.Open(t, c, [32]byte{3}), c, k)), law, guarantee, caughtRuns); r.Err() != nil {
		t.Errorf("no fault: %v", r.Err())
	}
	if r := run(t, mean(rekeyed(t, c, p, k, anew())), law, guarantee, caughtRuns); !errors.Is(r.Err(), audit.ErrClaim) {
		t.Errorf("a redraw on a retry: not caught: %+v", r.Bounds)
	}
}

// carry computes M_t of blt by the definition in its PROOF.md, in big integers.
type carry struct {
	f    blt.Filter
	sums [blt.MaxPoles]big.Int // C_k, state of pole k
}

func (c *carry) next() *big.Int {
	m := new(big.Int).Lsh(big.NewInt(1), 29+uint(c.f.Shift))
	for k := range c.f.Count {
		m.Add(m, new(big.Int).Mul(&c.sums[k], big.NewInt(int64(c.f.Residues[k]))))
	}
	return m.Rsh(m, 30+uint(c.f.Shift))
}

func (c *carry) take(n int64) {
	fresh := new(big.Int).Lsh(big.NewInt(n), uint(c.f.Shift))
	for k := range c.f.Count {
		x := new(big.Int).Mul(&c.sums[k], big.NewInt(int64(c.f.Poles[k])))
		c.sums[k].Add(x.Rsh(x, 30), fresh)
	}
}

// continuous plants a filter whose input is w instead of round(w): w is the drawn integer plus a fraction that no
// release reveals.
type continuous struct {
	p       mechanisms.Calibration
	sampler noise.Sampler
	steps   uint64
	total   int64
	states  [blt.MaxPoles]float64
}

func (c *continuous) Add(dst []float64, v []lattice.Int128, chain *noise.Chain) {
	c.steps++
	seed := chain.Seed(noise.NodeID{Block: c.steps})
	n := make([]int64, 1)
	c.sampler.Fill(n, seed)
	m := 0.0
	for k := range c.p.Filter.Count {
		m += float64(c.p.Filter.Residues[k]) / (1 << 30) * c.states[k]
	}
	c.total += int64(v[0].Lo)
	dst[0] = c.p.Grid.Float64(lattice.Int128{}.AddInt64(c.total + int64(math.Round(m)) + n[0]))
	w := float64(n[0]) + float64(seed[0])/256 - 0.5
	for k := range c.p.Filter.Count {
		c.states[k] = float64(c.p.Filter.Poles[k])/(1<<30)*c.states[k] + w
	}
}

func (c *continuous) Steps() uint64                 { return c.steps }
func (c *continuous) AppendState(dst []byte) []byte { return append(dst, make([]byte, 8)...) }
func (c *continuous) StateLen() int                 { return 8 }
func (c *continuous) Restore([]byte) error {
	c.steps, c.total, c.states = 0, 0, [blt.MaxPoles]float64{}
	return nil
}

// TestNoiseIsRecoveredFromReleases recovers the drawn integers from releases and data. The proof of blt requires that
// only these integers are filtered. From a filter of the continuous w they cannot be recovered, and its loss exceeds
// the claim where s is small (blt/PROOF.md). At a calibration's scale no audit could show the excess.
func TestNoiseIsRecoveredFromReleases(t *testing.T) {
	c := config("blt")
	c.Contribution = contribution.OneComponent(1, c.Clip())
	p, k := mechtest.Plan(t, c), canary(t, c, 5, 200)
	whole := sampler(t, c, p.Scale)
	var drawn []int64
	recorder := &bentSampler{fill: func(dst []int64, seed noise.Seed, _ int) {
		whole.Fill(dst, seed)
		drawn = append(drawn, dst[0])
	}}
	wrong := func(sum mechanisms.Sum) (count int) {
		drawn = nil
		filter, step := &carry{f: p.Filter}, uint64(0)
		integers := []int64{0}
		if err := player(open(t, c, p, sum), c, k)(1, true, func(y []float64) {
			if step++; k.At(step) {
				p.Grid.Quantise(integers, k.With)
			}
			n := int64(y[0]/p.Grid.Unit()) - integers[0] - filter.next().Int64()
			if n != drawn[step-1] {
				count++
			}
			filter.take(n)
		}); err != nil {
			t.Fatal(err)
		}
		return count
	}
	if n := wrong(mechtest.Sum(t, c, p, recorder)); n != 0 {
		t.Errorf("%d draws are not recovered", n)
	}
	if n := wrong(&continuous{p: p, sampler: recorder}); n < 20 {
		t.Errorf("w fed back: not caught, %d draws differ", n)
	}
}
