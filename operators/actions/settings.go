package actions

import "oriel/operators"

const (
	maxActions = 1 << 20
	maxDelay   = 1 << 16
)

// Settings returns ORIEL_PLAYS and ORIEL_DELAY for an operator whose actions are published ahead. alike says in words
// which property the actions of a round share.
func Settings(alike string) []operators.Setting {
	return []operators.Setting{
		{
			Name: "PLAYS", Kind: operators.Count, Unit: "plays",
			Bounds: operators.From(0, maxActions), Range: "0, or ORIEL_BATCH to 1048576", Default: "0",
			Text: "plays that are published after each step, " + alike + ". 0: twice ORIEL_BATCH, so that half may stay " +
				"unanswered",
		},
		{
			Name: "DELAY", Kind: operators.Count, Unit: "steps", Bounds: operators.From(0, maxDelay), Default: "4",
			Text: "number of steps within which the answer to a play may come. The operator learns from the answers after these steps. 0: an answer counts only if it comes in the step of its play",
		},
	}
}

// Read reads ORIEL_PLAYS and ORIEL_DELAY.
func Read(v *operators.Values) Config {
	plays, delay := v.Count("PLAYS"), v.Count("DELAY")
	v.Want("PLAYS", plays == 0 || plays >= v.Batch, "%d: below ORIEL_BATCH=%d", plays, v.Batch)
	v.Want("BATCH", v.Batch <= maxActions/2, "%d: above %d", v.Batch, maxActions/2)
	if plays == 0 {
		plays = 2 * v.Batch
	}
	return Config{Records: int(v.Batch), Actions: int(plays), Delay: delay}
}
