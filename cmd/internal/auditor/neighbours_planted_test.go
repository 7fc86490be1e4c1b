package auditor

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/pipetest"
)

// recordedMachines are those of asConfigured, and one of each further operator and unit.
func recordedMachines() map[string][]string {
	all := maps.Clone(asConfigured)
	maps.Copy(all, map[string][]string{
		"aggregate": {
			"ORIEL_OPERATOR=aggregate", "ORIEL_CELLS=carrier=AA|DL|UA,hour=0:24:2", "ORIEL_VALUE=delay=-60:180",
			"ORIEL_STATISTICS=count,mean", "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=8",
			"ORIEL_MEMORIES=8,4", "ORIEL_EMIT_EVERY=4", "ORIEL_BATCH=2",
		},
		"ridge": {
			"ORIEL_OPERATOR=ridge", "ORIEL_UPDATE=innovation", "ORIEL_RESIDUAL_MAX=100", "ORIEL_DIMENSION=3",
			"ORIEL_LABEL_RANGE=-60:180",
			"ORIEL_MECHANISM=blt", "ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=8",
		},
		"submodular": {
			"ORIEL_OPERATOR=submodular", "ORIEL_RULE=argmax", "ORIEL_PICK=2", "ORIEL_ELEMENTS=5", "ORIEL_MECHANISM=blt",
			"ORIEL_WINDOW=10", "ORIEL_EMIT_EVERY=3", "ORIEL_BATCH=2",
		},
		"submodular draws": {
			"ORIEL_OPERATOR=submodular", "ORIEL_RULE=draws", "ORIEL_MECHANISM=draws", "ORIEL_PICK=2", "ORIEL_ELEMENTS=5",
			"ORIEL_WINDOW=horizon", "ORIEL_HORIZON=64", "ORIEL_EMIT_EVERY=4",
		},
		"sets draws": {
			"ORIEL_OPERATOR=sets", "ORIEL_RULE=draws", "ORIEL_MECHANISM=draws", "ORIEL_PICK=2", "ORIEL_ELEMENTS=a,b,c",
			"ORIEL_WINDOW=horizon", "ORIEL_HORIZON=256", "ORIEL_SHARE=0.5", "ORIEL_DELAY=2",
		},
		"users": {
			"ORIEL_OPERATOR=coco", "ORIEL_UPDATE=projection", "ORIEL_LOSS=linear", "ORIEL_SET=l2-ball", "ORIEL_RADIUS=5",
			"ORIEL_DIMENSION=3", "ORIEL_STRONG_CONVEXITY=0.01", "ORIEL_CLIP=1.5", "ORIEL_MECHANISM=tree-gaussian",
			"ORIEL_WINDOW=8", "ORIEL_USER_ID=key", "ORIEL_USER_SEPARATION=3", "ORIEL_BATCH=2",
		},
		"users for life": {
			"ORIEL_OPERATOR=ridge", "ORIEL_UPDATE=moments", "ORIEL_DIMENSION=2", "ORIEL_LABEL_RANGE=-60:180",
			"ORIEL_MECHANISM=blt", "ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=8", "ORIEL_USER_ID=key",
			"ORIEL_USER_SEPARATION=3", "ORIEL_USER_WINDOW=10",
		},
	})
	return all
}

