package noise

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
)

func newTruncated(t testing.TB, s Scale, most int64) *Truncated {
	t.Helper()
	sampler, err := NewTruncated(s, most)
	if err != nil {
		t.Fatal(err)
	}
	return sampler
}

// TestKnownTruncatedDraws compares draws with mpmath's, which sums the law: random words, tails, and words at the
// places where the draw changes, up to three words long. A word that is in the table must be extended.
func TestKnownTruncatedDraws(t *testing.T) {
	samplers, extended := map[string]*Truncated{}, 0
	for _, line := range readFile(t, "truncated.txt") {
		var a answer
		var words string
		var most int64
		if _, err := fmt.Sscanf(line, "%d %d %d %s = %d", &a.scale.Mant, &a.scale.Exp, &most, &words, &a.want); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		for text := range strings.SplitSeq(words, ",") {
			word, err := strconv.ParseUint(text, 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			a.words = append(a.words, word)
		}
		key := fmt.Sprint(a.scale, most)
		if samplers[key] == nil {
			samplers[key] = newTruncated(t, a.scale, most)
		}
		for sign, word := range map[int64]uint64{1: a.words[0], -1: ^a.words[0]} { // complemented words give the negated draw
			extend := a.extend()
			next := func() func() uint64 {
				extended++
				return func() uint64 { return extend() ^ uint64((sign-1)/2) }
			}
			if got := samplers[key].one(word, next); got != sign*a.want {
				t.Errorf("%v: got %d, want %d", line, got, sign*a.want)
			}
		}
	}
	if extended < 100 {
		t.Errorf("%d draws needed more than a word", extended)
	}
}

// TestTruncatedTableIsExact compares the table and the tails with the law, summed from powers of another e^(−1/s), and
// the probabilities with the law's definition: their ratio to the next is e^(1/s), and they add up to 1.
func TestTruncatedTableIsExact(t *testing.T) {
	for _, s := range smallScales {
		for _, most := range []int64{1, 2, 5, int64(1 + 20*s.Float64())} {
			q, one := decay(s), new(big.Float).SetPrec(400).SetInt64(1)
			power, powers, whole := new(big.Float).Set(one), []*big.Float{}, new(big.Float).Set(one)
			for range most {
				power.Mul(power, q)
				powers = append(powers, new(big.Float).Set(power))
				whole.Add(whole, power).Add(whole, power)
			}
			tail, sampler := new(big.Float).SetPrec(400), newTruncated(t, s, most)
			for k := most; k >= 1; k-- {
				tail.Add(tail, powers[k-1])
				want := new(big.Float).SetPrec(400).Quo(tail, whole)
				digits, _ := new(big.Float).SetMantExp(want, 64).Int(nil)
				if got := sampler.table[k-1]; !digits.IsUint64() || got != digits.Uint64() {
					t.Errorf("s=%v M=%d k=%d: %d, want %v", s, most, k, got, digits)
				}
				if x, _ := want.Float64(); x != sampler.tails[k-1] {
					t.Errorf("s=%v M=%d k=%d: tail %g, want %g", s, most, k, sampler.tails[k-1], x)
				}
				low, high := sampler.tail(k, 192)
				exact, _ := new(big.Float).SetMantExp(want, 192).Int(nil)
				if low.Cmp(exact) > 0 || high.Cmp(exact) <= 0 || high.Sub(high, low).Cmp(big.NewInt(3)) > 0 {
					t.Errorf("s=%v M=%d k=%d: enclosed by %v and %v more, want %v", s, most, k, low, high, exact)
				}
			}
			end, _ := tail.Quo(powers[most-1], whole).Float64()
			if got := s.TruncatedEnd(most); got < end || got > end*(1+1e-15) {
				t.Errorf("s=%v M=%d: P(M) = %g, want %g", s, most, got, end)
			}
		}
	}
}

// TestTruncationIsTheLeast checks that M − 1 would leave more at the ends than is wanted.
func TestTruncationIsTheLeast(t *testing.T) {
	for _, s := range smallScales {
		for _, top := range []float64{0.2, 1e-2, 1e-6, 1e-12, 1e-18} {
			most, err := LeastTruncation(s, top)
			if err != nil {
				t.Fatal(err)
			}
			if s.TruncatedEnd(most) > top || most > 1 && s.TruncatedEnd(most-1) <= top {
				t.Errorf("s=%v, %g: M = %d with P(M) = %g", s, top, most, s.TruncatedEnd(most))
			}
		}
	}
	if most, err := LeastTruncation(Scale{Mant: 1}, 1e-6); most != 14 || err != nil {
		t.Errorf("ε = 1, δ = 1e-6: M = %d, %v", most, err)
	}
}

func TestTruncatedRefuses(t *testing.T) {
	for _, c := range []struct {
		s    Scale
		most int64
	}{
		{Scale{Mant: 1}, 0},
		{Scale{Mant: 1}, 45},
		{Scale{Mant: 1}, MaxTruncated + 1},
		{Scale{}, 3},
		{Scale{Mant: 1, Exp: 50}, 3},
	} {
		if _, err := NewTruncated(c.s, c.most); err == nil {
			t.Errorf("s=%v M=%d: taken", c.s, c.most)
		}
	}
	if _, err := LeastTruncation(Scale{Mant: 1, Exp: 20}, 1e-9); err == nil {
		t.Error("an M beyond the largest: taken")
	}
}

// TestTruncatedLaw counts draws. In the long form the ends are counted within 5 standard errors of q over 10⁷ draws.
func TestTruncatedLaw(t *testing.T) {
	s, most := Scale{Mant: 1}, int64(9)
	sampler, total := newTruncated(t, s, most), tiertest.Runs(1_000_000, 10_000_000)
	counts, draws := map[int64]int{}, make([]int64, 5000)
	for i := range total / len(draws) {
		sampler.Fill(draws, Seed{byte(i), byte(i >> 8), 1})
		for _, n := range draws {
			counts[n]++
		}
	}
	q := s.TruncatedEnd(most)
	for _, n := range []int64{most, -most} {
		if d := float64(counts[n]) - q*float64(total); math.Abs(d) > 5*math.Sqrt(q*float64(total)) {
			t.Errorf("%d of %d draws are %d, want %g", counts[n], total, n, q*float64(total))
		}
	}
	tails := append([]float64{1}, append(sampler.Tails(), 0)...)
	chiSquare(t, "truncated", counts, total, func(k int64) float64 {
		if k == 0 {
			return 1 - 2*tails[1]
		}
		k = max(k, -k)
		return tails[k] - tails[k+1]
	}, most-1)
	if counts[most+1]+counts[-most-1] > 0 {
		t.Error("a draw beyond M")
	}
}

// TestNormalTailsAreThoseOfRoundedDraws compares the tails with math.Erfc, and the number of draws that are beyond.
func TestNormalTailsAreThoseOfRoundedDraws(t *testing.T) {
	for _, s := range []Scale{{Mant: 1}, {Mant: 5, Exp: -1}, {Mant: 23, Exp: -2}, {Mant: 100}} {
		tails := NormalTails(s)
		for i, got := range tails {
			want := math.Erfc((float64(i)+0.5)/s.Float64()/math.Sqrt2) / 2
			if math.Abs(got-want) > 1e-12*want || s.NormalTail(int64(i+1)) < got {
				t.Errorf("s=%v k=%d: %g, want %g", s, i+1, got, want)
			}
		}
		if last := len(tails); tails[last-1] < 0x1p-64 || s.NormalTail(int64(last+1)) > 0x1p-64 {
			t.Errorf("s=%v: %d tails", s, last)
		}
		draws, beyond, k := make([]int64, 1<<17), 0, int(1.3*s.Float64())
		newSampler(t, "gaussian", s, 1).Fill(draws, Seed{byte(k), 9})
		for _, n := range draws {
			if n >= int64(k) {
				beyond++
			}
		}
		p := tails[k-1]
		share := float64(beyond) / float64(len(draws))
		near(t, fmt.Sprintf("s=%v, draws of %d and more", s, k), share, p, math.Sqrt(p*(1-p)), len(draws))
	}
	if got := (Scale{Mant: 1, Exp: -20}).NormalTail(1 << 15); got != 0x1p-64 {
		t.Errorf("a tail beyond 32 deviations is %g", got)
	}
}

// TestChainOfNamesIsItsDefinition hashes names as doc.go says, and checks that each field enters.
func TestChainOfNamesIsItsDefinition(t *testing.T) {
	id := Identity{Topic: [16]byte{1}, Partition: 2, Offset: 3, LeaderEpoch: 4}
	start := func(name []byte, change func(*Identity)) [32]byte {
		c, id := NewChain([32]byte{5}), id
		change(&id)
		c.AbsorbName(id, []byte("first"))
		c.AbsorbName(id, name)
		c.AbsorbName(id, nil)
		if want := uint64(2); c.Events() != want && name != nil {
			t.Errorf("%d events", c.Events())
		}
		c.Close(1)
		return c.Key()
	}
	keep := func(*Identity) {}
	seen := map[[32]byte]string{start([]byte("ab"), keep): "the base"}
	for title, key := range map[string][32]byte{
		"a name":       start([]byte("ac"), keep),
		"a prefix":     start([]byte("a"), keep),
		"no event":     start(nil, keep),
		"an empty one": start([]byte{}, keep),
		"an offset":    start([]byte("ab"), func(id *Identity) { id.Offset++ }),
		"an epoch":     start([]byte("ab"), func(id *Identity) { id.LeaderEpoch++ }),
		"a partition":  start([]byte("ab"), func(id *Identity) { id.Partition++ }),
		"a topic":      start([]byte("ab"), func(id *Identity) { id.Topic[3]++ }),
	} {
		if before, same := seen[key]; same {
			t.Errorf("%s gives the key of %s", title, before)
		}
		seen[key] = title
	}
}

func BenchmarkTruncated(b *testing.B) {
	sampler := newTruncated(b, Scale{Mant: 1}, 14)
	draws := make([]int64, 4096)
	for b.Loop() {
		sampler.Fill(draws, Seed{1})
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(draws)), "ns/draw")
}
