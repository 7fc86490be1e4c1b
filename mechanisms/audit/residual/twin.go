package residual

import (
	"encoding/binary"
	"strings"

	"oriel/mechanisms/noise"
)

// twin draws the noise of a tree by its definition, node by node, under public seeds. It draws by the sampler of the
// plan: that one's law is for the single draws to show.
type twin struct {
	noise   *Noise
	rebuild *Rebuilder
	sampler noise.Sampler
	nodes   map[int32][]float64 // loss units
	drawn   []int64
	release []float64
	zero    []float64
	z       []float64
}

func newTwin(x *Noise) *twin {
	t := &twin{
		noise: x, rebuild: x.Rebuilder(), nodes: map[int32][]float64{}, drawn: make([]int64, x.n),
		release: make([]float64, x.n), zero: make([]float64, x.n), z: make([]float64, x.n),
	}
	var err error
	if strings.Contains(x.config.Name, "gamma") {
		t.sampler, err = noise.NewGamma(x.plan.Scale, x.n)
	} else {
		t.sampler, err = noise.NewLaplace(x.plan.Scale)
	}
	if err != nil {
		panic("BUG: residual: a valid plan has no sampler: " + err.Error())
	}
	return t
}

// play returns the squares of a run's later releases.
func (t *twin) play(run uint64) (later [quarters]float64) {
	t.rebuild.Start()
	clear(t.nodes)
	for step, active := range t.noise.forest.Active {
		clear(t.release)
		for _, node := range active {
			if t.nodes[node] == nil {
				t.nodes[node] = t.draw(run, node)
			}
			for i, v := range t.nodes[node] {
				t.release[i] += v
			}
		}
		t.rebuild.Next(t.z, t.release, t.zero)
		if step >= t.noise.single {
			later[t.noise.quarter(step)] += squares(t.z)
		}
	}
	return later
}

func (t *twin) draw(run uint64, node int32) []float64 {
	seed := noise.Seed{}
	copy(seed[12:], "oriel audit: twin")
	binary.LittleEndian.PutUint64(seed[:], run)
	binary.LittleEndian.PutUint32(seed[8:], uint32(node))
	t.sampler.Fill(t.drawn, seed)
	out := make([]float64, len(t.drawn))
	for i, v := range t.drawn {
		out[i] = float64(v) * t.noise.plan.Grid.Unit()
	}
	return out
}
