package submodular

import (
	"fmt"
	"math"

	"oriel/mechanisms"
	"oriel/operators"
	"oriel/schemas"
)

// configured is an operators.Configured.
type configured struct {
	operators.Plain

	histogram bool
	draws     bool // rule draws; with neither it is argmax
	leads     bool // rule leaders
	printed   bool // draws at the rate of the source
	function  function
	types     []place // none where events say what elements are worth
	elements  int     // N
	pick      int     // k
	catchment float64 // km
	every     uint64
	batch     uint64
	memory    uint64          // H; 0: sums do not decay
	lasting   []schemas.Extra // empty where sums do not decay
}

var _ operators.Configured = configured{}

// Extras are the names of the set, and what it is worth.
func (c configured) Extras() []schemas.Extra {
	var all []schemas.Extra
	if c.named() {
		all = append(all, schemas.Extra{
			Name: "places", Kind: schemas.ExtraText, Text: "The names of the set, in its order, with commas between them.",
		})
	}
	if c.histogram {
		all = append(all, schemas.Extra{
			Name: "value", Kind: schemas.ExtraNumber,
			Text: "What the set is worth to an event in the mean, in [0, 1], as the released counts say.",
		})
	}
	return append(all, c.lasting...)
}

// named tells whether elements have names: places have, of types only the numbers of elements are known.
func (c configured) named() bool { return len(c.types) > 0 && c.types[0].values == nil }

// gains is the Quantiser of an event's gains about ½: at each position those of all elements.
func (c configured) gains() gains { return gains{Size: c.pick * c.elements} }

// Mechanism tells the leaf.
func (c configured) Mechanism(m *mechanisms.Config, plan []byte) error {
	if c.histogram {
		m.Leaf = mechanisms.Leaf{Parts: []mechanisms.Part{oneOf{Types: len(c.types)}.Part()}}
	} else {
		m.Leaf = mechanisms.Leaf{Parts: []mechanisms.Part{c.gains().Part()}}
	}
	if c.draws {
		if err := c.schedule(m); err != nil {
			return err
		}
	}
	if plan == nil {
		return nil
	}
	_, err := c.read(plan)
	return err
}

// Plan freezes names of places, and what events at each gain from each: a platform computes sines as it likes.
func (c configured) Plan(m mechanisms.Config) ([]byte, error) {
	b, err := c.encode()
	if c.leads {
		b = appendStrength(b, c.strength(m))
	}
	return b, err
}

func (c configured) read(b []byte) (plan, error) {
	h := 0.0
	if c.leads {
		var ok bool
		if b, h, ok = readStrength(b); !ok {
			return plan{}, errPlan
		}
	}
	p, err := parsePlan(b, c.elements)
	if err != nil {
		return plan{}, err
	}
	p.strength = h
	return p, p.check(c)
}

// Open returns a Machine.
func (c configured) Open(plan []byte, sums *mechanisms.Stream) (operators.Machine, error) {
	p, err := c.read(plan)
	if err != nil {
		return nil, err
	}
	return newMachine(c, p, sums)
}

// Describe tells what bounds a leaf, and how far a decision is known to be from the best.
func (c configured) Describe(mechanisms.Config) operators.Description {
	d := operators.Description{
		Leaves: fmt.Sprintf("one of %d counts is 1 and the others are 0: an exchange moves them by √2 = 1.414", c.elements),
		Steps: fmt.Sprintf("%d of %d elements, at least %.3g of the best set's value as the released counts say", c.pick, c.elements,
			c.factor()),
	}
	if c.draws {
		return c.describeDraws()
	}
	if !c.histogram {
		d.Leaves = fmt.Sprintf("%d gains in [0, 1]: an exchange moves each by 1 at most, all by √%[1]d = %.4g",
			c.gains().Size, math.Sqrt(float64(c.gains().Size)))
		d.Steps = fmt.Sprintf("%d of %d elements", c.pick, c.elements)
		if c.leads {
			d.Draws = true
			d.Steps += ", each drawn from a point of the simplex that follows from what is released, and perhaps twice"
		}
	}
	return d
}

// factor is 1 − (1 − 1/k)^k.
func (c configured) factor() float64 { return 1 - math.Pow(1-1/float64(c.pick), float64(c.pick)) }

// Every publishes the decision of each step; of draws there are no others than those that are published.
func (c configured) Every() operators.Configured {
	if !c.draws {
		c.every = 1
	}
	return c
}

// Twin returns what an audit compares machines with.
func (c configured) Twin(plan []byte) (operators.Twin, error) {
	p, err := c.read(plan)
	t := &twin{configured: c, plan: p}
	if err == nil {
		t.Begin()
	}
	return t, err
}
