package mechanisms_test

import (
	"bytes"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

var law = mechanisms.Exponential{
	Epsilon: mechanisms.Ratio{Num: 1, Den: 2}, Sensitivity: mechanisms.Ratio{Num: 3, Den: 1},
}

// TestChoiceIsAFunctionOfTheHistory checks that a replay repeats a draw, from the start and from a state, and that a
// change of history, key, score, rate or instance gives a new draw.
func TestChoiceIsAFunctionOfTheHistory(t *testing.T) {
	c, h := batched(t), records(30, 3)
	scores := make([]int64, 1000) // equal scores: two independent draws agree with probability 1/1000
	draw := func(key byte, change func(i int, instance *uint16, law *mechanisms.Exponential, g *[]float64)) (out []int) {
		stream := mechtest.ByCount(mechtest.Open(t, c, [32]byte{key}))
		for i, id := range h.ids {
			g, instance, rate := h.gradients[i], uint16(7), law
			change(i, &instance, &rate, &g)
			stream.Add(id, g)
			if i == 11 {
				state := stream.AppendState(nil)
				stream = mechtest.ByCount(mechtest.Open(t, c, [32]byte{99}))
				if err := stream.Restore(state); err != nil {
					t.Fatal(err)
				}
			}
			out = append(out, stream.Choose(instance, scores, rate))
		}
		return out
	}
	same := func(int, *uint16, *mechanisms.Exponential, *[]float64) {}
	base := draw(1, same)
	equal := func(other []int) (n int) {
		for i := range base {
			if base[i] == other[i] {
				n++
			}
		}
		return n
	}
	if equal(draw(1, same)) != len(base) {
		t.Error("a replay draws something else")
	}
	for what, other := range map[string][]int{
		"key":         draw(2, same),
		"instance":    draw(1, func(_ int, x *uint16, _ *mechanisms.Exponential, _ *[]float64) { *x++ }),
		"epsilon":     draw(1, func(_ int, _ *uint16, e *mechanisms.Exponential, _ *[]float64) { e.Epsilon.Den++ }),
		"sensitivity": draw(1, func(_ int, _ *uint16, e *mechanisms.Exponential, _ *[]float64) { e.Sensitivity.Num++ }),
		"history": draw(1, func(i int, _ *uint16, _ *mechanisms.Exponential, g *[]float64) {
			if i == 0 {
				*g = nil
			}
		}),
	} {
		if n := equal(other); n > 4 { // each of 30 agrees by chance with 1/1000: more than 4 has probability below 1e-9
			t.Errorf("another %s: %d of %d draws are the same", what, n, len(base))
		}
	}
}

// TestNoSeedIsUsedTwice checks that draws with equal scores, at the same place and with the same instance, have
// different seeds, and that the noise after each draw differs too.
func TestNoSeedIsUsedTwice(t *testing.T) {
	c := mechtest.Config(1)
	stream, other := mechtest.ByCount(mechtest.Open(t, c, [32]byte{1})), mechtest.ByCount(mechtest.Open(t, c, [32]byte{1}))
	scores := make([]int64, 1<<16)
	seen, twice := map[int]bool{}, 0
	for range 100 {
		i := stream.Choose(0, scores, law)
		if seen[i] {
			twice++
		}
		seen[i] = true
	}
	if twice > 6 { // 4 950 pairs, each equal with probability 2⁻¹⁶: more than 6 has probability below 1e-9
		t.Errorf("%d of 100 draws repeat another", twice)
	}
	stream.Add(noise.Identity{}, []float64{0})
	other.Add(noise.Identity{}, []float64{0})
	if stream.Sum(0)[0] == other.Sum(0)[0] || stream.Tag("x") == other.Tag("x") {
		t.Error("draws leave the chain where it was")
	}
}

// TestChoiceIsWithinItsLoss exchanges a unit that moves each score by at most 3. The log ratio of the frequencies in 40
// 000 draws on each side must be at most ε = 1/2 and at least 0.8·ε. 6.11 standard errors of a log ratio of two counts
// above 3 900 are 0.14. Draws at four times the rate must fail.
func TestChoiceIsWithinItsLoss(t *testing.T) {
	const draws, slack = 40_000, 0.14
	ratio := func(rate mechanisms.Exponential) float64 {
		var count [2]float64 // draws of element 0 of 8, whose score falls by 3 where others rise by 3
		for side, scores := range [][]int64{{3, 0, 0, 0, 0, 0, 0, 0}, {0, 3, 3, 3, 3, 3, 3, 3}} {
			stream := mechtest.ByCount(mechtest.Open(t, mechtest.Config(1), [32]byte{4, byte(side)}))
			for range draws {
				if stream.Choose(0, scores, rate) == 0 {
					count[side]++
				}
			}
		}
		return math.Log(count[0] / count[1])
	}
	if got := ratio(law); got > 0.5+slack || got < 0.8*0.5-slack {
		t.Errorf("log ratio %g, want at most %g", got, 0.5)
	}
	double := law
	double.Sensitivity.Num, double.Sensitivity.Den = 3, 4
	if got := ratio(double); got <= 0.5+slack {
		t.Errorf("log ratio %g at four times the rate passes", got)
	}
}

func TestChooseAtTheEndsOfTheRange(t *testing.T) {
	stream := mechtest.ByCount(mechtest.Open(t, mechtest.Config(1), [32]byte{4}))
	for range 100 {
		if i := stream.Choose(0, []int64{math.MinInt64, math.MaxInt64, math.MinInt64}, law); i != 1 {
			t.Fatalf("index %d with 2⁶⁴ less than the best", i)
		}
	}
	if i := stream.Choose(0, []int64{-5}, law); i != 0 {
		t.Errorf("index %d of one", i)
	}
	for what, bad := range map[string]func(){
		"no scores": func() { stream.Choose(0, nil, law) },
		"no rate":   func() { stream.Choose(0, []int64{1}, mechanisms.Exponential{Epsilon: law.Epsilon}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", what)
				}
			}()
			bad()
		}()
	}
}

