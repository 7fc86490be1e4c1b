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
		"service.go", "if !ofLoss(err) || doubt.Over() {",
		"if !ofLoss(err) || !doubt.Over() {", "a loss is believed at the first look, which a broker that has just started gives",
	},
	{
		"service.go", "if !ofLoss(err) || doubt.Over() {",
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
	{"task.go", "from.Next, kafka.ReaderOptions{", "from.Next+1, kafka.ReaderOptions{", "an event is left out"},
	{"task.go", "\t\tfail(stopped)\n", "", "a partition that must stop is taken over again instead"},
	{
		"task.go", "\t\t\t\t\tfail(err)\n\t\t\t\t\tfailed = true", "\t\t\t\t\tfailed = true",
		"a failed commit is not noticed, and its segments are lost",
	},
	{
		"commit.go", "c.Input, p, g.position.Next)", "c.Input, p, g.position.Next-1)",
		"the group's offset is not that of the state",
	},
	{
		"commit.go", "return o.producer.End(ctx, true)", "return o.producer.End(ctx, false)",
		"what was sent is aborted, and taken for committed",
	},
	{
		"commit.go", "topic.Name, p, &g.decisions[i]", "topic.Name, p, &g.decisions[(i+1)%decisionTopics]",
		"decisions go to the topic of the others",
	},
	{"commit.go", "\tt.service.listener.Reached(p, PointProduced)\n", "", "nobody can die between sending and committing"},
	{"commit.go", "\t\ts.listener.Aborted(p)\n", "", "a commit whose outcome is unknown is not told"},
	{
		"takeover.go", "err := producer.Settle(ctx, s.config.parts(p), s.config.Group)",
		"err := error(nil)", "a transaction that a coordinator forgot hangs for ever",
	},
	{
		"takeover.go", "if bounds.Start > next {", "if bounds.Start > next+1000 {",
		"events that were deleted are stepped over",
	},
	{"takeover.go", "return t.reconcile(ctx, o, e, extra)", "return nil", "a torn transaction stays torn"},
	{"compute.go", "if !force && len(c.free) == 0 {", "if !force {", "nothing is committed before the end"},
	{"compute.go", "\t\tc.hand(true)\n\t\tc.segment.end = end\n", "", "a transaction grows without bound"},
	{
		"compute.go", "\t\t\tif err != nil {\n\t\t\t\tc.hand(true)\n", "\t\t\tif err != nil {\n",
		"what is before an event that must not be taken is lost",
	},
	{"compute.go", "\tc.sent = at\n", "", "verdicts and steps are counted twice"},
	{
		"open.go", "\t\tat.Owes = true\n", "",
		"the first decisions are never sent",
	},
	{
		"open.go", "if err := t.commitOpening(ctx, o, g, opening); err != nil || !at.Owes {",
		"if err := t.commitOpening(ctx, o, g, opening); err != nil {",
		"an operator that owes nothing is opened in two transactions",
	},
	{
		"open.go", "opening...); err != nil {", "opening...); true {",
		"an acknowledged opening that the changelog does not have is built on",
	},
	{
		"repair.go", "\t\tif c.walk.Start(); differs != nil {\n\t\t\treturn differs\n\t\t}\n",
		"\t\tc.walk.Start()\n", "first decisions of another secret pass",
	},
	{
		"repair.go", "\tif o.position.Owes {\n\t\tif c.walk.Start()",
		"\tif false {\n\t\tif c.walk.Start()", "a state that owes decisions is continued without them",
	},
	{
		"repair.go", "\treturn t.commitOpening(ctx, o, g, opening...)",
		"\treturn t.commit(ctx, o, g, opening...)", "an opening that is sent again is believed at once",
	},
	{"transactionstatus.go", "return !at.Owes && ", "return ", "the first decisions are not sent by whoever takes over"},
	{
		"decided.go", "d.Step > o.position.Step || o.position.Owes",
		"d.Step > o.position.Step", "first decisions that are committed are sent again",
	},
	{"decided.go", "\t\towed = 0 // ", "\t\t// ", "first decisions that were never sent are missed"},
	{
		"check.go", "\tif o.position.Owes {\n\t\tw.Start()\n\t}\n",
		"", "a replay from an opening leaves the first decisions out",
	},
	{"check.go", " && !o.position.Owes) {", ") {", "a replay from an opening does not compare the first decisions"},
	{"walk.go", "\tw.Position.Owes = false\n", "", "the first decisions are owed for ever"},
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
			if said, ok := pipetest.GoTool(t, "build", "-overlay", overlay, "oriel/pipeline"); !ok {
				t.Fatalf("%s without %q does not build: %s", m.file, m.text, said)
			}
			killer := ""
			for _, tests := range [][]string{
				{"oriel/pipeline/pipetest/storytest"},
				{"oriel/pipeline", "oriel/pipeline/pipetest", "-run", "Torn|Killed|Walk|Verdicts|Opening|FirstDecision"},
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
