package audit_test

import (
	"errors"
	"fmt"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/audit"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

// between plants a change of each draw between the sampler and the sum.
type between struct {
	noise.Sampler
	change func(x int64) int64
}

func (b *between) Fill(dst []int64, seed noise.Seed) {
	b.Sampler.Fill(dst, seed)
	for i, x := range dst {
		dst[i] = b.change(x)
	}
}

func TestCheckTail(t *testing.T) {
	for _, name := range mechanisms.Names() {
		for _, change := range []func(*mechanisms.Config){
			func(*mechanisms.Config) {},
			func(c *mechanisms.Config) {
				c.Contribution, c.Batch, c.Budget.Epsilon = contribution.OneComponent(1, c.Clip()), 3, 0.01
			},
			func(c *mechanisms.Config) {
				if c.Scope != (protection.PerStep{}) {
					c.Scope = protection.Window{Steps: 64}
				}
				c.Budget.Epsilon = 1e3
			},
		} {
			c := config(name)
			change(&c)
			p := mechtest.Plan(t, c)
			check := func(plant func(noise.Sampler) noise.Sampler) error {
				draws, err := audit.CheckTail(c, p, func(s noise.Sampler) ([]mechanisms.Sum, error) {
					return p.SumsOver(c, plant(s))
				})
				if draws == 0 {
					t.Errorf("%s: no draws", name)
				}
				return err
			}
			if err := check(func(s noise.Sampler) noise.Sampler { return s }); err != nil {
				t.Errorf("%s, %+v: %v", name, c, err)
			}
			scale := p.Scale.Float64()
			for _, k := range []float64{4, 4.5, 5, 6, 9, 28} {
				at := int64(k * scale)
				err := check(func(s noise.Sampler) noise.Sampler {
					return &between{s, func(x int64) int64 { return max(-at, min(at, x)) }}
				})
				if !errors.Is(err, audit.ErrTail) {
					t.Errorf("%s: a clamp at %g scales: %v", name, k, err)
				}
			}
			what := fmt.Sprintf("%s: odd draws made even", name)
			if err := check(func(s noise.Sampler) noise.Sampler {
				return &between{s, func(x int64) int64 { return x &^ 0xf }}
			}); !errors.Is(err, audit.ErrTail) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	c := config("blt")
	broken := errors.New("broken")
	if _, err := audit.CheckTail(c, mechtest.Plan(t, c),
		func(noise.Sampler) ([]mechanisms.Sum, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("a sum that cannot be opened: %v", err)
	}
}
