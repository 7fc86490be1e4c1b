package decay

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"oriel/mechanisms/buffer"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest/sumtest"
	"oriel/mechanisms/noise"
)

var grid = lattice.Grid{Exp: 0, Lambda: 1 << 26} // one lattice unit is q = 1, so releases are sums of integers

func newCarry(t testing.TB, f Filter, s float64, n int, sampler noise.Sampler) *Sum {
	t.Helper()
	c, err := New(f, noise.ScaleUp(s), grid, n, sampler, 3)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// written returns filters as literals, because fits may differ between platforms: for H = 2, 64 and 2²⁰, and one with
// six poles.
func written(t testing.TB) []Filter {
	t.Helper()
	all := []Filter{
		{Memory: 2, Count: 1, Poles: [MaxPoles]uint32{149_071_341}, Residues: [MaxPoles]uint32{267_656_104}},
		{
			Memory: 64, Count: 2,
			Poles:    [MaxPoles]uint32{975_602_355, 328_632_580},
			Residues: [MaxPoles]uint32{21_170_073, 487_478_718},
		},
		{
			Memory: 1 << 20, Count: 5,
			Poles:    [MaxPoles]uint32{1_073_732_504, 1_073_573_190, 1_070_685_430, 1_019_601_760, 412_458_503},
			Residues: [MaxPoles]uint32{24, 1_953, 151_095, 11_266_337, 480_938_745},
		},
		{
			Memory: 65_536, Count: 6,
			Poles: [MaxPoles]uint32{
				1<<30 - 20_000, 1<<30 - 150_000, 1<<30 - 1_700_000, 1<<30 - 17_000_000, 900_000_000,
				250_000_000,
			},
			Residues: [MaxPoles]uint32{500, 9_000, 220_000, 3_400_000, 35_000_000, 200_000_000},
		},
	}
	for _, f := range all {
		if err := f.Validate(); err != nil {
			t.Fatalf("H = %d: %v", f.Memory, err)
		}
	}
	return all
}

// carryIsWithinSlack compares carry with the definition of e, and returns the largest difference in units of η.
func carryIsWithinSlack(t *testing.T, f Filter, draws []int64) float64 {
	t.Helper()
	var buffers [MaxPoles]lattice.Int128
	carry := func(n int64) lattice.Int128 { return f.carry(&buffers, n) }
	slow := sumtest.NewCarried(f.Poles[:f.Count], func(k int) int64 { return -int64(f.Residues[k]) })
	return sumtest.CarryIsWithin(t, carry, slow, f.Slack(), draws)
}

// TestCarryIsWithinSlackOfItsDefinition compares the carry with its definition for draws at the sampler's reach, and
// for small, constant, alternating and random draws. The difference must stay below η and come close to it.
func TestCarryIsWithinSlackOfItsDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, f := range written(t) {
		top, worst := int64(29<<40), 0.0
		for _, draws := range sumtest.Extremes(rng, top, 80) {
			worst = max(worst, carryIsWithinSlack(t, f, draws))
		}
		if worst < 0.9 {
			t.Errorf("H = %d: the carry is within %g of η: the bound is loose, or the test tests nothing", f.Memory, worst)
		}
	}
}

// slowCarry computes the mechanism for one coordinate from its definition: the sum in rationals, with the real carry's
// integers.
type slowCarry struct {
	filter  Filter
	buffers [MaxPoles]lattice.Int128
	sum     *big.Rat
	steps   uint64
}

func (s *slowCarry) add(v, n int64) (u int64, sum float64) {
	s.steps++
	u = int64(s.filter.carry(&s.buffers, n).Lo) + v + n
	s.sum.Mul(s.sum, big.NewRat(int64(Decay(s.filter.Memory)), unit)).Add(s.sum, big.NewRat(u, 1))
	if s.steps%Period(s.filter.Memory) == 0 {
		s.buffers = [MaxPoles]lattice.Int128{}
	}
	sum, _ = s.sum.Float64()
	return u, sum
}

