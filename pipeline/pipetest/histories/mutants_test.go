package histories

import (
	"fmt"
	"path/filepath"
	"regexp"
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/pipetest"
)

// enough is how many histories may pass before one finds a planted fault.
const enough = 2000

// mutants are faults planted in the protocol: a text of a file, what stands in its place, and what that is.
var mutants = []struct{ file, text, other, is string }{
	{
		"pipeline/transaction/commit.go",
		offset + "\treturn last, c.Producer.End(ctx, true)\n",
		"\tif err := c.Producer.End(ctx, true); err != nil {\n\t\treturn 0, err\n\t}\n" +
			"\tif err := c.Producer.Begin(ctx, nil); err != nil {\n\t\treturn 0, err\n\t}\n" +
			offset + "\treturn last, c.Producer.End(ctx, true)\n",
		"offsets outside the transaction",
	},
	{
		"pipeline/transaction/commit.go", "\tlast, err := c.transact(ctx, t, began, records)\n",
		"\t_ = c.Store.Follow(p, records)\n\tlast, err := c.transact(ctx, t, began, records)\n", "the store before Kafka",
	},
	{
		"pipeline/takeover/takeover.go", "t.Config.TransactionalID(t.Topics.Input.ID, p), deployment.TransactionTimeout,",
		"fmt.Sprintf(\"%p/%d\", t, p), deployment.TransactionTimeout,", "no fence",
	},
	{
		"pipeline/changelog/view.go", "\tcase follows:\n",
		"\tcase follows || at > bounds.Start && at <= bounds.High:\n", "a warm store used unchecked",
	},
	{
		"state/sealer.go", "return s.seal(dst, newNonce(), p, machine)", "return s.seal(dst, nonce{1}, p, machine)",
		"one nonce for all states",
	},
	{
		"mechanisms/stream.go", "s.absorbed(leaf))\n\tfor i", "s.absorbed(leaf[:0]))\n\tfor i",
		"one noise for two histories",
	},
	{
		"pipeline/streams/walk.go", "LeaderEpoch: r.LeaderEpoch}", "LeaderEpoch: 0}",
		"the leader epoch is no part of an event's identity",
	},
	{
		"pipeline/takeover/group.go", "f.group < next && f.verdicts.began(next, f.group):\n",
		"f.group < next && f.verdicts.ended(f.group):\n",
		"an offset that its transaction has left is taken for one that somebody has set",
	},
	{
		"pipeline/transaction/builder.go", "\t\t\tb.Transaction.add(r.Public)\n",
		"\t\t\tb.Transaction.add(r.Public)\n\t\t\tif code != schemas.OK {\n" +
			"\t\t\t\tb.Transaction.Taken += 1 << 18\n\t\t\t}\n",
		"transactions end by contents",
	},
	{
		"pipeline/takeover/open.go", "if sent, err := t.sentOpening(ctx); err != nil || sent {",
		"if sent, err := t.sentOpening(ctx); err != nil || sent && t.name == \"\" {", "an opening that is not repeated",
	},
	{
		"pipeline/takeover/checks.go", "\tif was == is {\n", "\tif was == is || t.name != \"\" {\n",
		"semantics ignored",
	},
	{
		"pipeline/transaction/transaction.go",
		"\tt.setSkipped(gap)\n\tt.verdicts = append(t.verdicts, code.Verdict())\n",
		"\tt.verdicts = append(t.verdicts, code.Verdict())\n\tt.setSkipped(gap)\n", "status rows shifted",
	},
	{
		"pipeline/takeover/takeover.go", "\t\tb, err := topics.StableEnd(ctx, t.Client, topic.Name, p)\n",
		"\t\tb, err := topics.BoundsOf(ctx, t.Client, topic.Name, p)\n", "markers are waited for in some topics only",
	},
	{
		"pipeline/takeover/decisions.go", "\t\t\tif t.isBehind(d) {\n", "\t\t\tif t.isBehind(d) && t.name == \"\" {\n",
		"a range is repeated",
	},
	{
		"pipeline/takeover/repair.go", "\tfor _, r := range f.verdicts.resend {\n",
		"\tfor _, r := range f.verdicts.resend[:0] {\n",
		"statuses that were rolled back are not sent again",
	},
	{
		"pipeline/transaction/commit.go", "\tfor i, topic := range c.Topics.Outputs() {\n",
		"\tvar early records.Pack\n\tfor _, r := range log {\n" +
			"\t\tearly.Append(r.Key, r.Value, nil, began.UnixMilli())\n\t}\n\tlog = nil\n" +
			"\tif last, err = c.Producer.ProduceAll(ctx, c.Config.Changelog, p, &early); err != nil {\n" +
			"\t\treturn 0, err\n\t}\n\tfor i, topic := range c.Topics.Outputs() {\n",
		"the state is sent before decisions",
	},
	{
		"pipeline/changelog/view.go",
		"\t\tsent = true\n\t\tbreak // a second Reader must not wait for memory while this one holds a batch\n",
		"\t\treturn fetch.HasRecord(ctx, c, topic, p, at-1, at, false)\n",
		"a take-over waits for memory while it holds a batch: histories have found it",
	},
	{
		"pipeline/kafka/fetch/scan.go", "if errors.Is(err, kafka.ErrOffsetOutOfRange) {",
		"if errors.Is(err, kafka.ErrOffsetOutOfRange) && p < 0 {",
		"retention during a take-over is taken for a loss of the input: histories have found it",
	},
	{
		"pipeline/streams/walk.go", "w.reach(b, next, b.EpochAt(next, w.epoch(b.Partition)))\n",
		"w.reach(b, next, b.LeaderEpoch)\n",
		"a walk that stops within a batch has the epoch of what lies behind: histories have found it",
	},
	{
		"pipeline/takeover/repair.go", "len(opening) > 0 || was != t.Position.Semantics {",
		"len(opening) > 0 || was == 0 {", "a later version decides before its semantics are committed: histories have found it",
	},
	{
		"pipeline/takeover/repair.go", "\t\tb.SkipTo() // a batch",
		"\t\tif b.Position.Next >= until() {\n\t\t\tb.SkipTo()\n\t\t}\n\t\t// a batch",
		"a repetition shifts statuses behind a batch that ends with no record: histories have found it",
	},
	{
		"pipeline/takeover/takeover.go", "changelog.HasState(local)", "len(local) > 0",
		"a store from before an opening is taken for one of a state: histories have found it",
	},
}

