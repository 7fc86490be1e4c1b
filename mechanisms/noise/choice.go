package noise

import (
	"fmt"
	"math/big"
)

// Chooser is the working memory for successive draws. After the first draw of a rate it allocates nothing. No draw
// reads data of another draw. It must be kept as secret as the seeds.
type Chooser struct {
	coins

	gap, gamma, whole, rest big.Int // scratch
}

// Choose draws index i of gaps with probability proportional to e^(−gaps[i]·num/den), exactly, if the keystream's bits
// are independent and uniform. num and den must be positive, and at least one gap must be 0. It is a pure function of
// its arguments. It uses no floating point: it compares integers, words of the seed's keystream with digits of rational
// probabilities.
//
//	choose      i uniform; take it with probability e^(−γ_i), γ_i = gaps[i]·num/den, otherwise repeat        (rejection)
//	e^−γ        ⌊γ⌋ times e^−1, then e^−(γ−⌊γ⌋); of γ ≤ 1: the first k ≥ 1 at which a coin of γ/k fails is odd
//	            (Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy", NeurIPS 2020, Algorithm 1)
//	coin of x/y words are the base-2⁶⁴ digits of a uniform number; it is below x/y
//	uniform     the next word below ⌊2⁶⁴/n⌋·n, modulo n
//
// The time of a draw depends on seed and gaps: on average n/Σe^(−γ_i) ≤ n tries of a few words.
func (c *Chooser) Choose(seed Seed, gaps []uint64, num, den *big.Int) int {
	if len(gaps) == 0 || num.Sign() <= 0 || den.Sign() <= 0 {
		panic(fmt.Sprintf("BUG: noise: choice of %d with rate %v/%v", len(gaps), num, den))
	}
	c.open(seed)
	for {
		i := c.uniform(uint64(len(gaps)))
		c.gamma.Mul(c.gap.SetUint64(gaps[i]), num)
		c.whole.QuoRem(&c.gamma, den, &c.rest)
		if c.expInteger(&c.whole) && c.expFraction(&c.rest, den) {
			return int(i)
		}
	}
}

// coins holds the words of one seed, read in order.
type coins struct {
	keys  keystream
	words [16]int64
	used  int

	// Scratch of coin and expFraction. Each operation has its own result variable, because big.Int allocates when a
	// result is also an argument.
	digit, remainder, shifted, scaled, count, one big.Int
}

// open starts at the first word of a seed.
func (c *coins) open(seed Seed) {
	c.keys.open(seed)
	c.used = len(c.words)
	c.one.SetInt64(1)
}

func (c *coins) word() uint64 {
	if c.used == len(c.words) {
		c.keys.read(c.words[:])
		c.used = 0
	}
	c.used++
	return uint64(c.words[c.used-1])
}

// uniform draws an integer from 0 … n−1.
func (c *coins) uniform(n uint64) uint64 {
	over := -n % n // 2⁶⁴ mod n, the values that would bias the result
	for {
		if w := c.word(); w <= ^uint64(0)-over {
			return w % n
		}
	}
}

// coin returns true with probability x/y, 0 ≤ x ≤ y.
func (c *coins) coin(x, y *big.Int) bool {
	if x.Cmp(y) == 0 {
		return true
	}
	for c.remainder.Set(x); c.remainder.Sign() != 0; {
		c.digit.QuoRem(c.shifted.Lsh(&c.remainder, 64), y, &c.remainder)
		if digit, w := c.digit.Uint64(), c.word(); w != digit {
			return w < digit
		}
	}
	return false // all digits so far equal x/y, so the random number is at least x/y
}

// expInteger returns true with probability e^−k.
func (c *coins) expInteger(k *big.Int) bool {
	for range limit(k) {
		if !c.expFraction(&c.one, &c.one) {
			return false
		}
	}
	return true
}

// expFraction returns true with probability e^(−x/y), 0 ≤ x ≤ y.
func (c *coins) expFraction(x, y *big.Int) bool {
	k := int64(1)
	for c.coin(x, c.scaled.Mul(y, c.count.SetInt64(k))) {
		k++
	}
	return k%2 == 1
}

// limit returns k, or a count so large that it is never reached, because each round continues with probability e^−1.
func limit(k *big.Int) uint64 {
	if k.IsUint64() {
		return k.Uint64()
	}
	return 1<<64 - 1
}
