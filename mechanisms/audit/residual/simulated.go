package residual

import (
	"encoding/binary"

	"oriel/mechanisms/noise"
)

// simulated draws the noise of a tree by the definition, node by node, from public seeds. It uses the calibration's
// sampler, because the law of single draws is tested elsewhere.
type simulated struct {
	noise    *Noise
	rebuild  *Rebuilder
	samplers []noise.Sampler     // noise sampler of each component
	nodes    map[int32][]float64 // noise of each active node, loss units
	drawn    []int64
	release  []float64
	zero     []float64
	z        []float64
}

func newSimulated(x *Noise) *simulated {
	t := &simulated{
		noise: x, rebuild: x.Rebuilder(), nodes: map[int32][]float64{}, drawn: make([]int64, x.n),
		release: make([]float64, x.n), zero: make([]float64, x.n), z: make([]float64, x.n),
	}
	for _, component := range x.components {
		sampler, err := component.Sampler(x.config.Name)
		if err != nil {
			panic("BUG: residual: a valid calibration has no sampler: " + err.Error())
		}
		t.samplers = append(t.samplers, sampler)
	}
	return t
}

// play returns the sums of squares of a run's later releases.
func (t *simulated) play(run uint64) (later [quarters]float64) {
	t.rebuild.Start(run)
	clear(t.nodes)
	for step, active := range t.noise.of.Forest.Active {
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
		if step >= t.noise.perStep {
			later[t.noise.quarter(step)] += squares(t.z)
		}
	}
	return later
}

func (t *simulated) draw(run uint64, node int32) []float64 {
	seed := noise.Seed{}
	copy(seed[12:], "oriel audit: twin")
	binary.LittleEndian.PutUint64(seed[:], run)
	binary.LittleEndian.PutUint32(seed[8:], uint32(node))
	out := make([]float64, len(t.drawn))
	for k, component := range t.noise.components {
		binary.LittleEndian.PutUint16(seed[30:], uint16(k))
		t.samplers[k].Fill(t.drawn[component.From:component.To], seed)
		for i := component.From; i < component.To; i++ {
			out[i] = float64(t.drawn[i]) / component.Scale.Float64() * t.noise.scales[i]
		}
	}
	return out
}