// TestReleaseIsTheDecayingSumOfIncrements checks Ŝ_t = γŜ_{t−1} + v_t + M_t + n_t, for contributions and noise of any
// sign, up to the sampler's reach. Only γŜ may be truncated.
func TestReleaseIsTheDecayingSumOfIncrements(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const n = 3
	for _, f := range written(t) {
		draws := sumtest.Tails(29, 1<<40)
		rng.Shuffle(len(draws), func(i, j int) { draws[i], draws[j] = draws[j], draws[i] })
		c := newCarry(t, f, 1<<40, n, &sumtest.Script{Values: draws})
		chain, dst := noise.NewChain([32]byte{}), make([]float64, n)
		slow := make([]slowCarry, n)
		for i := range slow {
			slow[i] = slowCarry{filter: f, sum: new(big.Rat)}
		}
		for now := range 400 {
			contribution := []int64{rng.Int64N(1<<56) - 1<<55, 1 << 26, -int64(now)}
			sumtest.Step(c, chain, dst, contribution...)
			for i := range n {
				_, want := slow[i].add(contribution[i], draws[(now*n+i)%len(draws)])
				if off := dst[i] - want; math.Abs(off) > 0x1p-16*float64(now+1)+math.Abs(want)*0x1p-52 {
					t.Fatalf("H = %d, step %d: release %g is %g off", f.Memory, now+1, want, off)
				}
			}
		}
	}
}

// faulty is a sum with a fault in one line of Add.
type faulty struct {
	*Sum
	fault string
}

func (x faulty) Add(dst []float64, v []lattice.Int128, chain *noise.Chain) {
	c := x.Sum
	c.steps++
	c.sampler.Fill(c.drawn, chain.Seed(noise.NodeID{Instance: c.instance, Block: c.steps}))
	for i, contribution := range v {
		n := c.drawn[i]
		m := c.filter.carry(&c.buffers[i], n)
		u := m.Add(contribution).AddInt64(n)
		decay := c.decay
		switch x.fault {
		case "carry skipped":
			u = contribution.AddInt64(n)
		case "contribution added twice":
			u = u.Add(contribution)
		case "decay before the noise":
			small := buffer.Decayed(lattice.Int128{Hi: n >> 63, Lo: uint64(n)}, decay, lattice.Int128{})
			u = m.Add(contribution).Add(small)
		case "no decay":
			decay = 1<<30 - 1
		}
		c.sums[i] = decayedSum(c.sums[i], decay, u)
		dst[i] = c.fine.Float64(c.sums[i])
	}
	if c.steps%c.period == 0 && x.fault != "reset skipped" {
		if x.fault == "buffers not zeroed" {
			for i := range c.buffers {
				c.buffers[i][0] = lattice.Int128{}
			}
			return
		}
		clear(c.buffers)
	}
	if x.fault == "reset depends on data" && (lattice.Int128{}).Less(v[0]) {
		clear(c.buffers)
	}
}

// recovered rebuilds n_1, n_2, … of one coordinate from only releases and contributions: u from Ŝ, and n from u.
// Releases and noise determine each other, given the data, as PROOF.md, Theorem 1 requires.
func recovered(f Filter, sums []lattice.Int128, contributions []int64) []int64 {
	var buffers [MaxPoles]lattice.Int128
	before := lattice.Int128{}
	out := make([]int64, len(sums))
	for i, sum := range sums {
		old := sumtest.Integer(buffer.Decayed(before, Decay(f.Memory), lattice.Int128{}))
		u := new(big.Int).Sub(sumtest.Integer(sum), old)
		u.Rsh(u, sumBits)
		peek := buffers
		out[i] = u.Int64() - contributions[i] - int64(f.carry(&peek, 0).Lo)
		f.carry(&buffers, out[i])
		if uint64(i+1)%Period(f.Memory) == 0 {
			buffers = [MaxPoles]lattice.Int128{}
		}
		before = sum
	}
	return out
}

