package names

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/noise"
)

// halves is the truncated law with r = 1/2, so ε = ln 2, whose probabilities are rational.
type halves struct{ most int }

// chance returns P(n).
func (h halves) chance(n int) *big.Rat {
	whole := int64(0)
	for i := -h.most; i <= h.most; i++ {
		whole += 1 << (h.most - max(i, -i))
	}
	return big.NewRat(1<<(h.most-max(n, -n)), whole)
}

// law returns the law as the code has it.
func (h halves) law() *Law {
	tails, sum := make([]float64, h.most), new(big.Rat)
	for k := h.most; k >= 1; k-- {
		sum.Add(sum, h.chance(k))
		tails[k-1], _ = sum.Float64()
	}
	return NewLaw(tails, int64(h.most)+1)
}

// scripted draws given numbers.
type scripted struct{ draws []int64 }

func (s *scripted) Fill(dst []int64, _ noise.Seed) {
	if len(dst) != len(s.draws) {
		panic(fmt.Sprintf("%d draws of %d names", len(s.draws), len(dst)))
	}
	copy(dst, s.draws)
}

// step is the names of a step with their counts. Later steps may depend on the release of earlier ones.
type step func(released string) map[string]int

// jointLaw returns the exact probability of each joint release of the steps, by enumeration of all draws. A release is
// what the shipped Sum lists.
func (h halves) jointLaw(steps []step) map[string]*big.Rat {
	law := map[string]*big.Rat{}
	sampler := &scripted{}
	sum := New(h.law(), sampler, 0)
	var follow func(t int, before string, chance *big.Rat)
	follow = func(t int, before string, chance *big.Rat) {
		if t == len(steps) {
			if law[before] == nil {
				law[before] = new(big.Rat)
			}
			law[before].Add(law[before], chance)
			return
		}
		counts := steps[t](before)
		draws := make([]int64, len(counts))
		var draw func(i int, chance *big.Rat)
		draw = func(i int, chance *big.Rat) {
			if i < len(draws) {
				for n := -h.most; n <= h.most; n++ {
					draws[i] = int64(n)
					draw(i+1, new(big.Rat).Mul(chance, h.chance(n)))
				}
				return
			}
			for name, count := range counts {
				sum.Open().Add([]byte(name), uint64(count))
			}
			sampler.draws = draws
			sum.Add(nil, nil, noise.NewChain([32]byte{1}))
			var text strings.Builder
			for _, l := range sum.Listed() {
				fmt.Fprintf(&text, "%s=%d ", l.Name, l.Count)
			}
			follow(t+1, before+text.String()+"|", chance)
		}
		draw(0, chance)
	}
	follow(0, "", big.NewRat(1, 1))
	return law
}

// divergence returns the sum of the positive parts of P − 2^j·Q.
func divergence(p, q map[string]*big.Rat, j uint) *big.Rat {
	sum, factor := new(big.Rat), new(big.Rat).SetInt64(1<<j)
	for release, chance := range p {
		rest := new(big.Rat).Set(chance)
		if other := q[release]; other != nil {
			rest.Sub(rest, new(big.Rat).Mul(factor, other))
		}
		if rest.Sign() > 0 {
			sum.Add(sum, rest)
		}
	}
	return sum
}

// always returns a step that depends on nothing.
func always(counts map[string]int) step { return func(string) map[string]int { return counts } }

// more returns the counts with one more of each of the names.
func more(counts map[string]int, names ...string) map[string]int {
	out := map[string]int{}
	for name, count := range counts {
		out[name] = count
	}
	for _, name := range names {
		out[name]++
	}
	return out
}

// TestJointLawIsWithinTheClaim enumerates the joint law of all releases in exact rationals, with and without a unit.
// The unit has one or two names, lonely or shared, at every count where an end of the noise meets the threshold. They
// are in one step, or in two: the first release then decides which name the unit has in the second step. δ at each ε =
// j·ln 2 must be at most that of the claim: pure m·ln 2, and m·q told. The claim is attained.
func TestJointLawIsWithinTheClaim(t *testing.T) {
	for _, most := range []int{1, 2, 3} {
		h := halves{most}
		q := h.chance(most)
		claim := func(m int) dp.Total {
			var one dp.Total
			one.AddPure(math.Ln2)
			told, _ := q.Float64()
			one.AddTold(math.Nextafter(told, 1))
			return one.Times(uint64(m))
		}
		attained := map[int]float64{}
		check := func(title string, m int, absent, present []step) {
			p, r := h.jointLaw(absent), h.jointLaw(present)
			total := claim(m)
			for j := range uint(4) {
				want := total.Delta(math.Nextafter(float64(j)*math.Ln2, math.Inf(1)))
				for _, delta := range []*big.Rat{divergence(p, r, j), divergence(r, p, j)} {
					got, _ := delta.Float64()
					if got > want*(1+1e-9) {
						t.Errorf("M = %d, %s: δ(%d·ln 2) = %g, claimed %g", most, title, j, got, want)
					}
					if int(j) == m {
						attained[m] = max(attained[m], got/want)
					}
				}
			}
		}
		for c := range 2*most + 3 {
			others := map[string]int{"b": c, "c": most + 1}
			if c == 0 {
				delete(others, "b")
			}
			check(fmt.Sprintf("a name of %d others", c), 1, []step{always(others)}, []step{always(more(others, "b"))})
			if most < 3 { // a second name is lonely, or shared
				check(fmt.Sprintf("names of %d others and of none", c), 2, []step{always(others)}, []step{always(more(others, "b", "a"))})
				check(fmt.Sprintf("names of %d others and of %d", c, most+1), 2, []step{always(others)}, []step{always(more(others, "b", "c"))})
				invited := func(released string) bool { return strings.Contains(released, "b=") }
				check(fmt.Sprintf("names of %d others, and again if invited", c), 2,
					[]step{always(others), func(string) map[string]int { return others }},
					[]step{always(more(others, "b")), func(released string) map[string]int {
						if invited(released) {
							return more(others, "a")
						}
						return more(others, "c")
					}})
			}
		}
		told, _ := q.Float64()
		if attained[1] < 1-1e-9 || most < 3 && attained[2] < (1-(1-told)*(1-told))/(2*told)-1e-9 {
			t.Errorf("M = %d: the claims are attained to %v", most, attained)
		}
	}
}

