package operatortest_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/pipetest"
)

// mutants are faults that stories of an operator must see: a text of a file, what stands in its place, and what that
// breaks.
var mutants = []struct{ operator, file, text, other, breaks string }{
	{
		"coco", "mechanisms/blt/sum.go", "AddInt64(x)\n\t\tm := ", "AddInt64(x)\n\t\tvar m lattice.Int128\n\t\t_ = ",
		"noise of earlier steps is not taken back",
	},
	{
		"coco", "mechanisms/blt/encode.go", "c.buffers[i][k] = s.Buffer(i, k)", "_ = s.Buffer(i, k)",
		"the next process has forgotten that noise",
	},
	{
		"coco", "mechanisms/decay/sum.go", "remembered(c.sums[i], c.decay, u)", "c.sums[i].Add(u)",
		"the sum does not forget",
	},
	{
		"coco", "mechanisms/decay/encode.go", "c.steps = steps", "_ = steps",
		"the next process draws the noise of the first steps again",
	},
	{"coco", "state/users/encode.go", "int(count), last", "0, last", "the next process does not know who was there"},
	{
		"coco", "pipeline/streams/walk.go", "record.Event = s.opened.event",
		"record.Event, record.Null = s.opened.event, true",
		"no event says anything",
	},
	{
		"coco", "operators/convex/parts.go", "\treadFloats(o.x, state)\n\treturn nil", "\treturn nil",
		"the next process starts from another mix of paths",
	},
	{
		"coco", "operators/coco/machine.go", "\t\tm.tangent.Project(gradient)\n", "",
		"what all decisions cost takes what the clip allows",
	},
	{
		"coco", "operators/coco/machine.go", "\t\tm.tangent.Project(gradient)\n",
		"\t\tlong := 1.0\n\t\tfor _, g := range gradient {\n\t\t\tlong = math.Hypot(long, g)\n\t\t}\n" +
			"\t\tfor i := range gradient {\n\t\t\tgradient[i] /= long\n\t\t}\n\t\tm.tangent.Project(gradient)\n",
		"costs are shortened before they are projected",
	},
	{
		"coco", "operators/convex/laplacian.go", "l.links[len(l.links)-1].vertex", "l.links[0].vertex",
		"another vertex than the last one is grounded",
	},
	{
		"coco", "operators/convex/circulations.go", "v[edge] -= p[g.to[edge]] - p[g.from[edge]]",
		"v[edge] -= p[g.to[edge]]", "costs lose more than a difference of potentials",
	},
	{
		"coco", "operators/convex/trees.go", "scattered(biconnected(s.vertices, s.from, s.to))", "centred{len(s.from)}",
		"what all edges of a block cost takes what the clip allows",
	},
	{
		"coco", "operators/coco/objective.go", "weight := mechanisms.Weight(o.scope, t)",
		"weight := float64(0*mechanisms.Weight(o.scope, t)) + float64(t)",
		"the regulariser grows for ever, and the sum does not",
	},
	{
		"coco", "operators/convex/trees.go", "o.gains && !(c[edge] < 0)", "o.gains && !(c[edge] < 1)",
		"a forest takes edges that cost",
	},
	{
		"coco", "operators/convex/atmost.go", "if !(c[i] < 0) {", "if !(c[i] < 1) {", "a set takes what costs",
	},
	{
		"coco", "operators/convex/atmost.go", "for range b.pick {", "for range b.n {", "a set takes more than it may",
	},
	{
		"coco", "operators/convex/atmost.go", "c.sum(from, 0) > b.total()", "c.sum(from, 0) > 2*b.total()",
		"a projected point has more than it may",
	},
	{
		"coco", "operators/convex/search.go", "share := min(1, gap/float64(curvature*square))", "share := gap / gap",
		"a searched step goes all the way",
	},
	{
		"aggregate", "operators/aggregate/machine.go", "if !ok || cell < 0 {\n\t\treturn nil\n",
		"if !ok || cell < 0 {\n\t\tcell = 0\n",
		"what is in no cell counts in the first",
	},
	{
		"aggregate", "operators/base.go", "b.Stream.Restore(state[split:])", "error(nil)",
		"the next process starts from nothing",
	},
	{
		"aggregate", "operators/aggregate/machine.go", "\t\tr.Take()\n\t}\n\tt := m.Stream.Step()\n",
		"\t\tif m.Stream.Step()%m.Every == 0 {\n\t\t\tr.Take()\n\t\t}\n\t}\n\tt := m.Stream.Step()\n",
		"a decision has the increments of its last step alone",
	},
	{"arms", "operators/actions/table.go", "*word&bit != 0 || r.count", "r.count", "a second answer counts"},
	{
		"bandit", "operators/actions/table.go", "t.step-n >= max(1, t.config.Delay)", "t.step-n > max(1, t.config.Delay)",
		"a late answer counts",
	},
	{
		"sets", "operators/sets/machine.go", "if p.cell < 0 {\n\t\treturn nil", "if p.cell < -1 {\n\t\treturn nil",
		"what a round told that did not explore reaches the stream",
	},
	{"sets", "operators/sets/halving.go", "*h = *other\n", "", "the next process tries all elements again"},
	{
		"arms", "operators/actions/encode.go", "r.used[i] = binary.LittleEndian.Uint64(b[8*i:])", "_, _ = i, b",
		"the next process does not know which plays are answered",
	},
	{
		"bandit", "operators/bandit/encode.go", "\td.use([seedLen]byte(state))\n", "",
		"the next process plays other directions",
	},
	{
		"bandit", "operators/base.go", "f.v[i] = math.Float64frombits(binary.LittleEndian.Uint64(state[8*i:]))", "_ = i",
		"the next process does not know where an episode has begun",
	},
	{
		"bandit", "operators/bandit/directions.go", "d.tangent.Project(dst)", "_ = dst",
		"directions fill all of R^n, and plays leave the set",
	},
	{
		"bandit", "operators/bandit/params.go", "m := p.Dimension\n", "m := c.Set.Dimension()\n",
		"gradients are scaled by n, and not by the dimension of directions",
	},
	{
		"bandit", "operators/convex/inner.go", "s.scale / math.Sqrt(float64(n*(n-1)))", "s.scale / math.Sqrt(n)",
		"the inner ball of a simplex sticks out of it",
	},
	{
		"bandit", "operators/bandit/machine.go", "share := m.plan.share(episode)", "share := 1.0\n\t_ = episode",
		"centres are not drawn to the middle",
	},
	{
		"bandit", "operators/bandit/machine.go", "m.baseline.add(direction) //",
		"m.baseline.add(direction)\n\t\t\tm.baseline.sums[weights], m.baseline.sums[means] = 1, a.Value //",
		"the baseline of a step knows its losses",
	},
	{
		"bandit", "operators/bandit/baseline.go", "inner + float64(beta*long)", "inner + float64(0*beta*long)",
		"a step's mean loss is found without what it was measured from",
	},
	{
		"bandit", "operators/bandit/encode.go", "b.sums, b.last, b.along}", "b.sums, b.last}",
		"the next process does not know which directions a step has added",
	},
	{
		"bandit", "operators/convex/box.go", "dst[i] = b.high[i]\n\t\tif v > 0 {\n\t\t\tdst[i] = b.low[i]",
		"dst[i] = b.low[i]\n\t\tif v > 0 {\n\t\t\tdst[i] = b.high[i]",
		"low and high ends of a box are exchanged",
	},
	{
		"linucb", "operators/pending/table.go", "return Row{}, Again", "return t.give(at, taken), Done",
		"a second reward counts",
	},
	{"linucb", "operators/pending/table.go", "t.timedOut(at, step):", "t.timedOut(at, step-1):", "a late reward counts"},
	{
		"linucb", "operators/linucb/encode.go", "s.model.restore(release, step, doublings)",
		"s.model.restore(release, step, 0)", "the next process does not know of doublings",
	},
	{
		"linucb", "operators/linucb/params.go", "float64(c.rows.Features)", "float64(c.rows.Features*c.blocks())",
		"weights of an arm are drawn to a norm for the weights of all",
	},
	{
		"linucb", "operators/linucb/params.go", "return max(1, min(mostBefore", "return max(mostBefore, min(mostBefore",
		"weights are as long as before they followed from the dimension",
	},
	{
		"linucb", "operators/linucb/serve.go", "m.blocks() == 1 {", "m.candidates > 0 {",
		"all arms with features are taken for the first",
	},
	{
		"linucb", "operators/linucb/products.go", "float64(c.features * c.products.norm)", "float64(c.features)",
		"weights are not of features as they come",
	},
	{
		"submodular", "operators/submodular/length.go", "Lambda: s.radius(g)}", "Lambda: g.Lambda}",
		"what is gained at a position is drawn to the length of all",
	},
	{
		"ridge", "operators/base.go", "\t*c.n = binary.LittleEndian.Uint64(state)\n", "",
		"the next process does not know of doublings",
	},
	{
		"ridge", "operators/ridge/machine.go", "m.middle + float64(m.features*", "m.middle + float64(0*m.features*",
		"residuals are not against what was published",
	},
	{
		"submodular", "operators/submodular/encode.go", "n.set[i] = int(binary.LittleEndian.Uint32(state[4*i:]))",
		"_ = state[4*i]",
		"the next process counts gains behind another set",
	},
	{
		"submodular", "operators/submodular/rule.go", "before = p.function.with(before, p.values[element], p.pick)",
		"_ = element", "what a set has already gains again",
	},
	{
		"submodular", "operators/submodular/regulariser.go", "switch n.law {\n\tcase mechanisms.Laplace:",
		"switch mechanisms.Laplace {\n\tcase mechanisms.Laplace:", "Gaussian noise has the regulariser of Laplace noise",
	},
	{
		"submodular", "operators/submodular/regulariser.go", "deviation.At, deviation.Worst(),",
		"deviation.At, deviation.At(1),", "the noise of the first step stands for that of all",
	},
	{
		"submodular", "operators/submodular/regulariser.go",
		"\t\tr.relief = math.Float64frombits(binary.LittleEndian.Uint64(b[at+12:]))\n", "",
		"what is frozen of a rate is not what it learns by",
	},
	{
		"submodular", "operators/submodular/regulariser.go", "float64(r.strength*math.Sqrt(n))-r.relief",
		"float64(r.strength*n)-r.relief", "points stand back from sums more and more",
	},
	{
		"submodular", "operators/submodular/leaders.go", "* math.Sqrt(leaders) / m.Budget.Epsilon", "/ m.Budget.Epsilon",
		"each of k leaders has an ε of its own",
	},
	{
		"submodular", "operators/submodular/means.go", "share * (released - m.sums[i])", "share * released",
		"sums of releases stand for their mean",
	},
	{
		"submodular", "operators/submodular/leaders.go", "if !l.printed && slices.Contains",
		"if l.printed && slices.Contains", "an element stands twice",
	},
	{
		"submodular", "operators/submodular/shares.go", "s.to.Project(s.points[i*s.elements:][:s.elements], s.scaled)",
		"copy(s.points[i*s.elements:][:s.elements], s.scaled)", "shares do not add up to the budget",
	},
}

