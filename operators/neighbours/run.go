package neighbours

import (
	"fmt"
	"math"
	"slices"

	"oriel/mechanisms"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
	"oriel/operators"
)

// componentStep is one step of a component.
type componentStep struct {
	contributions []int64 // sum of the contributions, in lattice units
	release       []float64
	increments    []lattice.Int128
	fills         []fill
}

// recording holds the first run.
type recording struct {
	couples []Couple
	before  uint64            // number of steps before the first recorded one
	steps   [][]componentStep // recorded steps, each by component
	shown   []shown           // effects of each record; the first entry holds the effects of Open
	draws   []indexDraw
}

// shown is the observable effect of a record.
type shown struct {
	decisions []operators.Decision
	steps     uint64
	public    []byte // public part of the state; nil if it is not compared
	draws     int    // number of draws so far
	length    int    // length of the state
}

// indexDraw is a call of Stream.Choose with its result.
type indexDraw struct {
	mechanisms.Draw
	index int
}

func (r *recording) at(step uint64, component int) (componentStep, bool) {
	if i := step - r.before - 1; i < uint64(len(r.steps)) && component < len(r.steps[i]) {
		return r.steps[i][component], true
	}
	return componentStep{}, false
}

// run is one of the two runs.
type run struct {
	frame    *frame
	script   *script
	recorded *recording // written by the first run, read by the replay
	fault    string     // the first fault that was found

	// The next fields are used in a replay.
	unlike   bool // contributions may differ by any amount
	draws    int
	account  Account
	released [][]float64 // own release minus the recorded one, by component, in lattice units
	largest  [][]int64   // longest difference of contributions, by component
	squares  []lattice.Int128
	steps    []uint64 // steps in which contributions differ
}

func (f *frame) run(recorded *recording) *run {
	r := &run{frame: f, recorded: recorded, account: Account{Law: f.law, Disjoint: f.Mechanism.Draws.Disjoint}}
	for _, component := range f.components {
		r.released = append(r.released, make([]float64, component.To-component.From))
		r.largest = append(r.largest, make([]int64, component.To-component.From))
	}
	r.squares = make([]lattice.Int128, len(f.components))
	r.script = &script{samplers: f.samplers, replays: len(recorded.steps) > 0, drawn: map[noise.Seed][]int64{}}
	return r
}

// refuse stores the first fault.
func (r *run) refuse(format string, args ...any) {
	if r.fault == "" {
		r.fault = fmt.Sprintf(format, args...)
	}
}

// keep records a step of a component.
func (r *run) keep(step uint64, component int, x componentStep) {
	i := step - r.recorded.before - 1
	if i == uint64(len(r.recorded.steps)) {
		r.recorded.steps = append(r.recorded.steps, nil)
	}
	r.recorded.steps[i] = append(r.recorded.steps[i], x)
}

// compare compares a step of a component in the replay with the recorded one.
func (r *run) compare(step uint64, component int, want, got componentStep) {
	where := fmt.Sprintf("step %d: %s", step, r.component(component))
	if len(got.fills) != len(want.fills) {
		r.refuse("%s%d noise vectors are drawn, %d in the neighbouring stream", where, len(want.fills), len(got.fills))
	}
	for i := range min(len(got.fills), len(want.fills)) {
		if len(got.fills[i].values) != len(want.fills[i].values) {
			r.refuse("%snoise vector %d has another length in the neighbouring stream", where, i+1)
		}
	}
	difference := make([]int64, len(want.contributions))
	for i, x := range want.contributions {
		difference[i] = got.contributions[i] - x
	}
	square := lattice.SquaredLength(difference)
	if (lattice.Int128{}).Less(square) {
		if len(r.steps) == 0 || r.steps[len(r.steps)-1] != step {
			r.steps = append(r.steps, step)
		}
		if r.squares[component].Less(square) {
			r.squares[component] = square
			copy(r.largest[component], difference)
		}
		if r.frame.claimed[component].Less(square) {
			r.refuse("%scontributions are %.9g lattice units apart, claimed is %.9g", where, root(square),
				root(r.frame.claimed[component]))
		}
	}
	for i := range min(len(got.fills), len(want.fills)) {
		if len(r.steps) > 0 && got.fills[i].seed == want.fills[i].seed {
			r.refuse("%snoise is drawn as in the neighbouring stream, whose contributions are others", where)
		}
	}
	r.compareReleases(where, component, difference, want, got)
}

// root returns the square root of an integer as a float.
func root(square lattice.Int128) float64 { return math.Sqrt(lattice.Grid{}.Float64(square)) }

// sumBits is the number of fraction bits of decaying sums. Each step truncates them by less than one unit.
const sumBits = 16

// compareReleases checks that releases differ exactly as contributions do, from the first difference on. Over the same
// noise there is no other source of differences.
func (r *run) compareReleases(where string, component int, difference []int64, want, got componentStep) {
	f := r.frame
	unit, away := f.components[component].Grid.Unit(), r.released[component]
	if len(got.increments) != len(want.increments) {
		r.refuse("%sthe neighbouring stream has other increments", where)
		return
	}
	for i, d := range difference {
		if !f.prefix {
			d = 0
		}
		away[i] = float64(f.kept*away[i]) + float64(d)
		if len(want.increments) > 0 && got.increments[i] != want.increments[i].AddInt64(d) {
			r.refuse("%sthe increment of coordinate %d differs by more than the contributions", where, i+1)
			return
		}
		size := (math.Abs(got.release[i]) + math.Abs(want.release[i])) / unit
		tolerance := float64(0x1p-51*size) + float64(math.Abs(away[i])*0x1p-40)
		if f.kept > 0 && f.kept < 1 {
			tolerance += float64((1 + 1/(1-f.kept)) * (1.0 / (1 << sumBits)))
		}
		if off := (got.release[i]-want.release[i])/unit - away[i]; !(math.Abs(off) <= tolerance) {
			r.refuse("%sthe release of coordinate %d differs by %.9g lattice units, the contributions by %.9g", where, i+1,
				(got.release[i]-want.release[i])/unit, away[i])
			return
		}
	}
}

// draw records a draw, or repeats the recorded one.
func (r *run) draw(d mechanisms.Draw, index int) int {
	if !r.script.replays {
		d.Scores = slices.Clone(d.Scores)
		r.recorded.draws = append(r.recorded.draws, indexDraw{d, index})
		return index
	}
	r.draws++
	if r.draws > len(r.recorded.draws) {
		r.refuse("step %d: a draw that the recorded stream does not have", d.Step)
		return 0
	}
	want := r.recorded.draws[r.draws-1]
	if fault := r.account.Add(want.Draw, d); fault != "" {
		r.refuse("step %d: %s", d.Step, fault)
	}
	return min(want.index, len(d.Scores)-1)
}
