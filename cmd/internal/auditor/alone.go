package auditor

import (
	"context"
	"fmt"

	"oriel/mechanisms/audit"
)

// Attack plays the first attack of an audit alone: all of α and Time are its own.
func (a *Subject) Attack(ctx context.Context, o Options) (*Attack, error) {
	if a.drawing() {
		return nil, fmt.Errorf("audit: %s releases no sum that could be attacked", a.mechanism.Name)
	}
	t, err := a.newAttack(a.positions(o)[0], a.dense(a.random("direction", 0)), o)
	if err != nil {
		return nil, err
	}
	return t, t.run(ctx, a, o, 1, o.Time, func(audit.Run) {})
}