// TestNoiseIsRecoveredFromReleases checks that noise is recovered from releases across resets, and that recovery fails
// with each planted fault.
func TestNoiseIsRecoveredFromReleases(t *testing.T) {
	f := written(t)[0] // the filter with period P = 2048
	const steps = 2*2048 + 50
	play := func(fault string) (wrong, first int) {
		c := newCarry(t, f, 5, 1, sumtest.Gaussian(t, 5))
		sum := faulty{c, fault}
		chain, dst := noise.NewChain([32]byte{1}), make([]float64, 1)
		var sums []lattice.Int128
		var contributions, drawn []int64
		for now := range int64(steps) {
			contribution := []int64{now*now%7 - 3}
			chain.Absorb(noise.Identity{Offset: now}, contribution)
			chain.Close(c.steps + 1)
			if fault == "" {
				c.Add(dst, sumtest.Wide(contribution), chain)
			} else {
				sum.Add(dst, sumtest.Wide(contribution), chain)
			}
			sums, drawn = append(sums, c.sums[0]), append(drawn, c.drawn[0])
			contributions = append(contributions, contribution[0])
		}
		for i, n := range recovered(f, sums, contributions) {
			if n != drawn[i] {
				if wrong == 0 {
					first = i + 1
				}
				wrong++
			}
		}
		return wrong, first
	}
	if wrong, first := play(""); wrong != 0 {
		t.Fatalf("%d of %d draws are not recovered, the first at step %d", wrong, steps, first)
	}
	if wrong, _ := play("nothing"); wrong != 0 {
		t.Fatal("the planted carry is faulty by itself")
	}
	for _, fault := range []string{
		"carry skipped", "contribution added twice", "decay before the noise", "no decay",
		"reset depends on data",
	} {
		if wrong, _ := play(fault); wrong < steps/10 {
			t.Errorf("%s: %d of %d draws differ: not caught", fault, wrong, steps)
		}
	}
	if wrong, first := play("reset skipped"); wrong == 0 || first <= 2048 {
		t.Errorf("reset skipped: %d draws differ, from step %d", wrong, first)
	}
}

// TestNoNoisePassesAReset checks that for equal releases all draws after a reset are equal, independent of the draws
// before it. So the loss of an event ends with its block. With a fault in the reset the draws must differ.
func TestNoNoisePassesAReset(t *testing.T) {
	f := written(t)[1] // the filter with three poles
	period := Period(f.Memory)
	play := func(fault string, contribution int64) []byte {
		c := newCarry(t, f, 5, 1, sumtest.Gaussian(t, 5))
		c.steps = period - 3
		for k := range f.Count { // buffers as after many steps
			c.buffers[0][k] = lattice.Int128{Lo: 1000 * (uint64(k) + 1)}
		}
		chain, dst := noise.NewChain([32]byte{1}), make([]float64, 1)
		for range 3 {
			x := sumtest.Wide([]int64{contribution})
			chain.Close(c.steps + 1)
			if fault == "" {
				c.Add(dst, x, chain)
			} else {
				faulty{c, fault}.Add(dst, x, chain)
			}
			contribution = -contribution
		}
		var state []byte
		for k := range f.Count {
			state = c.buffers[0][k].AppendBinary(state)
		}
		return state
	}
	zero := make([]byte, int(f.Count)*lattice.Int128Len)
	if state := play("", 7); !slices.Equal(state, zero) {
		t.Errorf("after a reset the buffers are %x", state)
	}
	for _, fault := range []string{"reset skipped", "buffers not zeroed"} {
		if slices.Equal(play(fault, 7), zero) {
			t.Errorf("%s: not caught", fault)
		}
	}
}

func TestDrawsReachTheRelease(t *testing.T) {
	for _, f := range written(t) {
		sumtest.DrawsReachTheRelease(t, 29, 1<<20, 4, func(sampler noise.Sampler) sumtest.Sum {
			c, err := New(f, noise.Scale{Mant: 1, Exp: 20}, grid, 4, sampler, 0)
			if err != nil {
				t.Fatal(err)
			}
			return c
		})
	}
}

