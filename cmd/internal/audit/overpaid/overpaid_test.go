package overpaid

import (
	"math"
	"testing"

	"oriel/cmd/internal/audit/subject"
	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/description"
	"oriel/schemas/decision"
	"oriel/schemas/event"
)

// constant is an operator with two components. Each event adds (1, x) to the first, with x in [−½, ½], and x to the
// second. The noise of the second component covers exactly the possible moves of x.
type constant struct {
	first contribution.Component
	shift float64 // shift of x, so that contributions along u and −u differ in length
}

func (c constant) Require(m *mechanisms.Config, _ []byte) error {
	c.first.Name, c.first.Size, c.first.Share = "sums", 2, 1
	values := contribution.Component{Name: "values", Size: 1, Clip: 0.5 + math.Abs(c.shift), Share: 1}
	m.Contribution = contribution.Contribution{Components: []contribution.Component{c.first, values}}
	return nil
}

func (constant) Params(mechanisms.Config) ([]byte, error) { return nil, nil }

func (constant) Describe(mechanisms.Config) description.Figures { return description.Figures{} }

func (constant) Extras() []decision.Extra { return nil }

func (c constant) Open(_ []byte, sums *mechanisms.Stream) (operators.Machine, error) {
	return &constantMachine{sums, c.shift}, nil
}

func (c constant) ReferenceModel([]byte) (operators.ReferenceModel, error) {
	return constantReference{shift: c.shift}, nil
}

type constantMachine struct {
	*mechanisms.Stream
	shift float64
}

func (m *constantMachine) Open(dst []operators.Decision) []operators.Decision { return dst }

func (m *constantMachine) Steps() uint64 { return m.Step() }

func (m *constantMachine) Due(step uint64) (uint64, int) { return step, int(min(step, 1)) }

func (m *constantMachine) Add(r operators.Record) {
	var v []float64
	if !r.Null {
		x := max(-0.5, min(0.5, r.Event.Numbers[0])) + m.shift
		v = []float64{1, x, x}
	}
	m.Stream.Add(r.Identity, v)
}

func (m *constantMachine) Close(dst []operators.Decision) []operators.Decision {
	m.Stream.Close()
	return dst
}

type constantReference struct {
	operators.OneRecord
	shift float64
}

func (constantReference) Begin() {}

func (constantReference) Observe([]operators.Decision) {}

func (c constantReference) Contribution(dst []float64, r operators.Record) bool {
	if r.Null {
		return false
	}
	dst[0], dst[1] = 1, math.Copysign(min(0.5, math.Abs(r.Event.Numbers[0])), r.Event.Numbers[0])
	dst[1] += c.shift
	dst[2] = dst[1]
	return true
}

func (constantReference) Canary(u []float64, factor float64) (with, without operators.Record) {
	far := math.Copysign(operators.CanaryFactor*factor, u[0])
	record := func(x float64) operators.Record {
		return operators.Record{Event: event.Event{Numbers: []float64{x}}}
	}
	return record(far), record(-far)
}

func (constantReference) Tangent([]float64) {}

// firm is a quantiser that claims the true distances of contributions (1, x): 1 between two contributions, and √1.25
// from zero.
type firm struct{}

func (firm) Entries() int { return 2 }

func (firm) Distances(g lattice.Grid) (replace, zeroOut lattice.Int128) {
	one, half := whole(1/g.Unit()), whole(0.5/g.Unit())
	return lattice.Square(2 * half), lattice.Square(one).Add(lattice.Square(half))
}

func (firm) Quantise(g lattice.Grid, dst []int64, v []float64) {
	half := whole(0.5 / g.Unit())
	dst[0] = whole(1 / g.Unit())
	if x := v[1] / g.Unit(); x == x {
		dst[1] = max(-half, min(half, int64(math.Floor(max(-0.5, min(0.5, v[1]))/g.Unit()))))
	}
}

func whole(x float64) int64 { return int64(math.Floor(x)) }

