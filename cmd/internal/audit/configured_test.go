package audit

import (
	"testing"

	"oriel/mechanisms"
	"oriel/operators"
)

// asConfigured lists machines that add a contribution later than its event arrives, that publish decisions rarely, or
// that reset their sums.
var asConfigured = map[string][]string{
	"served": {
		"ORIEL_OPERATOR=linucb", "ORIEL_PLAYED=served", "ORIEL_ARMS=a,b,c", "ORIEL_DIMENSION=2", "ORIEL_MECHANISM=blt",
		"ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=8", "ORIEL_EMIT_EVERY=50",
	},
	"served in batches": {
		"ORIEL_OPERATOR=linucb", "ORIEL_PLAYED=served", "ORIEL_CANDIDATES=2", "ORIEL_DIMENSION=2",
		"ORIEL_MECHANISM=tree-gaussian", "ORIEL_WINDOW=8", "ORIEL_BATCH=3", "ORIEL_ADJACENCY=zero-out", "ORIEL_WAIT=3",
	},
	"arms": {
		"ORIEL_OPERATOR=arms", "ORIEL_ARMS=a,b,c", "ORIEL_MECHANISM=once-gamma", "ORIEL_WINDOW=lifetime",
		"ORIEL_BATCH=2", "ORIEL_DELAY=2",
	},
	"sets": {
		"ORIEL_OPERATOR=sets", "ORIEL_PICK=2", "ORIEL_ELEMENTS=a,b,c,d", "ORIEL_MECHANISM=once-gaussian",
		"ORIEL_WINDOW=lifetime", "ORIEL_BATCH=2", "ORIEL_DELAY=3",
	},
	"bandit": {
		"ORIEL_OPERATOR=bandit", "ORIEL_SET=box", "ORIEL_RADIUS=1", "ORIEL_DIMENSION=2", "ORIEL_MECHANISM=tree-laplace",
		"ORIEL_WINDOW=8", "ORIEL_SMOOTHING=0.2", "ORIEL_RATE=0.1", "ORIEL_DELAY=3", "ORIEL_BATCH=2",
	},
	"coco": {
		"ORIEL_OPERATOR=coco", "ORIEL_UPDATE=projection", "ORIEL_LOSS=hinge", "ORIEL_SET=l2-ball", "ORIEL_RADIUS=5",
		"ORIEL_DIMENSION=3", "ORIEL_STRONG_CONVEXITY=0.01", "ORIEL_CLIP=1.5", "ORIEL_MECHANISM=blt",
		"ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=8", "ORIEL_EMIT_EVERY=70",
	},
}

// TestAuditOfMachinesAsConfigured checks machines in which feedback and contexts wait. Nothing may be refuted, even at
// ε = 1, and no test may be left out.
func TestAuditOfMachinesAsConfigured(t *testing.T) {
	for name, lines := range asConfigured {
		t.Run(name, func(t *testing.T) {
			a := subjectOf(t, append([]string{"ORIEL_EPSILON=1"}, lines...)...)
			r := audited(t, a, honestRuns())
			if err := r.Verdict(); err != nil {
				t.Error(err)
			}
			if len(r.notAttacked) > 0 || len(r.attacks) == 0 || r.attacks[0].Canary.Step != a.Earliest() {
				t.Errorf("left out: %v; attacks %+v", r.notAttacked, r.attacks)
			}
			if _, decays := a.Mechanism.Scope.Memory(); (r.late > 0) != decays || r.late > 0 && r.late != r.runs {
				t.Errorf("%d runs from the start, %d to a reset", r.runs, r.late)
			}
		})
	}
}

// TestChecksPlayTheMachineAsConfigured plants a leak into a decision that the configured machine publishes rarely. An
// audit of a machine that publishes every decision would not see the leak.
func TestChecksPlayTheMachineAsConfigured(t *testing.T) {
	a := cocoSubject(t, "ORIEL_EMIT_EVERY=90")
	whole := a.Machine
	a.Machine = func(c operators.Operator, params []byte, s *mechanisms.Stream) (operators.Machine, error) {
		m, err := whole(c, params, s)
		if _, count := m.Due(1); count > 0 {
			return m, err
		}
		return &leaky{Machine: m, leak: func(point []float64, r operators.Record) {
			if v := r.Event.Vector.Values; len(v) > 0 {
				point[0] += 1e-6 * v[0]
			}
		}}, err
	}
	refutes(t, "a rare decision has something of its last event", a, "decisions", ErrCheck)
}
