package pipetest_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/pipetest"
)

// mutants are faults planted in the pipeline: a text of a file, what stands in its place, and what that breaks.
var mutants = []struct{ file, text, other, breaks string }{
	{
		"service.go", "if !notice.OfLoss(err) || doubt.Over() {",
		"if !notice.OfLoss(err) || !doubt.Over() {", "a loss is believed at the first look, which a broker that has just started gives",
	},
	{
		"service.go", "if !notice.OfLoss(err) || doubt.Over() {",
		"if doubt.Over() {", "a second history is looked at again and again before it stops the partition",
	},
	{
		"service.go", "\t\t\t\tcancel(err)\n\t\t\t}\n\t\t\tmu.Lock()", "\t\t\t}\n\t\t\tmu.Lock()",
		"a problem of the whole deployment stops one partition only",
	},
	{
		"service.go", "Committed: !s.unfinished.Load()",
		"Committed: s.unfinished.Load()", "a process says at its end that it has not committed what it has",
	},
	{
		"service.go", "all := len(stopped) == len(g.Partitions)", "all := false",
		"a process all of whose partitions have stopped lives on",
	},
	{"merge/source.go", "partition, at.Next, o)", "partition, at.Next+1, o)", "an event is left out"},
	{"task.go", "\t\tfail(stopped)\n", "", "a partition that must stop is taken over again instead"},
	{
		"task.go", "\t\t\t\t\tfail(err)\n\t\t\t\t\tfailed = true", "\t\t\t\t\tfailed = true",
		"a failed commit is not noticed, and its transactions are lost",
	},
	{
		"transaction/transaction.go", "Offset: at.Next}", "Offset: at.Next - 1}",
		"the group's offset is not that of the state",
	},
	{
		"transaction/commit.go", "return last, c.Producer.End(ctx, true)", "return last, c.Producer.End(ctx, false)",
		"what was sent is aborted, and taken for committed",
	},
	{
		"transaction/commit.go", "topic.Name, p, &t.Decisions[i]",
		"topic.Name, p, &t.Decisions[(i+1)%len(t.Decisions)]",
		"decisions go to the topic of the others",
	},
	{
		"transaction/commit.go", "\tc.Listener.Reached(p, notice.PointProduced)\n", "",
		"nobody can die between sending and committing",
	},
	{"transaction/commit.go", "\t\tc.Listener.Aborted(p)\n", "", "a commit whose outcome is unknown is not told"},
	{
		"takeover/takeover.go", "err = t.Producer.Settle(ctx, t.Config.TransactionParts(p), t.Config.Group)",
		"err = error(nil)", "a transaction that a coordinator forgot hangs for ever",
	},
	{
		"takeover/checks.go", "case start > next:", "case start > next+1000:",
		"events that were deleted are stepped over",
	},
	{"takeover/takeover.go", "\t\t\terr = t.reconcile(ctx, nil)\n", "", "a torn transaction stays torn"},
	{"task.go", "range o.Due {", "range o.Due[:0] {", "what earlier owners left undone stays undone"},
	{"compute.go", "if !force && len(c.free) == 0 {", "if !force {", "nothing is committed before the end"},
	{"compute.go", "\t\tc.hand(true)\n\t\tc.Transaction.End = end\n", "", "a transaction grows without bound"},
	{
		"compute.go", "\t\t\tif err != nil {\n\t\t\t\tc.hand(true)\n", "\t\t\tif err != nil {\n",
		"what is before an event that must not be taken is lost",
	},
	{"transaction/builder.go", "\tb.sent = at\n", "", "verdicts and steps are counted twice"},
	{
		"takeover/open.go", "\t\tat.Owes = true\n", "",
		"the first decisions are never sent",
	},
	{
		"takeover/open.go", "\tif at.Owes {\n", "\tif true {\n",
		"an operator that owes nothing is opened in two transactions",
	},
	{
		"transaction/commit.go", "\t\treturn c.confirm(ctx, last)\n", "",
		"an acknowledged opening that the changelog does not have is built on",
	},
	{
		"takeover/repair.go", "\t\tif b.Start(); c.differs != \"\" {\n\t\t\treturn t.stop(c.differs, c.remedy)\n\t\t}\n",
		"\t\tb.Start()\n", "first decisions of another secret pass",
	},
	{
		"takeover/repair.go", "\tif t.Position.Owes {\n\t\tif b.Start()",
		"\tif false {\n\t\tif b.Start()", "a state that owes decisions is continued without them",
	},
	{
		"takeover/repair.go", "tx.Opening, tx.Position, tx.Sealed = opening, ",
		"_, tx.Position, tx.Sealed = opening, ", "an opening that is sent again has a state and no incarnation",
	},
	{"takeover/inspect.go", "return !at.Owes && ", "return ", "the first decisions are not sent by whoever takes over"},
	{
		"takeover/decisions.go", "d.Step > t.Position.Step || t.Position.Owes",
		"d.Step > t.Position.Step", "first decisions that are committed are sent again",
	},
	{"takeover/decisions.go", "\t\towed = 0 // ", "\t\t// ", "first decisions that were never sent are missed"},
	{
		"replay/check.go", "\tif o.Position.Owes {\n\t\tw.Start()\n\t}\n",
		"", "a replay from an opening leaves the first decisions out",
	},
	{"replay/check.go", " && !o.Position.Owes) {", ") {", "a replay from an opening does not compare the first decisions"},
	{"streams/walk.go", "\tw.Position.Owes = false\n", "", "the first decisions are owed for ever"},
	{"streams/walk.go", "= o.Record+1, o.LeaderEpoch", "= o.Record+2, o.LeaderEpoch", "an order record is left out"},
	{
		"takeover/group.go", "case !t.inOrder(f):", "case false:",
		"offsets that somebody has set are taken for those of a place in the order",
	},
	{
		"takeover/order.go", "\t\tif end < r.To {", "\t\tif end < 0 {",
		"an input that was truncated below what is in order is gone on with",
	},
	{
		"takeover/order.go", "\t\tif end < r.To {", "\t\tif end < r.To || known < r.Epoch {",
		"a leader that has written nothing is taken for a loss",
	},
	{"takeover/order.go", "if at.Log != topic.ID {", "if false {", "another order log is followed"},
}

