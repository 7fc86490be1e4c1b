package settings

import (
	"oriel/mechanisms"
	"oriel/operators/coco"
)

// Parts returns the mechanism and the operator that Model wires, for commands that look at one of them alone.
func (s Settings) Parts() (mechanisms.Config, coco.Config, error) { return s.configs() }
