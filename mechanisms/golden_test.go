package mechanisms_test

import (
	"fmt"
	"math"
	"reflect"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/mechtest/goldentest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

// goldenPlans are calibrations that prove more than the configuration asks for. They are written as literals, because
// Calibrate may give different numbers on other platforms.
func goldenPlans() []mechanisms.Calibration {
	grid := lattice.Grid{Exp: -25, Lambda: 1<<25 - 1<<22} // for clip 0.875
	return []mechanisms.Calibration{
		{Name: "tree-gaussian", Grid: grid, Scale: noise.Scale{Mant: 12345679, Exp: 10}, Levels: 3},
		{Name: "tree-gamma", Grid: grid, Scale: noise.Scale{Mant: 1, Exp: 34}, Levels: 3},
		{Name: "tree-laplace", Grid: grid, Scale: noise.Scale{Mant: 3, Exp: 31}, Levels: 3},
		{Name: "blt", Grid: grid, Scale: noise.Scale{Mant: 12345679, Exp: 9}, Filter: goldenFilter},
		{Name: "once-gaussian", Grid: grid, Scale: noise.Scale{Mant: 12345679, Exp: 5}, Levels: 1},
		{Name: "once-gamma", Grid: grid, Scale: noise.Scale{Mant: 3, Exp: 27}, Levels: 1},
		{Name: "once-laplace", Grid: grid, Scale: noise.Scale{Mant: 3, Exp: 28}, Levels: 1},
	}
}

// goldenMemories are calibrations of decaying sums, on a coarse and on a fine lattice.
func goldenMemories() []mechanisms.Calibration {
	grid := lattice.Grid{Exp: -25, Lambda: 1<<25 - 1<<22} // for clip 0.875
	return []mechanisms.Calibration{
		{Name: "blt", Grid: grid, Scale: noise.Scale{Mant: 12345679, Exp: 9}, Decay: goldenMemory},
		{
			Name: "blt", Grid: lattice.Grid{Exp: -31, Lambda: 7 << 28}, Scale: noise.Scale{Mant: 12345679, Exp: 15},
			Decay: goldenMemory,
		},
	}
}

// TestGoldenStreams pins calibration, releases and states of a stream with W = 4, B = 3, within a batch and at its end,
// with null events, clipped vectors and vectors that contain NaN or infinity. Every CPU and build must give the same
// bytes.
func TestGoldenStreams(t *testing.T) {
	var lines []string
	for _, calibration := range append(goldenPlans(), goldenMemories()...) {
		c := batched(t)
		c.Name, c.Contribution = calibration.Name, contribution.OneComponent(2, 0.875)
		name := calibration.Name
		c.Scope = scope(calibration.Name, 4)
		if memory := calibration.Decay.Memory; memory > 0 {
			c.Scope, name = protection.Decay{Steps: memory}, fmt.Sprintf("blt memory, lattice of %d bits,",
				calibration.Grid.Bits())
		}
		stream, err := mechanisms.Open(c, calibration, [32]byte{3, 31: 9})
		if err != nil {
			t.Fatal(err)
		}
		counted := mechtest.ByCount(stream)
		binary, err := calibration.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fmt.Sprintf("%s plan %x", name, binary))
		for i := range 3*9 + 2 {
			id := noise.Identity{Topic: [16]byte{1, 15: 2}, Partition: 3, Offset: int64(7 * i), LeaderEpoch: int32(i / 5)}
			gradient := []float64{float64(i-14) / 16, float64(i*i%23) / 32}
			switch i % 9 {
			case 4:
				gradient = nil
			case 7:
				gradient[1] = math.NaN()
			}
			if counted.Add(id, gradient) {
				lines = append(lines, fmt.Sprintf("%s t=%d %x", name, stream.Step(), stream.Sum(0)))
			}
			if i == 0 || i == 26 || i == 28 {
				lines = append(lines, fmt.Sprintf("%s record %d state %x", name, i+1, stream.AppendState(nil)))
			}
		}
	}
	goldentest.Check(t, lines)
}

// goldenComponents proves more than the configuration asks for. It is written as a literal, because Calibrate may give
// different numbers on other platforms.
func goldenComponents() mechanisms.Calibration {
	half := lattice.Grid{Exp: -25, Lambda: 1<<25 - 1<<22} // for clip 0.875
	one := lattice.Grid{Exp: -24, Lambda: 1 << 24}
	square := lattice.Square(one.Lambda)
	m := moments{d: 2, r: 1 << 12}
	replace, zeroOut := m.Distances(one)
	p := mechanisms.Calibration{Name: "blt", Filter: goldenFilter, Components: []mechanisms.ComponentCalibration{
		{
			Name: "gradient", Size: 3, Entries: 3, Grid: half, Replace: lattice.Square(2 * half.Lambda),
			ZeroOut: lattice.Square(half.Lambda), Share: 5, Scale: noise.Scale{Mant: 12345679, Exp: 9},
		},
		{
			Name: "cells", Size: 4, Entries: 1, Grid: one, Replace: square.Add(square), ZeroOut: square, Share: 2,
			Scale: noise.Scale{Mant: 3, Exp: 31},
		},
		{
			Name: "moments", Size: 3, Entries: 2, Grid: one, Replace: replace, ZeroOut: zeroOut, Share: 3, Scales: m.scales(),
			Scale: noise.Scale{Mant: 5, Exp: 28}, ErrorBound: 2.5,
		},
	}}
	p.Grid, p.Scale = half, p.Components[0].Scale
	return p
}

// TestGoldenComponents pins calibration, releases and states of a stream of three components.
func TestGoldenComponents(t *testing.T) {
	calibration := goldenComponents()
	binary, err := calibration.AppendBinary(nil)
	back, errBack := mechanisms.ParseCalibration(binary)
	if err != nil || errBack != nil || !reflect.DeepEqual(back, calibration) {
		t.Errorf("read back: %+v, %v, %v", back, err, errBack)
	}
	c, v := withComponents("blt")
	c.Scope, c.Batch = protection.Window{Steps: 4}, 2
	stream, err := mechanisms.Open(c, calibration, [32]byte{3, 31: 9})
	if err != nil {
		t.Fatal(err)
	}
	counted := mechtest.ByCount(stream)
	lines := []string{fmt.Sprintf("plan %x", binary)}
	for i := range 9 {
		id := noise.Identity{Topic: [16]byte{1, 15: 2}, Partition: 3, Offset: int64(7 * i), LeaderEpoch: int32(i / 5)}
		v[3] = float64(i)
		record := v
		if i == 4 {
			record = nil
		}
		if counted.Add(id, record) {
			lines = append(lines, fmt.Sprintf("t=%d %x %x %x", stream.Step(), stream.Sum(0), stream.Sum(1), stream.Sum(2)))
		}
		if i == 0 || i == 8 {
			lines = append(lines, fmt.Sprintf("record %d state %x", i+1, stream.AppendState(nil)))
		}
	}
	goldentest.CheckFile(t, "parts.txt", lines)
}