// offset is how a transaction gets the group's offset.
const offset = "\tif err := c.Producer.CommitOffsets(ctx, c.Membership, c.Config.Input, t.Offsets); err != nil {\n" +
	"\t\treturn 0, err\n\t}\n"

// found is what TestHistories says of the first history that fails.
var found = regexp.MustCompile(`history (\d+), seed \d+: ([a-z ]+): .*|panic: .*|fatal error: .*`)

// TestSeededMutantsAreKilled plants each fault, and plays histories until one fails.
func TestSeededMutantsAreKilled(t *testing.T) {
	tiertest.Slow(t, "TestMutantsStandInTheSource")
	for i, m := range mutants {
		t.Run(fmt.Sprintf("%d %s", i, m.is), func(t *testing.T) {
			overlay := pipetest.Plant(t, filepath.Join("..", "..", "..", m.file), m.text, m.other)
			said, ok := pipetest.GoTool(t, "test", "-count=1", "-timeout=30m", "-overlay", overlay, ".",
				"-run", "^TestHistories$", "-histories", fmt.Sprint(enough), "-fast")
			how := found.FindString(said)
			if ok || how == "" {
				t.Fatalf("not found by %d histories, or not tried: %s", enough, said)
			}
			t.Logf("found: %.160s", how)
		})
	}
}

// TestMutantsStandInTheSource: a text that has changed would plant nothing.
func TestMutantsStandInTheSource(t *testing.T) {
	for _, m := range mutants {
		pipetest.Plant(t, filepath.Join("..", "..", "..", m.file), m.text, m.other)
	}
}
