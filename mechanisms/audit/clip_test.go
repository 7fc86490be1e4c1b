package audit_test

import (
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/audit"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

// unclipped plants one coordinate that is not clipped: the excess over the clip is added to the release.
type unclipped struct {
	*mechanisms.Stream
	coordinate int
	clip       float64
	more       float64
}

func (u *unclipped) Add(id noise.Identity, gradient []float64) {
	if gradient != nil {
		x := gradient[u.coordinate]
		u.more += x - max(-u.clip, min(u.clip, x))
	}
	u.Stream.Add(id, gradient)
}

func (u *unclipped) Sum(int) []float64 {
	sum := append([]float64(nil), u.Stream.Sum(0)...)
	sum[u.coordinate] += u.more
	return sum
}

func (u *unclipped) Restore(state []byte) error {
	u.more = 0
	return u.Stream.Restore(state)
}

func TestCheckClip(t *testing.T) {
	for _, change := range []func(*mechanisms.Config){
		func(*mechanisms.Config) {},
		func(c *mechanisms.Config) { c.Name, c.Batch = "tree-gaussian", 5 },
		func(c *mechanisms.Config) {
			c.Name, c.Contribution = "tree-laplace", contribution.OneComponent(30, c.Clip())
		},
		func(c *mechanisms.Config) { c.Name = "tree-gamma" },
		func(c *mechanisms.Config) { c.Name, c.Scope = "once-gaussian", protection.PerStep{} },
		func(c *mechanisms.Config) {
			c.Scope, c.Contribution = protection.Lifetime{Steps: 2, Within: 8}, contribution.OneComponent(7, c.Clip())
		},
		func(c *mechanisms.Config) { c.Contribution = contribution.OneComponent(1, c.Clip()) },
	} {
		c := config("blt")
		c.Budget.Epsilon, c.Contribution = 1, contribution.OneComponent(c.Dimension(), 0.7)
		change(&c)
		p := mechtest.Plan(t, c)
		honest, err := audit.CheckClip(c, p, mechtest.Open(t, c, [32]byte{6}))
		if err != nil || honest.P < alpha || honest.Count != uint64(c.Dimension()) {
			t.Errorf("%+v: %+v, %v", c, honest, err)
		}
		for _, coordinate := range []int{0, c.Dimension() - 1} {
			found, err := audit.CheckClip(c, p, &unclipped{
				Stream: mechtest.Open(t, c, [32]byte{6}), coordinate: coordinate, clip: c.Clip(),
			})
			if err != nil || !(found.P < 1e-9) {
				t.Errorf("%+v, coordinate %d: not caught: %+v, %v", c, coordinate+1, found, err)
			}
		}
	}
}