// plantedInMachines are faults in the source: a text of a file, what stands in its place, and the machine that has it.
var plantedInMachines = []struct{ file, text, other, machine, what string }{
	{
		"mechanisms/stream.go", "\tclear(s.partial)\n\treturn true",
		"\tclear(s.partial[:len(s.partial)-1])\n\treturn true",
		"aggregate", "the last coordinate of a step is added again",
	},
	{
		"mechanisms/stream.go", "\tfor i, x := range leaf {\n\t\ts.partial[i] += x\n\t}",
		"\tfor i, x := range leaf {\n\t\tif s.partial[i] += x; i == 0 {\n\t\t\ts.partial[i] += x\n\t\t}\n\t}",
		"coco", "the first coordinate counts twice",
	},
	{
		"mechanisms/stream.go", "\ts.chain.Absorb(s.Step()+1, s.place, id, s.absorbed(leaf))",
		"\ts.chain.Absorb(s.Step()+1, s.place, id, s.absorbed(leaf)[:0])",
		"bandit", "noise is not that of the history",
	},
	{
		"mechanisms/decay/sum.go", "\tc.sampler.Fill(c.drawn,", "\tfor _, x := range v {\n\t\tif x != 0 {\n\t\t\tclear(c.drawn)\n\t\t}\n\t}\n" +
			"\tif v[0] == 0 {\n\t\treturn\n\t}\n\tc.sampler.Fill(c.drawn,", "coco", "a step without events has no noise",
	},
	{
		"mechanisms/perstep/perstep.go", "\to.sampler.Fill(o.drawn,",
		"\tif v[0] != 0 {\n\t\to.sampler.Fill(o.drawn, chain.Seed(noise.NodeID{Level: 1, Block: o.steps}))\n\t}\n\to.sampler.Fill(o.drawn,",
		"arms", "a draw more where the step has an answer",
	},
	{
		"mechanisms/decay/sum.go", "remembered(c.sums[i], c.decay, u)", "remembered(c.sums[i], c.decay-uint32(x&1), u)",
		"ridge", "how much is forgotten depends on the contribution",
	},
	{
		"mechanisms/blt/sum.go", "m := c.filter.carry(&c.buffers[i], c.drawn[i])",
		"m := c.filter.carry(&c.buffers[i], c.drawn[i]+x/1024)",
		"submodular", "contributions are carried as noise is",
	},
	{
		"mechanisms/lattice/quantise.go",
		"\t\tfor i, x := range v {\n\t\t\tdst[i] = nearest(float64(float64(x*scale) * factor))\n\t\t}\n\t\tif g.Contains(dst) {",
		"\t\tfor i, x := range v {\n\t\t\tdst[i] = nearest(float64(float64(x*scale) * factor))\n\t\t}\n" +
			"\t\tif ok := g.Contains(dst); ok {\n\t\t\tif last := len(v) - 1; factor < 1 {\n" +
			"\t\t\t\tdst[last] = nearest(min(1e9, max(-1e9, float64(v[last]*scale))))\n\t\t\t}",
		"users", "the last coordinate is not clipped",
	},
	{
		"mechanisms/contribution/ball.go", "return lattice.Square(2 * radius), lattice.Square(min(2*radius, g.Lambda))",
		"half := lattice.Square(radius).Add(lattice.Square(radius))\n\treturn half, half",
		"bandit", "the distance of a ball is short by a root of 2",
	},
	{
		"mechanisms/calibration.go", "\treturn replace\n}\n\n// Sensitivity", "\treturn zeroOut\n}\n\n// Sensitivity",
		"aggregate", "the sensitivity of an exchange is that of the null event",
	},
	{
		"mechanisms/structures.go", "total.Mul(total, dp.Exact(float64(windowtree.Depth(t.window)))),", "total,",
		"bandit", "one node of a tree is accounted for all",
	},
	{
		"mechanisms/structures.go", "squares: dp.Float().SetInt(windowtree.Squares(t.window, t.separation(c))),",
		"squares: dp.Float().SetInt(windowtree.Squares(t.window, t.window)),",
		"users", "all events of a user are accounted as one",
	},
	{
		"mechanisms/structures.go", "Separation: separation, Window: c.ExchangeSteps()}",
		"Separation: separation, Window: separation}",
		"users for life", "all events of a user for life are accounted as one",
	},
	{
		"mechanisms/calibration.go", "\t\treturn noise.NewGaussian(s)",
		"\t\treturn noise.NewGaussian(noise.Scale{Mant: s.Mant, Exp: s.Exp - 1})",
		"coco", "noise of half the scale",
	},
	{
		"mechanisms/exponential.go", "\treturn 2 * b\n}\n\n// drawSensitivity", "\treturn b\n}\n\n// drawSensitivity",
		"submodular draws", "scores move by twice of what draws account for",
	},
	{
		"mechanisms/exponential.go", "\t\td.totals[i] += partial[i]", "\t\td.totals[i] += 2 * partial[i]",
		"sets draws", "totals of draws count each contribution twice",
	},
	{
		"state/users/limiter.go", "\tif _, near := l.last[id]; near {\n\t\treturn false\n\t}\n", "", "users",
		"a user who comes too soon is accepted",
	},
	{
		"state/users/limiter.go", "if step-e.step < l.separation {", "if step-e.step+1 < l.separation {",
		"users for life", "a user is forgotten a step early",
	},
	{
		"pipeline/streams/walk.go", "\t\treturn schemas.TooSoon, nil", "\t\treturn schemas.OK, nil", "users",
		"an event that comes too soon is taken",
	},
	{
		"operators/actions/table.go", "t.step - min(t.step, t.config.Delay) }", "t.step - min(t.step, t.config.Delay-1) }",
		"arms", "answers are added before their round is settled",
	},
	{
		"operators/actions/table.go", "\t\tr := t.at(n)\n\t\tclear(r.used)",
		"\t\tr := t.at(n)\n\t\tif r.values[0] > 0 {\n\t\t\tt.step++\n\t\t}\n\t\tclear(r.used)",
		"sets", "the round that comes next depends on an answer",
	},
	{
		"operators/pending/table.go", "\treturn t.give(at, taken), Done",
		"\trow := t.give(at, waiting)\n\tcopy(t.valuesAt(at), row.Values)\n\treturn row, Done", "served",
		"each further reward under a key adds its context again",
	},
	{
		"operators/linucb/serve.go", "\tif m.table.Put(r.Key, t, m.row) != pending.Done {",
		"\tif r.Null || m.table.Put(r.Key, t, m.row) != pending.Done {",
		"served", "a context that says nothing does not wait",
	},
	{
		"operators/linucb/serve.go", "\textras[atSpace].Text = m.spaces[length:]", "\textras[atSpace].Text = m.spaces[:0]",
		"served in batches", "how long an action is depends on the choice",
	},
	{
		"operators/linucb/serve.go", "\tm.answer(r.Key, int(m.row[0]), toContext)\n\treturn false",
		"\tm.answer(r.Key, int(m.row[0]), toContext)\n\tcopy(leaf[len(leaf)-len(m.row):], m.row[1:])\n" +
			"\treturn m.row[0] >= 0",
		"served in batches", "a context adds a contribution, and its reward another",
	},
	{
		"operators/linucb/machine.go", "\tif !m.Stream.Add(r.Identity, leaf) {",
		"\tif leaf != nil && leaf[len(leaf)-1] > m.middle {\n\t\tm.model.doublings++\n\t}\n\tif !m.Stream.Add(r.Identity, leaf) {",
		"served", "the state counts good rewards",
	},
	{
		"operators/aggregate/machine.go", "\tm.decide(t)\n\treturn append",
		"\tm.decide(t)\n\tif !r.Null {\n\t\tm.extras[0].Numbers[0]++\n\t}\n\treturn append",
		"aggregate", "a count is released beside",
	},
	{
		"operators/aggregate/machine.go", "\tfor _, r := range m.readings {\n\t\tr.Take()",
		"\tfor _, of := range m.readings {\n\t\tif r.Null {\n\t\t\tof.Take()\n\t\t}\n\t\tof.Take()",
		"aggregate", "what a view has forgotten depends on the last record",
	},
	{
		"operators/aggregate/block/onehot.go", "near, far := h.distances(coarse)",
		"near, far := h.distances(coarse)\n\tnear = far",
		"aggregate", "the distance of two cells is short by a root of 2",
	},
	{
		"operators/ridge/machine.go", "\tif !m.Stream.Add(r.Identity, m.contribution(r)) {",
		"\tm.doublings += uint64(max(0, min(1, r.Event.Label)))\n\tif !m.Stream.Add(r.Identity, m.contribution(r)) {",
		"ridge", "the public part of the state has something of a label",
	},
	{
		"operators/ridge/machine.go", "prediction := m.middle + float64(m.features*lattice.Dot(leaf[:d], m.point))",
		"prediction := m.middle + float64(m.features*lattice.Dot(leaf[:d], m.point))\n" +
			"\t\tm.point[0] += 1e-9 * r.Event.Label",
		"ridge", "an event moves the weights beside the sums",
	},
	{
		"operators/coco/machine.go", "\tif !m.Stream.Add(r.Identity, adds) {\n\t\treturn dst",
		"\tif adds == nil {\n\t\treturn dst\n\t}\n\tif !m.Stream.Add(r.Identity, adds) {\n\t\treturn dst",
		"coco", "a null record takes no place",
	},
	{
		"operators/coco/machine.go", "\treturn append(dst, operators.Decision{Index: t, Step: t, Point",
		"\tif m.Every > 1 && adds != nil {\n\t\tm.update.point()[0] *= 1 - 1e-12*math.Abs(adds[0])\n\t}\n" +
			"\treturn append(dst, operators.Decision{Index: t, Step: t, Point",
		"coco", "a rare decision has something of the last event",
	},
	{
		"operators/coco/machine.go", "\tif t%m.Every != 0 {\n\t\treturn dst",
		"\tif t%m.Every != 0 && (adds == nil || adds[0] < 1) {\n\t\treturn dst",
		"coco", "a decision is published because of an event",
	},
	{
		"operators/submodular/machine.go", "\tm.rule.write(m.point)\n",
		"\tm.rule.write(m.point)\n\tif len(r.Event.Vector.Values) > 0 && r.Event.Vector.Values[0] > 0 {\n\t\tm.point[0] = 0\n\t}\n",
		"submodular", "a set has what the last event wants",
	},
	{
		"operators/submodular/quantisers.go",
		"\treturn times(g.Size, lattice.Square(2*half)), times(g.Size, lattice.Square(half))",
		"\treturn times(2*g.Size, lattice.Square(half)), times(g.Size, lattice.Square(half))",
		"submodular", "the distance of gains is short by a root of 2",
	},
	{
		"operators/sets/machine.go", "answers, m.Stream.Sum(0)[0])",
		"answers, m.Stream.Sum(0)[0]+1e6*m.contribution[0])", "sets", "a held answer goes to the rule in clear",
	},
	{
		"operators/sets/machine.go", "\tif p.cell < 0 {\n\t\treturn nil // what",
		"\tif p.cell < 0 || a.Value > 0.4 {\n\t\tm.at(m.table.Step()).stage++\n\t\treturn nil // what",
		"sets draws", "the state marks rounds with good answers",
	},
	{
		"operators/bandit/machine.go", "\tm.move(m.table.Step())\n",
		"\tif adds != nil {\n\t\tm.move(m.table.Step())\n\t}\n",
		"bandit", "the centre moves if the last record has an answer",
	},
	{
		"mechanisms/decay/sum.go", "\t\tclear(c.buffers)\n", "\t\tclear(c.buffers[:len(c.buffers)-1])\n", "coco",
		"a reset leaves the buffers of the last coordinate",
	},
	{
		"mechanisms/decay/sum.go", "c.steps%c.period == 0 {", "c.steps == c.period {", "coco",
		"there is one reset, and no other",
	},
	{
		"mechanisms/blt/sum.go", "c.total[i].Add(m).AddInt64(c.drawn[i]))",
		"c.total[i].Add(m).AddInt64(c.drawn[i]*int64(min(1, len(v)-1-i))))", "submodular",
		"the last coordinate is released without its newest noise",
	},
	{
		"mechanisms/windowtree/tree.go", "dst[i] = t.grid.Float64(t.total[i].Add(t.noise[i]))",
		"if dst[i] = t.grid.Float64(t.total[i].Add(t.noise[i])); x == 0 {\n" +
			"\t\t\tdst[i] = t.grid.Float64(t.total[i])\n\t\t}",
		"served in batches", "a coordinate to which nothing is added has no noise",
	},
	{
		"mechanisms/blt/encode.go", "c.buffers[i][k] = s.Buffer(i, k)", "_ = s.Buffer(i, k)", "submodular",
		"a machine that is read back has forgotten noise",
	},
	{
		"pipeline/streams/walk.go", "\tif !s.limiter.Admit(step, user) {",
		"\tif len(r.Value) > 1 && !s.limiter.Admit(step, user) {", "users",
		"a malformed event does not take its user's turn",
	},
	{
		"operators/actions/encode.go", "r.used[i] = binary.LittleEndian.Uint64(b[8*i:])", "_, _ = i, b", "arms",
		"a machine that is read back takes an answer again",
	},
	{
		"operators/base.go", "b.Stream.Restore(state[split:])", "error(nil)", "ridge",
		"a machine that is read back goes on from nothing",
	},
}

