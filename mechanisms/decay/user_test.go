package decay

import (
	"math"
	"testing"

	"oriel/mechanisms/noise"
)

// TestUserMu checks that µ at user level is the formula of PROOF.md, Theorem 4, over one block, and that it is constant
// after the block of the last event. One event in a window must cost the event-level µ, up to the product term in η.
// All events of a user within the window must cost µ, and events over more steps increasingly more.
func TestUserMu(t *testing.T) {
	const age, separation, window = 400, 30, 100
	for _, f := range filters(t) {
		event := Loss{Filter: f, Square: power(20), N: 27, Scale: noise.Scale{Mant: 3, Exp: 20}}
		l := UserLoss{Loss: event, Separation: separation, Window: window}
		_, c, _ := floats(f, age)
		eta, _ := f.Slack().Float64()
		train, all, rest, total := 0.0, 0.0, 0.0, 0.0
		for j := range age {
			x, y := 0.0, 0.0
			for r := 0; r*separation <= j; r++ {
				if y += c[j-r*separation]; r*separation < window {
					x += c[j-r*separation]
				}
			}
			train, all, rest = train+x*x, all+y*y, rest+total*total
			total += c[j]
		}
		of := func(train, events float64) float64 {
			rho := 2 * eta * math.Sqrt(27)
			return math.Sqrt(0x1p20*train+2*0x1p10*rho*events*total*total+rho*rho*rest) / (3 << 20)
		}
		if got, want := l.Mu(age), of(train, 4); math.Abs(got-want) > 1e-12*want {
			t.Errorf("%v: µ(%d) = %g, want %g", f, age, got, want)
		}
		if got, want := l.MuAll(age), of(all, 14); math.Abs(got-want) > 1e-12*want {
			t.Errorf("%v: µ(%d) of all events = %g, want %g", f, age, got, want)
		}
		last := window - 1 + f.Period()
		if life := l.Life(); l.Mu(last) != life || l.Mu(1<<60) != life || !(l.Mu(last-1) < life) {
			t.Errorf("%v: µ is %g before the end, %g at it, %g for life", f, l.Mu(last-1), l.Mu(last), life)
		}
		single := UserLoss{Loss: event, Separation: 1, Window: 1}
		for _, age := range []uint64{1, 100, f.Period(), 1 << 60} {
			x, y := single.Mu(age), event.Mu(age)
			if bound := y + 2*eta*math.Sqrt(27)*math.Sqrt(rest)/(3<<20); x < y*(1-1e-15) || age <= 100 && x > bound {
				t.Errorf("%v: µ(%d) of one event %g, of a user with one event %g", f, age, y, x)
			}
		}
		before := 0.0
		for age := uint64(1); age < 1<<50; age <<= 7 {
			one, all := l.Mu(age), l.MuAll(age)
			if !(all > before) || all < one || age <= window && one != all {
				t.Errorf("%v: µ(%d) = %g, over all events %g after %g", f, age, one, all, before)
			}
			before = all
		}
		if l.Mu(0) != 0 || l.MuAll(0) != 0 {
			t.Error("µ at age 0")
		}
	}
}

// TestEventsWithinAMemoryAddUp checks that within a memory a user's loss grows nearly with each event. It compares µ of
// k events, in successive steps or spread over H steps, with µ of one event, at H = 65 536.
func TestEventsWithinAMemoryAddUp(t *testing.T) {
	const memory = 1 << 16
	l := Loss{Filter: fitFilter(t, memory), Square: power(80), N: 1, Scale: noise.Scale{Mant: 1, Exp: 40}}
	one := l.Life()
	for _, row := range []struct {
		events      uint64
		row, spread float64
	}{{8, 7.20, 3.73}, {64, 51.6, 23.8}, {1024, 678, 369}} {
		near := func(separation uint64, want float64) {
			t.Helper()
			user := UserLoss{Loss: l, Separation: separation, Window: separation * row.events}
			if got := user.Life() / one; math.Abs(got-want) > 0.003*want {
				t.Errorf("%d events, each %d steps, cost %.3f times one, want %g", row.events, separation, got, want)
			}
		}
		near(1, row.row)
		near(memory/row.events, row.spread)
	}
}

func BenchmarkMu(b *testing.B) {
	for _, x := range []struct {
		name   string
		memory uint64
		window uint64
	}{{"H=64", 64, 0}, {"H=65536", 1 << 16, 0}, {"H=1048576", 1 << 20, 0}, {"H=1048576/user", 1 << 20, 1000}} {
		l := Loss{Filter: fitFilter(b, x.memory), Square: power(60), N: 32, Scale: noise.Scale{Mant: 1, Exp: 33}}
		life := l.Life
		if x.window > 0 {
			life = UserLoss{Loss: l, Separation: 10, Window: x.window}.Life
		}
		b.Run(x.name, func(b *testing.B) {
			for b.Loop() {
				life()
			}
		})
	}
}