func TestTailDrawsReachTheRelease(t *testing.T) {
	sumtest.FarDrawsReachTheRelease(t, noise.NodeID{Block: 1}, func(n int, sampler noise.Sampler) sumtest.Sum {
		c, err := New(written(t)[2], noise.Scale{Mant: 1, Exp: 40}, grid, n, sampler, 0)
		if err != nil {
			t.Fatal(err)
		}
		return c
	})
}

// TestSumsAndBuffersStayWithinTheirLimits checks that draws at the sampler's reach and contributions at their bound,
// all of one sign and without end, never make sums or buffers exceed their limits.
func TestSumsAndBuffersStayWithinTheirLimits(t *testing.T) {
	f := written(t)[2]
	f.Memory = MaxMemory
	s := noise.Scale{Mant: 1<<50 - 1}
	c, err := New(f, s, grid, 1, &sumtest.Script{Values: []int64{29 * (1<<50 - 1)}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for range 1 << 23 {
		u := f.carry(&c.buffers[0], 29*(1<<50-1)).AddInt64(1 << 56).AddInt64(29 * (1<<50 - 1))
		c.sums[0] = decayedSum(c.sums[0], c.decay, u)
	}
	for k := range f.Count {
		if !buffer.Within(c.buffers[0][k], c.limit[k]) {
			t.Errorf("buffer %d is beyond its limit", k)
		}
	}
	share := new(big.Float).Quo(new(big.Float).SetInt(sumtest.Integer(c.sums[0])),
		new(big.Float).SetInt(sumtest.Integer(c.sumLimit)))
	if x, _ := share.Float64(); !buffer.Within(c.sums[0], c.sumLimit) || x < 0.2 {
		t.Errorf("the sum reaches %g of its limit", x)
	}
	if err := c.Restore(c.AppendState(nil)); err != nil { // the state of a sum at step 0
		if c.steps = 5; c.Restore(c.AppendState(nil)) != nil {
			t.Error(err)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	good, s := written(t)[0], noise.ScaleUp(1024)
	f := func(name string, filter Filter, s noise.Scale, g lattice.Grid, n int) {
		t.Helper()
		if _, err := New(filter, s, g, n, &sumtest.Script{Values: []int64{0}}, 0); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	f("no filter", Filter{}, s, grid, 1)
	f("no scale", good, noise.Scale{}, grid, 1)
	f("scale 2^90", good, noise.Scale{Mant: 1, Exp: 90}, grid, 1)
	f("scale 2^51", good, noise.Scale{Mant: 1, Exp: 51}, grid, 1)
	f("no dimension", good, s, grid, 0)
	f("no grid", good, s, lattice.Grid{}, 1)
	f("grid of 44 bits", good, s, lattice.Grid{Lambda: 1 << 43}, 1)
}

// TestWeightIsTheSumOfItsDefinition compares N_t with the sum of γ^j in rationals, to the last bits, and checks that
// N_t tends to the memory.
func TestWeightIsTheSumOfItsDefinition(t *testing.T) {
	for _, memory := range []uint64{2, 3, 64, 1000, 65_536, MaxMemory} {
		gamma := big.NewFloat(float64(Decay(memory)) / unit).SetPrec(400)
		sum, power := new(big.Float).SetPrec(400), big.NewFloat(1).SetPrec(400)
		for t0 := range uint64(3000) {
			want, _ := sum.Float64()
			if got := Weight(memory, t0); math.Abs(got-want) > 1e-12*want {
				t.Fatalf("H = %d: N_%d = %.17g, want %.17g", memory, t0, got, want)
			}
			sum.Add(sum, power)
			power.Mul(power, gamma)
		}
		if got := Weight(memory, 1); got != 1 {
			t.Errorf("H = %d: N_1 = %g", memory, got)
		}
		limit := float64(unit) / float64(unit-int64(Decay(memory)))
		for _, far := range []uint64{100 * memory, 1 << 40, math.MaxUint64} {
			if got := Weight(memory, far); math.Abs(got-limit) > 1e-12*limit {
				t.Errorf("H = %d: N_%d = %.17g, want %.17g", memory, far, got, limit)
			}
		}
	}
}