// TestFaultsOfMachinesStand: a text that has changed would plant nothing.
func TestFaultsOfMachinesStand(t *testing.T) {
	for _, x := range plantedInMachines {
		pipetest.Plant(t, "../../../"+x.file, x.text, x.other)
		if recordedMachines()[x.machine] == nil {
			t.Errorf("no machine %q", x.machine)
		}
	}
}

// TestNeighboursCatchPlantedFaults builds the check with each fault, which it must find in the machine that has it. It
// takes some minutes, nearly all of them to build.
func TestNeighboursCatchPlantedFaults(t *testing.T) {
	tiertest.Slow(t, "TestFaultsOfMachinesStand")
	for i, x := range plantedInMachines {
		t.Run(fmt.Sprintf("%d %s %s", i, x.machine, x.what), func(t *testing.T) {
			overlay := pipetest.Plant(t, "../../../"+x.file, x.text, x.other)
			said, ok := pipetest.GoTool(t, "test", "-overlay", overlay, "-run",
				"^TestNeighbours$/^"+strings.ReplaceAll(x.machine, " ", "_")+"$", ".")
			t.Log(said)
			if ok || !strings.Contains(said, "FAIL: TestNeighbours/") {
				t.Errorf("not found: %s", said)
			}
		})
	}
}

// checkedNeighbours returns the check of the machine as the settings say it.
func checkedNeighbours(t *testing.T, a *Subject) Check {
	t.Helper()
	deployed, err := a.deployed()
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	c, err := deployed.neighbours()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %d pairs in %s: %s", c.Name, c.Count, time.Since(start).Round(time.Millisecond), c.Found)
	return c
}
