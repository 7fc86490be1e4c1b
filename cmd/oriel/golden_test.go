package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"oriel/cmd/internal/settings"
	"oriel/mechanisms"
	"oriel/pipeline"
)

var rewrite = flag.Bool("rewrite", false, "write testdata/golden/decisions.txt")

const goldenFile = "testdata/golden/decisions.txt"

// goldenEvents are the files of testdata/golden (up to the hyphen), each with the settings that it is replayed under.
// They were drawn once and are bytes since: every form of an event, and every eleventh line or so malformed.
var goldenEvents = []struct {
	name string
	env  []string
}{
	{"logistic", []string{
		"LOSS=logistic", "UPDATE=projection", "SET=l2-ball", "RADIUS=5", "DIMENSION=5", "WINDOW=16", "STRONG_CONVEXITY=0.01",
	}},
	{"named", []string{
		"LOSS=hinge", "UPDATE=projection", "SET=l1-ball", "RADIUS=30", "DIMENSION=7", "WINDOW=64", "STRONG_CONVEXITY=0.3",
		"START_REGULARIZER=2.5", "FEATURES_RANGE=distance:0:5000,hour:0:24:cyclic", "ADJACENCY=zero-out",
	}},
	{"linear", []string{
		"LOSS=linear", "UPDATE=projection", "SET=box", "RADIUS=100", "DIMENSION=4", "WINDOW=8", "STRONG_CONVEXITY=0.7",
		"BATCH=3", "EMIT_EVERY=2", "OWN_CONVEXITY=true",
	}},
	{"portfolio", []string{
		"LOSS=portfolio", "UPDATE=llo", "SET=simplex", "RADIUS=1", "DIMENSION=6", "WINDOW=32", "STRONG_CONVEXITY=0.5",
		"CONSTANTS=proved", "HORIZON=240",
	}},
	{"squared", []string{
		"LOSS=squared", "UPDATE=llo", "SET=l1-ball", "RADIUS=2", "DIMENSION=6", "WINDOW=1", "STRONG_CONVEXITY=0.1",
		"CLIP=0.3", "CONSTANTS=proved", "HORIZON=1000", "CONFIDENCE=0.9", "OWN_CONVEXITY=true",
	}},
	{"squared-paper", []string{
		"LOSS=squared", "UPDATE=llo", "SET=box", "RADIUS=0.5", "DIMENSION=6", "WINDOW=8", "STRONG_CONVEXITY=0.1",
		"CONSTANTS=paper", "HORIZON=240",
	}},
	{
		"logistic-ogd",
		[]string{"LOSS=logistic", "UPDATE=ogd", "SET=l2-ball", "RADIUS=5", "DIMENSION=5", "STRONG_CONVEXITY=0.01"},
	},
	{"logistic-memory", []string{
		"LOSS=logistic", "UPDATE=projection", "SET=l2-ball", "RADIUS=5", "DIMENSION=5", "WINDOW=lifetime", "MEMORY=16",
		"STRONG_CONVEXITY=0.01", "START_REGULARIZER=2",
	}},
	{"quantile", []string{
		"LOSS=quantile", "QUANTILE=0.75", "UPDATE=projection", "SET=l2-ball", "RADIUS=4", "DIMENSION=1", "WINDOW=16",
		"STRONG_CONVEXITY=0.02", "START_REGULARIZER=3",
	}},
	{"logistic-leaves", []string{
		"LOSS=logistic", "UPDATE=projection", "SET=l2-ball", "RADIUS=5", "DIMENSION=5", "WINDOW=16", "STRONG_CONVEXITY=0.01",
	}},
	{"squared-leaves", []string{
		"LOSS=squared", "UPDATE=llo", "SET=l1-ball", "RADIUS=2", "DIMENSION=6", "WINDOW=8", "STRONG_CONVEXITY=0.1",
		"LABEL_MAX=0.25", "WEIGHT_MAX=0.5", "HORIZON=240",
	}},
	{"quantile-leaves", []string{
		"LOSS=quantile", "QUANTILE=0.75", "UPDATE=projection", "SET=l2-ball", "RADIUS=4", "DIMENSION=1", "WINDOW=16",
		"STRONG_CONVEXITY=0.02", "START_REGULARIZER=3", "ADJACENCY=zero-out",
	}},
	{"logistic-memory-users-leaves", []string{
		"LOSS=logistic", "UPDATE=projection", "SET=l2-ball", "RADIUS=5", "DIMENSION=5", "WINDOW=lifetime", "MEMORY=16",
		"STRONG_CONVEXITY=0.01", "START_REGULARIZER=2", "USER_ID=key", "USER_SEPARATION=3", "USER_WINDOW=40",
	}},
	{"aggregate-memory", []string{
		"OPERATOR=aggregate", "CELLS=carrier=UA|AA|DL,hour=0:24:2", "VALUE=delay=-60:180",
		"STATISTICS=count,sum,mean*0.5,variance,p50,p99.9", "BINS=10", "ARMS=carrier", "ELSEWHERE=other", "WEIGHT_MAX=2",
		"MEMORIES=4,1000", "INCREMENTS=true", "EMIT_EVERY=3", "EPSILON=500", "WINDOW=lifetime", "MEMORY=16",
	}},
	{"aggregate-total", []string{
		"OPERATOR=aggregate", "CELLS=carrier=UA|AA|DL,hour=0:24:1", "VALUE=delay=-60:180", "STATISTICS=p10,p90", "EPSILON=80",
		"WINDOW=64", "BATCH=2", "ADJACENCY=zero-out",
	}},
	{"aggregate-tumbling", []string{
		"OPERATOR=aggregate", "CELLS=carrier=UA|AA|DL|B6,hour=0:24:2", "VALUE=delay=-60:180", "STATISTICS=count,mean",
		"ARMS=hour", "EPSILON=200", "BATCH=48",
	}},
	{"aggregate-memory-leaves", []string{
		"OPERATOR=aggregate", "CELLS=carrier=UA|AA|DL,hour=0:24:2", "VALUE=delay=-60:180", "STATISTICS=mean,p50", "BINS=4",
		"ELSEWHERE=other", "WEIGHT_MAX=2", "EPSILON=500", "WINDOW=lifetime", "MEMORY=16",
	}},
	{"aggregate-tumbling-leaves", []string{
		"OPERATOR=aggregate", "CELLS=carrier=UA|AA|DL|B6,hour=0:24:2", "VALUE=delay=-60:180", "STATISTICS=sum", "EPSILON=200",
		"BATCH=48",
	}},
	{"linear-flow", []string{
		"LOSS=linear", "UPDATE=llo", "CONSTANTS=search", "SET=flow", "EDGES=testdata/golden/square.edges", "RADIUS=3",
		"DIMENSION=4", "WINDOW=16", "STRONG_CONVEXITY=0.01",
	}},
	{"linear-subsets", []string{
		"LOSS=linear", "UPDATE=llo", "SET=subsets", "PICK=2", "RADIUS=1", "DIMENSION=4", "WINDOW=16", "STRONG_CONVEXITY=0.01",
		"HORIZON=240",
	}},
	{"linear-projected-subsets", []string{
		"LOSS=linear", "UPDATE=projection", "SET=subsets", "PICK=3", "RADIUS=2", "DIMENSION=4", "WINDOW=16",
		"STRONG_CONVEXITY=0.01",
	}},
	{"linear-vertices", []string{
		"LOSS=linear", "UPDATE=llo", "CONSTANTS=search", "SET=vertices", "VERTICES=testdata/golden/corners.points",
		"RADIUS=2", "DIMENSION=4", "WINDOW=16", "STRONG_CONVEXITY=0.01",
	}},
	{"linear-matching", []string{
		"LOSS=linear", "UPDATE=llo", "SET=matching", "RADIUS=2", "DIMENSION=4", "WINDOW=16", "STRONG_CONVEXITY=0.01",
		"HORIZON=240",
	}},
	{"linear-partition", []string{
		"LOSS=linear", "UPDATE=llo", "SET=partition", "BLOCKS=2:1,2:1", "RADIUS=1", "DIMENSION=4", "WINDOW=16",
		"STRONG_CONVEXITY=0.01", "HORIZON=240",
	}},
	{"squared-ridge", []string{
		"OPERATOR=ridge", "UPDATE=moments", "DIMENSION=6", "LABEL_RANGE=-1:3", "EMIT_EVERY=3", "NOISE_SHIFT=0.25",
		"FEATURES_MAX=2", "WINDOW=lifetime", "MEMORY=16", "EPSILON=100",
	}},
	{"squared-ridge-tree", []string{
		"OPERATOR=ridge", "UPDATE=moments", "DIMENSION=6", "LABEL_RANGE=-2:2", "EMIT_EVERY=16", "WINDOW=32", "LABEL_SHARE=1",
		"BATCH=2",
	}},
	{"squared-innovation", []string{
		"OPERATOR=ridge", "UPDATE=innovation", "DIMENSION=6", "LABEL_RANGE=-1:3", "RESIDUAL_MAX=0.5", "EMIT_EVERY=1",
		"WINDOW=64", "STRONG_CONVEXITY=0.1",
	}},
	{"plays-ucb", []string{
		"OPERATOR=arms", "ARMS=AA,DL,UA", "BATCH=4", "PLAYS=6", "DELAY=2", "WINDOW=lifetime", "WIDTH=2", "EPSILON=4",
	}},
	{"plays-ucb-gaussian", []string{
		"OPERATOR=arms", "ARMS=AA,DL,UA", "BATCH=4", "PLAYS=6", "DELAY=0", "WINDOW=lifetime", "LOSS_RANGE=-1:2",
	}},
	{"plays-exp3", []string{
		"OPERATOR=arms", "RULE=exp3", "ARMS=AA,DL,UA,B6", "BATCH=4", "PLAYS=6", "DELAY=2", "WINDOW=lifetime", "EPSILON=20",
	}},
	{"plays-ball", []string{
		"OPERATOR=bandit", "SET=l2-ball", "RADIUS=2", "DIMENSION=3", "BATCH=4", "PLAYS=6", "DELAY=2", "WINDOW=horizon",
		"HORIZON=64", "BASELINE=0.5",
	}},
	{"plays-simplex", []string{
		"OPERATOR=bandit", "SET=simplex", "RADIUS=1", "DIMENSION=4", "BATCH=4", "PLAYS=6", "DELAY=1", "WINDOW=lifetime",
		"MEMORY=16", "SMOOTHING=0.25", "RATE=0.03125", "SHRINK=false", "LOSS_RANGE=-1:2", "EPSILON=40",
	}},
	{"plays-box-tree", []string{
		"OPERATOR=bandit", "SET=box", "RADIUS=1", "DIMENSION=2", "BATCH=4", "PLAYS=6", "DELAY=0", "WINDOW=64", "HORIZON=64",
		"LIPSCHITZ=2",
	}},
	{"plays-doubling", []string{
		"OPERATOR=bandit", "SET=box", "RADIUS=1", "DIMENSION=3", "BATCH=4", "PLAYS=6", "DELAY=1", "WINDOW=horizon",
		"HORIZON=200", "UPDATE=projection", "DOUBLING=true", "EPSILON=40",
	}},
	{"plays-printed", []string{
		"OPERATOR=bandit", "SET=l1-ball", "RADIUS=1", "DIMENSION=2", "BATCH=4", "PLAYS=6", "DELAY=1", "WINDOW=64",
		"HORIZON=64", "NOISE=paper", "EPSILON=1000",
	}},
	{"contexts-served", []string{
		"OPERATOR=linucb", "PLAYED=served", "ARMS=no,perhaps,yes", "DIMENSION=4", "WINDOW=lifetime", "MEMORY=16",
		"EMIT_EVERY=4", "WAIT=20", "CAPACITY=8", "EPSILON=40",
	}},
	{"contexts-logged", []string{
		"OPERATOR=linucb", "PLAYED=logged", "ARMS=no,perhaps,yes", "DIMENSION=4", "WINDOW=horizon", "EMIT_EVERY=8",
		"BATCH=2", "CONFIDENCE=0.9", "HORIZON=256", "WAIT=4096", "CAPACITY=1024",
	}},
	{"plays-exp3-uniform", []string{
		"OPERATOR=arms", "RULE=exp3-uniform", "ARMS=AA,DL,UA,B6", "BATCH=4", "PLAYS=6", "DELAY=0", "WINDOW=lifetime",
		"EPSILON=2",
	}},
	{"sets-places", []string{
		"OPERATOR=submodular", "RULE=histogram", "PICK=2", "PLACES=testdata/golden/places", "WINDOW=lifetime", "MEMORY=16",
		"EMIT_EVERY=8", "EPSILON=4",
	}},
	{"gains-argmax", []string{
		"OPERATOR=submodular", "RULE=argmax", "PICK=2", "ELEMENTS=5", "WINDOW=64", "EMIT_EVERY=4", "FUNCTION=probabilistic",
	}},
	{"linear-trees", []string{
		"LOSS=linear", "UPDATE=llo", "CONSTANTS=search", "SET=trees", "EDGES=testdata/golden/square.edges", "RADIUS=1",
		"DIMENSION=4", "WINDOW=16", "STRONG_CONVEXITY=0.01",
	}},
	{"linear-ranking", []string{
		"LOSS=linear", "UPDATE=llo", "CONSTANTS=search", "SET=ranking", "WORTHS=1,0.5", "RADIUS=2", "DIMENSION=4",
		"WINDOW=16", "STRONG_CONVEXITY=0.01",
	}},
	{"linear-projected-ranking", []string{
		"LOSS=linear", "UPDATE=projection", "SET=ranking", "WORTHS=1,0.5,0.25", "RADIUS=1", "DIMENSION=4", "WINDOW=16",
		"STRONG_CONVEXITY=0.01",
	}},
	{"plays-null", []string{
		"OPERATOR=bandit", "SET=l2-ball", "RADIUS=1", "DIMENSION=3", "BATCH=4", "PLAYS=6", "DELAY=1", "WINDOW=horizon",
		"HORIZON=64", "BASELINE=0.5", "ADJACENCY=zero-out", "PRECISION=0.01", "EPSILON=40",
	}},
	{"linear-spectrahedron", []string{
		"LOSS=linear", "UPDATE=llo", "CONSTANTS=search", "SET=spectrahedron", "RADIUS=1", "DIMENSION=4", "WINDOW=16",
		"STRONG_CONVEXITY=0.01",
	}},
	{"linear-projected-spectrahedron", []string{
		"LOSS=linear", "UPDATE=projection", "SET=spectrahedron", "RADIUS=1", "DIMENSION=4", "WINDOW=16",
		"STRONG_CONVEXITY=0.01",
	}},
	{"linear-trace-norm", []string{
		"LOSS=linear", "UPDATE=llo", "CONSTANTS=search", "SET=trace-norm", "ROWS=2", "RADIUS=1", "DIMENSION=4", "WINDOW=16",
		"STRONG_CONVEXITY=0.01",
	}},
	{"aggregate-memory-ranks", []string{
		"OPERATOR=aggregate", "CELLS=carrier=UA|AA|DL,hour=0:24:1", "VALUE=delay=-60:180", "STATISTICS=p20,p50", "BINS=48",
		"EMIT_EVERY=40", "WINDOW=lifetime", "MEMORY=256", "EPSILON=400", "ELSEWHERE=other",
	}},
	{"linear-sparse-flow", []string{
		"LOSS=linear", "UPDATE=llo", "CONSTANTS=search", "SET=flow", "EDGES=testdata/golden/square.edges", "RADIUS=3",
		"DIMENSION=4", "WINDOW=16", "STRONG_CONVEXITY=0.05", "DECISIONS=sparse",
	}},
	{"linear-sparse-l1-ball", []string{
		"LOSS=linear", "UPDATE=projection", "SET=l1-ball", "RADIUS=2", "DIMENSION=4", "WINDOW=16", "STRONG_CONVEXITY=0.3",
		"DECISIONS=sparse",
	}},
	{"gains-drawn", []string{
		"OPERATOR=submodular", "RULE=draws", "PICK=2", "ELEMENTS=5", "WINDOW=horizon", "HORIZON=200", "EMIT_EVERY=4",
		"EPSILON=60",
	}},
	{"linear-sparse-matching", []string{
		"LOSS=linear", "UPDATE=llo", "CONSTANTS=search", "SET=matching", "RADIUS=2", "DIMENSION=4", "WINDOW=16",
		"STRONG_CONVEXITY=0.05", "START_REGULARIZER=4", "FIRST=vertex", "DECISIONS=sparse",
	}},
}