// TestOverpaidNamesWhatAnExchangeCannotMove covers contributions with a constant entry. Their distance is at most √1.25
// from the null event's contribution, and at most 1 from each other. The noise of a clip covers twice the clip or, if
// neighbours differ by the null event, once the clip.
func TestOverpaidNamesWhatAnExchangeCannotMove(t *testing.T) {
	far := math.Sqrt(1.25)
	for _, x := range []struct {
		first     contribution.Component
		adjacency dp.Adjacency
		paid      float64 // sensitivity that the noise covers; 0: equal to the largest move
	}{
		{contribution.Component{Clip: 1.25}, dp.Replace, 2.5},
		{contribution.Component{Clip: 1.25}, dp.ZeroOut, 0},
		{contribution.Component{Clip: 2}, dp.ZeroOut, 2},
		{contribution.Component{Clip: 1.25, Quantiser: firm{}}, dp.Replace, 0},
	} {
		for _, name := range []string{"blt", "tree-laplace"} {
			m := mechanisms.Config{
				Name: name, Batch: 2, Budget: dp.Budget{Epsilon: 1, Delta: 1e-6},
				Terms: protection.Terms{Scope: protection.Window{Steps: 8}, Unit: protection.Event{Exchange: x.adjacency}},
			}
			c := constant{first: x.first}
			if err := c.Require(&m, nil); err != nil {
				t.Fatal(err)
			}
			moves := Components(m, c)
			if x.paid == 0 {
				if len(moves) > 0 {
					t.Errorf("%s, %+v: %+v", name, x, moves)
				}
				continue
			}
			if len(moves) != 1 || moves[0].Name != "sums" || math.Abs(moves[0].Distance-far) > 1e-6 ||
				math.Abs(moves[0].Sensitivity-x.paid) > 1e-6 {
				t.Errorf("%s, %+v: %+v, want a move of %g of %g", name, x, moves, far, x.paid)
			}
		}
	}
}

// TestOverpaidIsCheap checks that Overpaid skips operators for which the search would take long.
func TestOverpaidIsCheap(t *testing.T) {
	m := mechanisms.Config{
		Name: "blt", Batch: 1, Budget: dp.Budget{Epsilon: 1, Delta: 1e-6},
		Terms:        protection.Terms{Scope: protection.Window{Steps: 8}, Unit: protection.Event{Exchange: dp.Replace}},
		Contribution: contribution.OneComponent(1<<12+1, 1),
	}
	if moves := Components(m, constant{}); moves != nil {
		t.Errorf("%+v", moves)
	}
}

// TestOverpaidLooksAtBothEnds covers contributions whose lengths along u and −u differ: Overpaid must examine both,
// also if neighbouring streams differ by the null event.
func TestOverpaidLooksAtBothEnds(t *testing.T) {
	for _, adjacency := range []dp.Adjacency{dp.Replace, dp.ZeroOut} {
		m := mechanisms.Config{
			Name: "blt", Batch: 1, Budget: dp.Budget{Epsilon: 1, Delta: 1e-6},
			Terms: protection.Terms{Scope: protection.Window{Steps: 8}, Unit: protection.Event{Exchange: adjacency}},
		}
		c := constant{first: contribution.Component{Clip: 2}, shift: 0.25}
		if err := c.Require(&m, nil); err != nil {
			t.Fatal(err)
		}
		a, err := subject.Of(m, c, [32]byte{}, subject.AllComponents)
		if err != nil {
			t.Fatal(err)
		}
		p, err := a.Open()
		if err != nil {
			t.Fatal(err)
		}
		for _, sign := range []float64{1, -1} {
			all, err := contributions(p, []float64{sign, 0, 1})
			if err != nil || len(all) != 3 || all[0][2] != 0 || math.Abs(all[1][2]-(0.25+sign/2)) > 1e-6 ||
				math.Abs(all[2][2]-(0.25-sign/2)) > 1e-6 {
				t.Errorf("%v: contributions %v, %v", adjacency, all, err)
			}
		}
	}
}
