package noise

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
)

// referenceWords returns the words of a seed one by one. It reads the keystream in one call.
func referenceWords(seed Seed) func() *big.Int {
	words := make([]int64, 4096)
	var keys keystream
	keys.open(seed)
	keys.read(words)
	next := 0
	return func() *big.Int {
		next++
		return new(big.Int).SetUint64(uint64(words[next-1]))
	}
}

// referenceCoin draws more and more digits of a uniform number until it is certain on which side of p the number is.
func referenceCoin(p *big.Rat, word func() *big.Int) bool {
	low, width := new(big.Rat), big.NewRat(1, 1)
	base := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 64))
	for {
		if high := new(big.Rat).Add(low, width); low.Cmp(p) >= 0 {
			return false
		} else if high.Cmp(p) <= 0 {
			return true
		}
		width.Quo(width, base)
		low.Add(low, new(big.Rat).Mul(width, new(big.Rat).SetInt(word())))
	}
}

// referenceDecay returns true with probability e^−γ, by the definition.
func referenceDecay(gamma *big.Rat, word func() *big.Int) bool {
	one := big.NewRat(1, 1)
	for ; gamma.Cmp(one) >= 0; gamma = new(big.Rat).Sub(gamma, one) {
		if !referenceFraction(one, word) {
			return false
		}
	}
	return referenceFraction(gamma, word)
}

func referenceFraction(gamma *big.Rat, word func() *big.Int) bool {
	for k := int64(1); ; k++ {
		if !referenceCoin(new(big.Rat).Quo(gamma, big.NewRat(k, 1)), word) {
			return k%2 == 1
		}
	}
}

// referenceChoose is Choose in rational numbers.
func referenceChoose(seed Seed, gaps []uint64, num, den *big.Int) int {
	word, n := referenceWords(seed), big.NewInt(int64(len(gaps)))
	limit := new(big.Int).Lsh(big.NewInt(1), 64)
	limit.Sub(limit, new(big.Int).Mod(limit, n))
	for {
		w := word()
		if w.Cmp(limit) >= 0 {
			continue
		}
		i := int(w.Mod(w, n).Int64())
		gamma := new(big.Rat).SetFrac(new(big.Int).Mul(new(big.Int).SetUint64(gaps[i]), num), den)
		if referenceDecay(gamma, word) {
			return i
		}
	}
}

// TestUniformRejectsTheBiasedWords checks that uniform skips words at or above the largest multiple of n. If it did
// not, the first third of n = 3·2⁶² numbers would be twice as frequent as the others. Real choices have so few options
// that frequencies cannot show this bias.
func TestUniformRejectsTheBiasedWords(t *testing.T) {
	const n = 3 << 62
	var c coins
	first := 0
	for i := range uint64(4000) {
		seed, word := choiceSeed(i), referenceWords(choiceSeed(i))
		want := word()
		for want.Cmp(new(big.Int).SetUint64(n)) >= 0 {
			want = word()
		}
		c.open(seed)
		got := c.uniform(n)
		if got != want.Uint64() {
			t.Fatalf("seed %d: %d, want %d", i, got, want)
		}
		if got < 1<<62 {
			first++
		}
	}
	if p := float64(first) / 4000; math.Abs(p-1.0/3) > 6.11*math.Sqrt(2.0/9/4000) {
		t.Errorf("the first third has %g of 4 000", p)
	}
}

// TestCoinComparesAllDigits checks that a number whose first digits equal those of the probability is compared by its
// further digits: for 1/3, whose digits are all alike, for ½ + 5·2⁻¹²⁸, and for 2⁻⁶⁴, which ends.
func TestCoinComparesAllDigits(t *testing.T) {
	third := uint64(math.MaxUint64 / 3)
	short, long := new(big.Int).Lsh(big.NewInt(1), 64), new(big.Int).Lsh(big.NewInt(1), 127)
	whole := new(big.Int).Lsh(big.NewInt(1), 128)
	long.Add(long, big.NewInt(5))
	for _, row := range []struct {
		x, y  *big.Int
		words []uint64
		yes   bool
	}{
		{big.NewInt(1), big.NewInt(3), []uint64{third, third - 1}, true},
		{big.NewInt(1), big.NewInt(3), []uint64{third, third + 1}, false},
		{big.NewInt(1), big.NewInt(3), []uint64{third, third, third, third - 1}, true},
		{big.NewInt(1), big.NewInt(3), []uint64{third, third, third, third + 1}, false},
		{long, whole, []uint64{1 << 63, 4}, true},
		{long, whole, []uint64{1 << 63, 5}, false},
		{long, whole, []uint64{1<<63 - 1, 9}, true},
		{short, whole, []uint64{0}, true},
		{short, whole, []uint64{1}, false},
	} {
		var c coins
		c.open(choiceSeed(1))
		c.used = len(c.words) - len(row.words)
		for i, w := range row.words {
			c.words[c.used+i] = int64(w)
		}
		if got := c.coin(row.x, row.y); got != row.yes {
			t.Errorf("%v/%v with the digits %v: %v", row.x, row.y, row.words, got)
		}
	}
}

