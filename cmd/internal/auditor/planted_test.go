package auditor

import (
	"fmt"
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/operators"
	"oriel/pipeline/pipetest"
)

// asConfigured are machines whose contributions are added later than their events come, whose decisions are rare, or
// whose sums are reset.
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

// Machines whose answers and contexts wait are not refuted, at a budget of 1 either, and everything is tried.
func TestAuditOfMachinesAsConfigured(t *testing.T) {
	for name, lines := range asConfigured {
		t.Run(name, func(t *testing.T) {
			a := subjectOf(t, append([]string{"ORIEL_EPSILON=1"}, lines...)...)
			r := audited(t, a, honestRuns())
			if err := r.Verdict(); err != nil {
				t.Error(err)
			}
			if len(r.notAttacked) > 0 || len(r.attacks) == 0 || r.attacks[0].Canary.Step != a.earliest() {
				t.Errorf("left out: %v; attacks %+v", r.notAttacked, r.attacks)
			}
			if _, decays := a.mechanism.Scope.Memory(); (r.late > 0) != decays || r.late > 0 && r.late != r.runs {
				t.Errorf("%d runs from the start, %d to a reset", r.runs, r.late)
			}
		})
	}
}

// planted are faults in the source: a text of a file, what stands in its place, the machine that has it, and what finds
// it.
var planted = []struct{ file, text, other, machine, finds, what string }{
	{
		"operators/pending/table.go", "\treturn t.give(at, taken), Done",
		"\trow := t.give(at, waiting)\n\tcopy(t.valuesAt(at), row.Values)\n\treturn row, Done", "served", "leaf sums",
		"each further reward under a key adds its context again",
	},
	{
		"operators/linucb/serve.go", "\tm.answer(r.Key, int(m.row[0]), toContext)\n\treturn false",
		"\tm.answer(r.Key, int(m.row[0]), toContext)\n\tcopy(leaf[len(leaf)-len(m.row):], m.row[1:])\n\treturn m.row[0] >= 0",
		"served in batches", "leaf sums", "a context adds a leaf, and its reward another",
	},
	{
		"operators/linucb/serve.go", "\t\tm.answer(nil, none, toReward)\n\t\treturn m.rewarded",
		"\t\tfor k := range m.actions {\n\t\t\tif !r.Null {\n\t\t\t\tm.actions[k] = min(1, whole(1+r.Event.Numbers[1]))\n\t\t\t}\n\t\t}\n" +
			"\t\tm.answer(nil, none, toReward)\n\t\treturn m.rewarded",
		"served in batches", "decisions", "a reward is in the action of another record",
	},
	{
		"operators/arms/machine.go", "answers, m.Stream.Sum(0)[0])",
		"answers, m.Stream.Sum(0)[0]+1e6*m.contribution[0])", "arms", "decisions", "a held answer goes to the rule in clear",
	},
	{
		"operators/sets/machine.go", "answers, m.Stream.Sum(0)[0])",
		"answers, m.Stream.Sum(0)[0]+1e6*m.contribution[0])", "sets", "decisions", "a held answer goes to the rule in clear",
	},
	{
		"operators/actions/table.go", "\tr := t.at(n)\n\treturn Feedback{Action: t.config.First(n) + uint64(r.actions[k]), Value: r.values[k]}, true",
		"\tr := t.at(n)\n\treturn Feedback{Action: t.config.First(n) + uint64(r.actions[0]), Value: r.values[0]}, true",
		"bandit", "leaf sums", "the first answer of a round is added for each",
	},
	{
		"operators/coco/machine.go", "\treturn append(dst, operators.Decision{Index: t, Step: t, Point",
		"\tif m.Every > 1 && adds != nil {\n\t\tm.update.point()[0] *= 1 - 1e-12*math.Abs(adds[0])\n\t}\n" +
			"\treturn append(dst, operators.Decision{Index: t, Step: t, Point",
		"coco", "decisions", "a rare decision has something of the last event",
	},
	{
		"mechanisms/decay/sum.go", "\t\tclear(c.buffers)\n", "\t\tclear(c.buffers[:len(c.buffers)-1])\n", "coco", "reset",
		"a reset leaves the buffers of the last coordinate",
	},
	{
		"mechanisms/decay/sum.go", "c.steps%c.period == 0 {", "c.steps == c.period {", "coco", "reset",
		"there is one reset, and no other",
	},
	{
		"mechanisms/decay/sum.go", "c.steps%c.period == 0 {", "c.steps%c.period == 1 {", "coco", "reset",
		"a reset is late",
	},
}

// TestPlantedFaultsStand: a text that has changed would plant nothing.
func TestPlantedFaultsStand(t *testing.T) {
	for _, x := range planted {
		pipetest.Plant(t, "../../../"+x.file, x.text, x.other)
	}
}

// TestAuditCatchesPlantedFaults builds the audit with each fault, which turns the machine's own audit red for the
// reason that is said. It takes a minute and more.
func TestAuditCatchesPlantedFaults(t *testing.T) {
	tiertest.Slow(t, "TestPlantedFaultsStand")
	for i, x := range planted {
		t.Run(fmt.Sprintf("%d %s %s", i, x.machine, x.what), func(t *testing.T) {
			overlay := pipetest.Plant(t, "../../../"+x.file, x.text, x.other)
			said, ok := pipetest.GoTool(t, "test", "-overlay", overlay, "-run",
				"^TestAuditOfMachinesAsConfigured$/^"+strings.ReplaceAll(x.machine, " ", "_")+"$", ".")
			if ok || !strings.Contains(said, ": "+x.finds+": ") {
				t.Errorf("not found by %q: %s", x.finds, said)
			}
		})
	}
}

// rare leaks an event where decisions are rare: an audit that publishes every one would not see it.
func TestChecksPlayTheMachineAsConfigured(t *testing.T) {
	a := subject(t, "ORIEL_EMIT_EVERY=90")
	whole := a.machine
	a.machine = func(c operators.Operator, plan []byte, s *mechanisms.Stream) (operators.Machine, error) {
		m, err := whole(c, plan, s)
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