// onlyUnder are the mechanisms of cases that make sense under one.
var onlyUnder = map[string]string{
	"logistic-memory": "blt", "logistic-memory-users-leaves": "blt",
	"aggregate-memory": "blt", "aggregate-total": "blt", "aggregate-tumbling": "once-gaussian",
	"aggregate-memory-leaves": "blt", "aggregate-tumbling-leaves": "once-gaussian", "aggregate-memory-ranks": "blt",
	"linear-flow": "blt", "linear-subsets": "tree-laplace", "linear-projected-subsets": "tree-gamma",
	"linear-matching": "tree-gaussian", "linear-vertices": "blt",
	"linear-partition": "tree-gaussian",
	"squared-ridge":    "blt", "squared-ridge-tree": "tree-gaussian", "squared-innovation": "blt",
	"plays-ucb": "once-gamma", "plays-ucb-gaussian": "once-gaussian", "plays-exp3": "once-gamma", "plays-ball": "blt",
	"plays-simplex": "blt", "plays-box-tree": "tree-gamma",
	"plays-doubling": "blt", "plays-printed": "tree-laplace",
	"plays-null":         "blt",
	"plays-exp3-uniform": "once-gamma",
	"linear-trees":       "blt", "linear-ranking": "blt", "linear-projected-ranking": "tree-laplace",
	"linear-spectrahedron": "blt", "linear-projected-spectrahedron": "tree-gaussian", "linear-trace-norm": "blt",
	"linear-sparse-matching": "blt", "linear-sparse-flow": "blt", "linear-sparse-l1-ball": "tree-gaussian",
	"contexts-served": "blt", "contexts-logged": "tree-gaussian",
	"sets-places": "blt", "gains-argmax": "tree-gaussian", "gains-drawn": mechanisms.Drawing,
}

