package pipeline

import (
	"errors"

	"oriel/state"
)

// openedState is a stream at a sealed state, and what proves that the state is its own.
type openedState struct {
	incarnation state.Incarnation
	sealer      *state.Sealer
	stream      *Stream
	position    state.Position
}

// openSealed opens an incarnation record and a sealed state of it, and restores the stream with the frozen params.
func openSealed(m Model, master *state.MasterKey, p int32, record, sealed []byte) (openedState, error) {
	inc, err := state.OpenIncarnation(record, master)
	if err != nil {
		return openedState{}, unsealing(p, err)
	}
	sealer, err := inc.Sealer()
	if err != nil {
		return openedState{}, unsealing(p, err)
	}
	position, private, err := sealer.Open(sealed)
	if err != nil {
		return openedState{}, unsealing(p, err)
	}
	if position.Topic != inc.Topic {
		return openedState{}, unsealing(p, state.ErrForeign)
	}
	stream, err := OpenStream(m, inc.Params, [32]byte{}, [32]byte{}, inc.Stream, inc.ID)
	if err != nil {
		return openedState{}, &StopError{
			Partition: p, Reason: "the frozen plan does not prove the configured guarantee",
			Remedy: "Use the version of Oriel that opened the deployment, or open a new one under another ORIEL_NAME", Cause: err,
		}
	}
	if err := stream.Restore(private); err != nil {
		return openedState{}, unsealing(p, err)
	}
	return openedState{inc, sealer, stream, position}, nil
}

// unsealing turns a refusal of package state into what to do about it.
func unsealing(p int32, err error) error {
	if errors.Is(err, state.ErrWrongKey) {
		return &StopError{Partition: p, Reason: "the master key is not the one that this deployment was opened with", Remedy: "Point ORIEL_MASTER_KEY_FILE at the deployment's key", Cause: err}
	}
	return &StopError{Partition: p, Reason: "a stored record cannot be opened", Remedy: "Restore the changelog topic from before the damage, or use the version of Oriel that wrote it", Cause: err}
}
