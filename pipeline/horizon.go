package pipeline

import "fmt"

// endedError stops a partition at its stream's horizon. The input offset stays at the first record that was not taken.
func endedError(partition int32, horizon uint64) error {
	return &StopError{
		Partition: partition,
		Reason:    fmt.Sprintf("the horizon is reached: the stream has closed all the %d steps that its guarantee is for, and an event follows", horizon),
		Remedy:    "Its decisions stand. For later events open a new deployment under another ORIEL_NAME with ORIEL_START=latest, or it takes the same events again, and their losses add; those of one user add in any case",
	}
}