// TestLossOfChoices checks that many draws cost less by their bounded range than by their ε, and that no bound is below
// the loss computed from the definition.
func TestLossOfChoices(t *testing.T) {
	epsilon := law.Epsilon.Up()
	rho := dp.ExponentialRho(epsilon)
	if rho < epsilon*epsilon/8 || rho > epsilon*epsilon/8*(1+1e-15) || rho > epsilon*math.Tanh(epsilon/2) {
		t.Errorf("ρ of ε = %g is %g", epsilon, rho)
	}
	if up := (mechanisms.Ratio{Num: 1, Den: 3}).Up(); up <= 1.0/3 && up*3 < 1 || up > 1.0/3*(1+1e-15) {
		t.Errorf("1/3 rounded up is %.17g", up)
	}
	var pure, range8 dp.Total
	for range 200 {
		pure.AddPure(epsilon)
		range8.AddRho(rho)
	}
	if got, want := range8.Epsilon(1e-6), pure.Epsilon(1e-6); got >= want {
		t.Errorf("200 draws have ε = %g by range, %g by ε", got, want)
	}
}

// TestNoDrawAfterTheHorizon checks that Choose panics after the horizon, as Add does, and changes nothing. Up to the
// end of the last step it must work.
func TestNoDrawAfterTheHorizon(t *testing.T) {
	c := mechtest.Config(1)
	c.Scope, c.Batch = protection.Lifetime{Steps: 2, Within: 8}, 2
	stream := mechtest.ByCount(mechtest.Open(t, c, [32]byte{1}))
	for i := range 4 {
		if stream.Ended() {
			t.Fatalf("ended after %d records", i)
		}
		stream.Choose(0, []int64{1, 2}, law)
		stream.Add(noise.Identity{Offset: int64(i)}, nil)
	}
	last := stream.AppendState(nil)
	defer func() {
		if r, _ := recover().(string); !strings.HasPrefix(r, "BUG: mechanisms: a draw after the horizon") ||
			!stream.Ended() {
			t.Errorf("a draw after the horizon: %q", r)
		}
		if !bytes.Equal(stream.AppendState(nil), last) {
			t.Error("a refused draw changes the stream")
		}
	}()
	stream.Choose(0, []int64{1, 2}, law)
}

// TestDrawByChangesNoNoise checks that DrawBy changes only the result of Choose: noise and later draws are the same as
// without it.
func TestDrawByChangesNoNoise(t *testing.T) {
	c := mechtest.Config(1)
	stream, other := mechtest.ByCount(mechtest.Open(t, c, [32]byte{1})), mechtest.ByCount(mechtest.Open(t, c, [32]byte{1}))
	var reported []mechanisms.Draw
	stream.DrawBy(func(d mechanisms.Draw, drawn int) int {
		d.Scores = slices.Clone(d.Scores)
		reported = append(reported, d)
		return 2 - drawn
	})
	for i := range 20 {
		scores := []int64{0, int64(i), -3}
		got, want := stream.Choose(uint16(i), scores, law), other.Choose(uint16(i), scores, law)
		if got != 2-want {
			t.Fatalf("draw %d: %d, the mechanism's own is %d", i, got, want)
		}
		d := mechanisms.Draw{Step: uint64(i), Instance: uint16(i), Law: law, Scores: scores}
		if !reflect.DeepEqual(reported[i], d) {
			t.Errorf("reported %+v, want %+v", reported[i], d)
		}
		id := noise.Identity{Offset: int64(i)}
		stream.Add(id, []float64{0.5})
		if other.Add(id, []float64{0.5}); stream.Sum(0)[0] != other.Sum(0)[0] {
			t.Fatal("the noise is another")
		}
	}
	if stream.DrawBy(nil); stream.Choose(0, []int64{1, 2, 3}, law) != other.Choose(0, []int64{1, 2, 3}, law) {
		t.Error("DrawBy does not end")
	}
}