// steady tells the cases of operators whose plans have had one rule for leaves.
func (c goldenCase) steady() bool {
	return slices.Contains([]string{"ridge", "arms", "bandit", "linucb", "submodular"}, c.settings.Operator)
}

// plays tells the cases of bandits, whose records name plays in their keys.
func (c goldenCase) plays() bool {
	return strings.HasPrefix(c.events, "plays-") || strings.HasPrefix(c.events, "contexts-")
}

// aggregates tells the cases of that operator, whose plans say all that its leaves are.
func (c goldenCase) aggregates() bool { return strings.HasPrefix(c.events, "aggregate-") }

// sharp tells the cases whose plan has the newest rule for leaves. That of the others has the ball of the clip, or
// absorbs all cells, as plans had before there were rules: deployments with such a plan keep it, and their bytes.
func (c goldenCase) sharp() bool { return strings.HasSuffix(c.events, "-leaves") }

// plan computes the plan of a case.
func (c goldenCase) plan(t *testing.T) []byte {
	t.Helper()
	fresh, err := model(t, c.settings).Plan()
	if err != nil {
		t.Fatal(err)
	}
	if c.steady() {
		return fresh
	}
	if c.aggregates() {
		version := &fresh[4+binary.LittleEndian.Uint32(fresh)]
		switch {
		case strings.HasSuffix(c.events, "-ranks"): // the newest
		case c.sharp():
			*version = 2
		default:
			*version = 1
		}
		return fresh
	}
	m, operator, err := c.settings.Parts()
	if err != nil {
		t.Fatal(err)
	}
	clipped := m
	clipped.Leaf = mechanisms.OnePart(m.Dimension(), operator.Describe(m).Clip)
	private, err := mechanisms.NewPlan(clipped)
	if err != nil {
		t.Fatal(err)
	}
	first, errFirst := private.AppendBinary(nil)
	public, errPublic := operator.Plan(clipped)
	if err := errors.Join(errFirst, errPublic); err != nil {
		t.Fatal(err)
	}
	old := append(append(binary.LittleEndian.AppendUint32(nil, uint32(len(first))), first...), public...)
	if !c.sharp() {
		return old
	}
	if bytes.Equal(old, fresh) {
		t.Errorf("%v: a new plan has the ball of the clip", c)
	}
	return fresh
}