// mostAlive is how many of them may go unnoticed.
const mostAlive = 2

// TestSeededMutantsAreKilled plants each fault and runs the tests of this package tree, stories first. It takes some
// minutes.
func TestSeededMutantsAreKilled(t *testing.T) {
	tiertest.Slow(t, "TestMutantsStandInTheSource")
	alive := 0
	for i, m := range mutants {
		t.Run(fmt.Sprintf("%d %s", i, m.file), func(t *testing.T) {
			overlay := pipetest.Plant(t, filepath.Join("..", m.file), m.text, m.other)
			if said, ok := pipetest.GoTool(t, "build", "-overlay", overlay, "oriel/pipeline/..."); !ok {
				t.Fatalf("%s without %q does not build: %s", m.file, m.text, said)
			}
			killer := ""
			for _, tests := range [][]string{
				{"oriel/pipeline/pipetest/storytest"},
				{"oriel/pipeline", "oriel/pipeline/pipetest", "-run", "Torn|Killed|Walk|Verdicts|Opening|FirstDecision|WholeTopic|NoLoss"},
			} {
				if _, ok := pipetest.GoTool(t, append([]string{"test", "-count=1", "-failfast", "-timeout=1m", "-overlay", overlay},
					tests...)...); !ok {
					killer = tests[0]
					break
				}
			}
			if killer == "" {
				alive++
			}
			t.Logf("%s: %s: killed by %q", m.file, m.breaks, killer)
		})
	}
	if alive > mostAlive {
		t.Errorf("%d of %d mutants live, want %d at most", alive, len(mutants), mostAlive)
	}
}

// TestMutantsStandInTheSource: a text that has changed would plant nothing.
func TestMutantsStandInTheSource(t *testing.T) {
	for _, m := range mutants {
		pipetest.Plant(t, filepath.Join("..", m.file), m.text, m.other)
	}
	if len(mutants) < 20 {
		t.Errorf("%d mutants", len(mutants))
	}
}