// TestLonelyNamesPassWithExactlyQ is the law of a name that one person wrote: published with probability q, with the
// count M + 1 alone.
func TestLonelyNamesPassWithExactlyQ(t *testing.T) {
	for most := 1; most < 8; most++ {
		h := halves{most}
		law := h.jointLaw([]step{always(map[string]int{"secret": 1})})
		passed := law[fmt.Sprintf("secret=%d |", most+1)]
		if len(law) != 2 || passed == nil || passed.Cmp(h.chance(most)) != 0 {
			t.Errorf("M = %d: %v", most, law)
		}
	}
}

// TestClaimsThatAreTooSmallAreFound plants wrong claims: the enumeration must be above each of them.
func TestClaimsThatAreTooSmallAreFound(t *testing.T) {
	h := halves{2}
	others := map[string]int{"b": 4}
	p, r := h.jointLaw([]step{always(others)}), h.jointLaw([]step{always(more(others, "a", "b"))})
	q, _ := h.chance(2).Float64()
	for title, claim := range map[string]func(*dp.Total){
		"q left out":              func(c *dp.Total) { c.AddPure(2 * math.Ln2) },
		"q of a unit, not a name": func(c *dp.Total) { c.AddPure(2 * math.Ln2); c.AddTold(q) },
	} {
		var total dp.Total
		claim(&total)
		if truth, _ := divergence(r, p, 2).Float64(); truth <= total.Delta(2*math.Ln2)*(1+1e-9) {
			t.Errorf("%s: δ = %g, claimed %g", title, truth, total.Delta(2*math.Ln2))
		}
	}
	low := New(h.law(), &scripted{draws: []int64{1}}, 0)
	low.law.Threshold-- // τ = M: a name of one person is published with n = M − 1 too
	low.Open().Add([]byte("secret"), 1)
	if low.Add(nil, nil, noise.NewChain([32]byte{})); len(low.Listed()) != 1 {
		t.Error("a threshold of M keeps the name")
	}
}

// TestListIsThatOfTheReferenceModel compares the sum with a map, a sort and one draw a name in ascending order. The
// order of arrival must change nothing.
func TestListIsThatOfTheReferenceModel(t *testing.T) {
	truncated, err := noise.NewTruncated(noise.Scale{Mant: 3}, 9)
	if err != nil {
		t.Fatal(err)
	}
	law := NewLaw(truncated.Tails(), 10)
	var before []string
	for order := range 3 {
		sum, counts, chain := New(law, truncated, 7), map[string]uint64{}, noise.NewChain([32]byte{3})
		for step := uint64(1); step <= 3; step++ {
			clear(counts)
			for i := range 900 {
				i := (i*[]int{1, 7, 899}[order] + 5) % 900
				name := fmt.Sprintf("%s-%d", strings.Repeat("long common head ", i%3), i%53%(7*int(step)))
				if i%9 == 0 {
					name = name[:1+i%len(name)] + "\x00\xff"[:i%3]
				}
				counts[name]++
				sum.Open().Add([]byte(name), 1)
			}
			chain.Close(step)
			names := make([]string, 0, len(counts))
			for name := range counts {
				names = append(names, name)
			}
			slices.Sort(names)
			draws := make([]int64, len(names))
			truncated.Fill(draws, chain.Seed(noise.NodeID{Instance: 7, Block: step}))
			var want, got []string
			for i, name := range names {
				if y := int64(counts[name]) + draws[i]; y >= 10 {
					want = append(want, fmt.Sprintf("%q %d", name, y))
				}
			}
			sum.Whole(900)
			sum.Add(nil, nil, chain)
			for _, l := range sum.Listed() {
				got = append(got, fmt.Sprintf("%q %d", l.Name, l.Count))
			}
			chain.Drawn()
			if !slices.Equal(got, want) || len(want) < 5 || sum.Steps() != step {
				t.Fatalf("order %d, step %d: listed %v, want %v", order, step, got, want)
			}
			if step == 3 {
				if order > 0 && !slices.Equal(got, before) {
					t.Errorf("order %d: listed %v, want %v", order, got, before)
				}
				before = got
			}
		}
	}
}