// goldenCase is a file of events under a mechanism.
type goldenCase struct {
	events, mechanism string
	settings          settings.Settings
}

func (c goldenCase) String() string { return c.events + " " + c.mechanism }

func goldenCases(t *testing.T) (cases []goldenCase) {
	t.Helper()
	for _, events := range goldenEvents {
		for _, mechanism := range append(mechanisms.Names(), mechanisms.Drawing) {
			if events.name == "squared-paper" && (mechanism == "tree-laplace" || mechanism == "blt") {
				continue // the paper has no constants for it
			}
			only := onlyUnder[events.name]
			if only != "" && mechanism != only {
				continue
			}
			if only == "" && (mechanism == mechanisms.Drawing ||
				strings.HasPrefix(mechanism, "once-") != (events.name == "logistic-ogd")) {
				continue // draws are for rules that draw, single steps for ogd alone
			}
			if strings.HasSuffix(events.name, "-leaves") && strings.HasSuffix(mechanism, "-paper") {
				continue // has one rule for leaves
			}
			cases = append(cases, goldenCase{events.name, mechanism, load(t, goldenEnv(mechanism, events.env)...)})
		}
	}
	return cases
}

// load gives the settings of a replay; env is without the prefix.
func load(t *testing.T, env ...string) settings.Settings {
	t.Helper()
	var environ []string
	for _, line := range env {
		environ = append(environ, "ORIEL_"+line)
	}
	s, err := settings.Load(environ, settings.Events, settings.Operator)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func model(t *testing.T, s settings.Settings) pipeline.Model {
	t.Helper()
	m, err := s.Model()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// replay gives the decisions as `oriel replay --events` writes them.
func replay(t *testing.T, m pipeline.Model, o replayOptions, events []byte) []byte {
	t.Helper()
	stream, err := openReplay(m, o)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := replayLines(t.Context(), &out, bytes.NewReader(events), m, stream, m.Events.MaxBytes, o); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// block is what goldenFile holds of a case: its plan, frozen, the digest of all decisions, and some of them to look at.
func (c goldenCase) block(t *testing.T, plan []byte) string {
	t.Helper()
	m := model(t, c.settings)
	m.Plan = func() ([]byte, error) { return plan, nil }
	name, _, _ := strings.Cut(c.events, "-")
	events, err := os.ReadFile(filepath.Join("testdata/golden", name+".ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	o := replayOptions{seed: strings.Repeat("5eed", 16), partition: 3}
	if c.settings.UserID != "" {
		o.separator, events = "|", byTurns(events)
	}
	if c.plays() {
		o.separator = "|"
	}
	out := replay(t, m, o, events)
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	text := fmt.Sprintf("%v\nplan %x\nsha256 %x, %d decisions\n", c, plan, sha256.Sum256(out), len(lines))
	for _, i := range []int{0, 1, len(lines) / 2, len(lines) - 1} {
		text += lines[i] + "\n"
	}
	return text
}

// byTurns gives the lines to seven users, in turns, some of whom come again too soon.
func byTurns(events []byte) []byte {
	var keyed []byte
	for i, line := range bytes.SplitAfter(events, []byte("\n")) {
		if len(line) > 0 {
			keyed = append(fmt.Appendf(keyed, "user %d|", (i-i%5/4)%7), line...)
		}
	}
	return keyed
}

// goldenBlocks reads goldenFile: the blocks by case.
func goldenBlocks(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	blocks := map[string]string{}
	for block := range strings.SplitSeq(string(text), "\n\n") {
		block = strings.TrimSuffix(block, "\n") + "\n"
		name, _, _ := strings.Cut(block, "\n")
		blocks[name] = block
	}
	return blocks
}

// goldenPlan takes the plan out of a block. A plan is calibrated by functions that may differ in the last bit between
// platforms, and so it is data here as it is in an incarnation.
func goldenPlan(t *testing.T, block string) []byte {
	t.Helper()
	_, rest, _ := strings.Cut(block, "\nplan ")
	text, _, _ := strings.Cut(rest, "\n")
	plan, err := hex.DecodeString(text)
	if err != nil || len(plan) == 0 {
		t.Fatalf("%s: no plan in the block: %q", goldenFile, block)
	}
	return plan
}

// TestGoldenDecisions: every build on every CPU writes these bytes. -rewrite replaces them, which forks every
// deployment: formats are changed by adding a version.
func TestGoldenDecisions(t *testing.T) {
	if *rewrite {
		rewriteGolden(t)
	}
	blocks := goldenBlocks(t)
	cases := goldenCases(t)
	if len(blocks) != len(cases) {
		t.Errorf("%d blocks for %d cases", len(blocks), len(cases))
	}
	for _, c := range cases {
		want, ok := blocks[c.String()]
		if !ok {
			t.Errorf("%v: no block", c)
			continue
		}
		got := c.block(t, goldenPlan(t, want))
		if got == want {
			continue
		}
		wanted := strings.Split(want, "\n")
		for i, line := range strings.Split(got, "\n") {
			if i >= len(wanted) || line != wanted[i] {
				t.Errorf("%v: line %d of the block:\n got %s\nwant %s", c, i+1, line, strings.Join(wanted[min(i, len(wanted)):min(i+1, len(wanted))], ""))
			}
		}
	}
}

func rewriteGolden(t *testing.T) {
	t.Helper()
	var blocks []string
	for _, c := range goldenCases(t) {
		blocks = append(blocks, c.block(t, c.plan(t)))
	}
	if err := os.WriteFile(goldenFile, []byte(strings.Join(blocks, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
}