func choiceSeed(i uint64) (seed Seed) {
	binary.LittleEndian.PutUint64(seed[:], i)
	seed[31] = 5
	return seed
}

func TestChooseMatchesReferenceModel(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 0))
	for trial := range uint64(3000) {
		gaps := make([]uint64, 1+r.IntN(6))
		for i := range gaps {
			if gaps[i] = r.Uint64N(9); r.IntN(20) == 0 {
				gaps[i] = 1<<64 - 1 - gaps[i]
			}
		}
		gaps[r.IntN(len(gaps))] = 0
		num, den := new(big.Int).SetUint64(1+r.Uint64N(40)), new(big.Int).SetUint64(1+r.Uint64N(40))
		if trial%7 == 0 { // every seventh fraction needs more than 64 bits
			den.Mul(den, new(big.Int).SetUint64(1<<63+r.Uint64())).Mul(den, big.NewInt(3))
			num.Mul(num, new(big.Int).SetUint64(r.Uint64()|1)).Mul(num, big.NewInt(2))
		}
		for k := range gaps { // gap k is chosen so that a coin ends exactly on a digit
			if trial%11 == 0 {
				gaps[k], num, den = min(gaps[k], 3), big.NewInt(1), big.NewInt(4)
			}
		}
		want := referenceChoose(choiceSeed(trial), gaps, num, den)
		if got := new(Chooser).Choose(choiceSeed(trial), gaps, num, den); got != want {
			t.Fatalf("trial %d: gaps %v at %v/%v: %d, want %d", trial, gaps, num, den, got, want)
		}
	}
}

// TestChooseFrequencies checks the frequencies of 200 000 draws, 50 000 in the short form. Each of the fifteen
// frequencies is within 6.11 standard errors of its probability, except with probability 1e-9. A rate half or twice as
// large must fail.
func TestChooseFrequencies(t *testing.T) {
	draws := tiertest.Runs(50_000, 200_000)
	fits := func(gaps []uint64, num, den int64, factor float64) bool {
		count, total := make([]int, len(gaps)), 0.0
		for i := range uint64(draws) {
			count[new(Chooser).Choose(choiceSeed(i), gaps, big.NewInt(num), big.NewInt(den))]++
		}
		for _, gap := range gaps {
			total += math.Exp(-factor * float64(gap) * float64(num) / float64(den))
		}
		for i, gap := range gaps {
			p := math.Exp(-factor*float64(gap)*float64(num)/float64(den)) / total
			if math.Abs(float64(count[i])/float64(draws)-p) > 6.11*math.Sqrt(p*(1-p)/float64(draws)) {
				return false
			}
		}
		return true
	}
	gaps := []uint64{0, 1, 2, 7, 30}
	for _, rate := range [][2]int64{{1, 10}, {1, 3}, {5, 4}} {
		if !fits(gaps, rate[0], rate[1], 1) {
			t.Errorf("rate %v: frequencies are not those of e^−γ", rate)
		}
	}
	if fits(gaps, 1, 3, 2) || fits(gaps, 1, 3, 0.5) {
		t.Error("the test does not tell a rate from its double")
	}
}

// BenchmarkChoose draws among n equal scores, and among scores of which only a few are probable.
func BenchmarkChoose(b *testing.B) {
	for _, c := range []struct {
		name string
		gaps []uint64
	}{{"n=10/gap=0", make([]uint64, 10)}, {"n=1000/gap=40", append(slices.Repeat([]uint64{40}, 999), 0)}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			num, den, i, room := big.NewInt(1), big.NewInt(10), uint64(0), new(Chooser)
			for b.Loop() {
				i++
				room.Choose(choiceSeed(i), c.gaps, num, den)
			}
		})
	}
}

// TestChooserKeepsNoStateBetweenDraws checks that a Chooser makes the same draw first and after other draws, and
// allocates nothing.
func TestChooserKeepsNoStateBetweenDraws(t *testing.T) {
	r, c := rand.New(rand.NewPCG(22, 0)), new(Chooser)
	gaps, most := make([]uint64, 40), new(big.Int).SetUint64(1<<64-1)
	nums, dens := []*big.Int{big.NewInt(1), most, big.NewInt(3)}, []*big.Int{big.NewInt(7), big.NewInt(2), most}
	for i := range uint64(500) {
		for k := range gaps {
			gaps[k] = r.Uint64N(50)
		}
		gaps[i%40] = 0
		num, den := nums[i%3], dens[i%2]
		want := new(Chooser).Choose(choiceSeed(i), gaps, num, den)
		if got := c.Choose(choiceSeed(i), gaps, num, den); got != want {
			t.Fatalf("draw %d: %d, alone %d", i, got, want)
		}
	}
	for k := range nums {
		i := uint64(0)
		if n := testing.AllocsPerRun(300, func() {
			c.Choose(choiceSeed(i%100), gaps, nums[k], dens[k])
			i++
		}); n > 0 {
			t.Errorf("rate %v/%v: %g allocations a draw", nums[k], dens[k], n)
		}
	}
}