// TestStoriesSeeFaults plants each fault and plays the stories of the operator. It takes some two minutes.
func TestStoriesSeeFaults(t *testing.T) {
	tiertest.Slow(t, "TestFaultsStandInTheSource")
	for i, m := range mutants {
		t.Run(fmt.Sprintf("%d %s", i, m.operator), func(t *testing.T) {
			overlay := pipetest.Plant(t, filepath.Join("../../..", m.file), m.text, m.other)
			if said, ok := pipetest.GoTool(t, "vet", "-overlay", overlay, "oriel/"+filepath.Dir(m.file)); !ok {
				t.Fatalf("%s without %q does not build: %s", m.file, m.text, said)
			}
			if _, ok := pipetest.GoTool(t, "test", "-count=1", "-timeout=1m", "-overlay", overlay,
				"-run", "^TestOperatorStories$/^"+m.operator+"$", "oriel/cmd/internal/operatortest"); ok {
				t.Errorf("%s: %s, and no story of %s sees it", m.file, m.breaks, m.operator)
			}
		})
	}
}

// TestFaultsStandInTheSource: a text that has changed would plant nothing.
func TestFaultsStandInTheSource(t *testing.T) {
	for _, m := range mutants {
		pipetest.Plant(t, filepath.Join("../../..", m.file), m.text, m.other)
	}
}
