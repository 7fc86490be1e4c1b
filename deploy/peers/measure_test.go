package main

import (
	"math/rand/v2"
	"testing"
)

// noisy returns a line as on a busy machine: half of the rounds take up to three times as long.
func noisy(name string, time float64, random *rand.Rand) *line {
	return &line{name: name, time: func() (float64, error) {
		if random.IntN(2) == 0 {
			return time * (1 + 2*random.Float64()), nil
		}
		return time * (1 + random.Float64()/100), nil
	}}
}

func TestHold(t *testing.T) {
	random, made := rand.New(rand.NewPCG(1, 1)), 0
	pair := func(slower, later float64) func() ([]*line, []claim, error) {
		made = 0
		return func() ([]*line, []claim, error) {
			made++
			factor := slower
			if made > 1 {
				factor = later
			}
			first, second := noisy("first", 100, random), noisy("second", 100*factor, random)
			claims := []claim{{of: second, to: first, atMost: 1.3}, {of: first, to: second, atLeast: 1 / 1.3}}
			return []*line{first, second}, claims, nil
		}
	}
	for _, test := range []struct {
		name          string
		slower, later float64
		fails         bool
		made          int
	}{
		{"equal lines on a noisy machine", 1, 1, false, 1},
		{"one slow attempt", 1.5, 1, false, 2},
		{"a line that is slow", 1.35, 1.35, true, attempts},
	} {
		if err := hold(40, pair(test.slower, test.later)); (err != nil) != test.fails || made != test.made {
			t.Errorf("%s: after %d attempts: %v", test.name, made, err)
		}
	}
}
