//go:build soak

package main

import (
	"slices"
	"testing"
)

func draw(seed uint64, n int, weights ...[]weight) []fault {
	s := newSchedule(seed, weights...)
	faults := make([]fault, n)
	for i := range faults {
		faults[i] = s.next()
	}
	return faults
}

func TestASeedIsASchedule(t *testing.T) {
	all := [][]weight{ofProcesses, ofDisks, ofNetworks, ofThree}
	if !slices.Equal(draw(7, 500, all...), draw(7, 500, all...)) {
		t.Error("one seed gives two schedules")
	}
	if slices.Equal(draw(7, 500, all...), draw(8, 500, all...)) {
		t.Error("two seeds give one schedule")
	}
}

func TestEveryKindAndDamageIsDrawn(t *testing.T) {
	kinds, damages := map[kind]int{}, map[damage]int{}
	for _, f := range draw(1, 1000, ofProcesses, ofDisks, ofNetworks, ofOne, ofThree, ofTopics) {
		kinds[f.kind]++
		damages[f.damage]++
		if limits := holds[f.kind]; f.hold < limits[0] || f.hold > limits[1] {
			t.Errorf("%s for %v, outside %v", f.kind, f.hold, limits)
		}
	}
	for _, list := range [][]weight{ofProcesses, ofDisks, ofNetworks, ofOne, ofThree, ofTopics} {
		for _, w := range list {
			if kinds[w.kind] == 0 {
				t.Errorf("%s is never drawn", w.kind)
			}
		}
	}
	for _, d := range []damage{same, deleted, older, flipped, cut} {
		if damages[d] == 0 {
			t.Errorf("%s is never drawn", d)
		}
	}
}
