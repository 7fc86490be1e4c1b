package aggregate

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"oriel/mechanisms"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/aggregate/block"
	"oriel/operators/aggregate/dimension"
	"oriel/operators/aggregate/trial"
	"oriel/operators/setting"
	"oriel/schemas/event"
	"oriel/schemas/text"
)

// Definition is the entry of aggregate in the registry of operators.
var Definition = operators.Definition{
	Name: "aggregate", Text: "numbers with errors: counts, sums, means, variances, quantiles, differences by public cell",
	ByClock: true, Settings: settings, Events: events, Values: values, New: configure,
}

var settings = slices.Concat([]setting.Row{
	{
		Name: "CELLS", Kind: setting.List, Unit: "column=…,…", Decodes: true, Entry: cellsEntry,
		Range: "column=text|text|… or column=from:to:bins, the column a lower-case name",
		Text: "dimensions of cells, columns of events: a list of texts, or a range in equal bins. Cells are " +
			"their product. Not set: one cell",
	},
	{
		Name: "VALUE", Kind: setting.Text, Form: func(text string) bool { _, _, _, ok := parseValue(text); return ok }, Unit: "column=low:high", Range: "a lower-case name, ends up to 1e12 in size",
		Decodes: true,
		Text:    "the column of values that are summed, and its public range: values outside are clamped to it",
	},
	{
		Name: "STATISTICS", Kind: setting.List, Unit: "name,…", Default: count, Decodes: true, Entry: statisticEntry,
		Range: "count, sum, mean, variance, pQ for Q from 0.01 to 99.99, each once, *weight from 0.001 to 1000 behind it if it is not 1; persons alone",
		Text: "statistics of each cell, in this order; for all but count and persons ORIEL_VALUE must be set. p50 is the median. " +
			"A greater weight is more exact. persons: different users, each once in a cell in a period of ORIEL_USER_PERIOD",
	},
	{
		Name: "PERSON_CELLS", Kind: setting.Count, Unit: "cells", Bounds: setting.From(1, math.MaxUint16), Default: "1",
		Text: "m, with ORIEL_STATISTICS=persons: in how many cells a person counts in a period, the first ones that the person " +
			"is in. Noise grows m-fold with once-laplace, and by the root of m with once-gaussian",
	},
	{
		Name: "ELSEWHERE", Kind: setting.Text, Unit: "name", Choices: []string{
			"null",
			"other",
		}, Default: "null", Decodes: true,
		Text: "events in no cell count nowhere (null), or in one more cell, the last (other)",
	},
	{
		Name: "WEIGHT_MAX", Kind: setting.Number, Unit: "weight",
		Bounds: setting.From(0, 1e6), Default: "0", Decodes: true,
		Text: "largest weight of an event: heavier ones are clamped to it. 0: events have no weight, each counts 1",
	},
	{
		Name: "BINS", Kind: setting.Count, Unit: "bins",
		Bounds: setting.From(2, 1024), Default: "64", Decodes: true,
		Text: "number of bins of equal width over ORIEL_VALUE's range, for quantiles; a quantile is known to one bin at best",
	},
	{
		Name: "ARMS", Kind: setting.Text, Form: dimension.IsName,
		Unit: "column", Range: "a column of ORIEL_CELLS", Decodes: true,
		Text: "the column whose first entry is the control. Decisions have differences of means and shares, " +
			"with intervals of privacy's noise: not a test, and no effect",
	},
	{
		Name: "MEMORIES", Kind: setting.List, Unit: "steps,…", Range: "2 to 1048576, each once", Entry: memoryEntry,
		Text: "memories of the decayed sums, which all come from one release. Memories other than ORIEL_MEMORY " +
			"cost accuracy, but no privacy. Not set: ORIEL_MEMORY alone",
	},
	{
		Name: "INCREMENTS", Kind: setting.Flag, Unit: "bool", Default: "false",
		Text: "with ORIEL_MEMORY, once-gaussian or once-laplace: publish the released increments too, so that others can sum " +
			"them over windows of their own, also for variances and quantiles",
	},
	setting.EmitEvery("1", "number of steps between two decisions; a decision has the sum of their increments. A larger number gains no privacy. 1 with once-gaussian or once-laplace"),
}, trial.Settings)

func cellsEntry(text string) (string, bool) {
	d, ok := dimension.Parse(text)
	if !ok {
		return "", false
	}
	return d.Canonical(), true
}

func statisticEntry(text string) (string, bool) {
	name, weight, ok := parseStatistic(text)
	if ok && weight != 1 {
		name += "*" + setting.Decimal(weight)
	}
	return name, ok
}

func memoryEntry(entry string) (string, bool) {
	n, err := text.ParseCount(entry)
	return strconv.FormatUint(n, 10), err == nil && n >= 2 && n <= 1<<20
}

// specified reads the settings that define events, and reports each problem with them.
func specified(v *setting.Values) (s specification) {
	names := []string{"weight"}
	for _, entry := range v.Entries("CELLS") {
		d, _ := dimension.Parse(entry)
		v.Want("CELLS", !slices.Contains(names, d.Name), "%s: given twice, or the name of weights", d.Name)
		names, s.dimensions = append(names, d.Name), append(s.dimensions, d)
	}
	s.other = v.Text("ELSEWHERE") == "other"
	if text := v.Text("VALUE"); text != "" {
		s.value, s.low, s.high, _ = parseValue(text)
		v.Want("VALUE", !slices.Contains(names, s.value), "%s: among ORIEL_CELLS too, or the name of weights", s.value)
	}
	var kinds []string
	var weights []float64
	for _, entry := range v.Entries("STATISTICS") {
		name, weight, _ := parseStatistic(entry)
		v.Want("STATISTICS", !slices.Contains(kinds, name), "%s: given twice", name)
		v.Want("STATISTICS", counts(name) || s.value != "", "%s: needs ORIEL_VALUE", name)
		kinds, weights = append(kinds, name), append(weights, weight)
	}
	bins := v.Count("BINS")
	conflict := s.weigh(kinds, weights, int(min(bins, block.MaxBins)))
	v.Want("STATISTICS", conflict == "", "%s: sum and mean have one weight, so have all quantiles, and two are given", conflict)
	v.Want("BINS", bins == 64 || s.weights.Bins > 0, "set, but ORIEL_STATISTICS has no quantile, such as p50")
	v.Want("VALUE", s.value == "" || s.weights.Mean > 0 || s.weights.Bins > 0, "set, but ORIEL_STATISTICS has %s alone",
		strings.Join(kinds, ","))
	s.wantAlone(v)
	s.wantArms(v)
	v.Want("CELLS", len(s.dimensions) > 0 || s.value != "", "not set, and neither is ORIEL_VALUE: events would say nothing")
	s.weightMax = v.Number("WEIGHT_MAX")
	product := 1.0
	for _, d := range s.dimensions {
		product = float64(product * float64(d.Size()))
	}
	v.Want("CELLS", product <= dimension.MaxCells, "%g cells: above %d", product, dimension.MaxCells)
	v.Want("CELLS", len(s.dimensions) <= event.MaxMembers-2, "%d dimensions: above %d", len(s.dimensions),
		event.MaxMembers-2)
	return s
}

// wantAlone refuses what a number of persons cannot be together with. A person counts once in a cell, and other
// statistics take each event.
func (s *specification) wantAlone(v *setting.Values) {
	v.Want("STATISTICS", !s.persons() || len(s.statistics) == 1, "persons: beside other statistics, which take each event of a person; "+
		"take persons alone, and a second deployment for the others")
	v.Want("WEIGHT_MAX", !s.persons() || v.Number("WEIGHT_MAX") == 0, "set, but ORIEL_STATISTICS=persons counts each person 1; leave it out")
}

// wantArms reads the setting of the arms' dimension.
func (s *specification) wantArms(v *setting.Values) {
	if s.arms = v.Text("ARMS"); s.arms == "" {
		return
	}
	i := slices.IndexFunc(s.dimensions, func(d dimension.Dimension) bool { return d.Name == s.arms })
	v.Want("ARMS", i >= 0, "%s: not a column of ORIEL_CELLS", text.Shown([]byte(s.arms)))
	if i < 0 {
		s.arms = ""
		return
	}
	v.Want("ARMS", s.dimensions[i].Size() > 1, "%s: has one place alone, and nothing to compare it with", s.arms)
	v.Want("ARMS", s.dimensions[i].Size() < 2 || s.compared() != nil,
		"%s: nothing of ORIEL_STATISTICS is compared: take mean, or count with a further column in ORIEL_CELLS", s.arms)
}

// body returns the body of events: the dimensions, the value and the weight, by name.
func (s *specification) body() event.Body {
	b := event.Body{Name: "aggregate", Text: "One event: the columns of its cell, and the number that is summed there."}
	for _, d := range s.dimensions {
		m := event.Member{Name: d.Name, Kind: event.KindNumber, Text: "Counted in " + d.Canonical() + "."}
		if d.Choices != nil {
			m.Kind, m.Choices, m.Open = event.KindChoice, d.Choices, true
		}
		b.Members = append(b.Members, m)
	}
	if s.value != "" {
		b.Members = append(b.Members, event.Member{
			Name: s.value, Kind: event.KindNumber,
			Text: "Clamped to " + setting.Decimal(s.low) + " … " + setting.Decimal(s.high) + ".",
		})
	}
	if s.weightMax > 0 {
		b.Members = append(b.Members, event.Member{
			Name: "weight", Kind: event.KindWeight, Optional: true, Default: 1, Text: "Clamped to " + setting.Decimal(s.weightMax) + ".",
		})
	}
	return b
}

func events(v *setting.Values) operators.Events {
	s := specified(v)
	return operators.Events{Body: s.body()}
}

func configure(v *setting.Values) (operators.Operator, error) {
	memory, decays := v.Terms.Scope.Memory()
	silent := *v // a copy that discards reports: the specification's problems are already reported
	silent.Problems = &setting.Problems{}
	c := operator{spec: specified(&silent), terms: v.Terms, increments: v.Flag("INCREMENTS"), every: v.Count("EMIT_EVERY")}
	facts, known := mechanisms.FactsOf(v.Mechanism)
	v.Want("MECHANISM", !known || fits(facts),
		"%s: standard errors are known of blt, once-gaussian and once-laplace; take one of them", v.Mechanism)
	c.perStep = facts.EachStep()
	c.spec.under(facts)
	for _, entry := range v.Entries("MEMORIES") {
		n, _ := strconv.ParseUint(entry, 10, 64)
		v.Want("MEMORIES", !slices.Contains(c.memories, n), "%d: given twice", n)
		c.memories = append(c.memories, n)
	}
	const forgetful = "set, but sums decay with ORIEL_WINDOW=lifetime, ORIEL_MEMORY and ORIEL_MECHANISM=blt only"
	v.Want("MEMORIES", c.memories == nil || decays, forgetful)
	v.Want("INCREMENTS", !c.increments || decays || c.perStep, forgetful+", or steps released alone")
	if c.memories == nil {
		c.memories = []uint64{memory}
	}
	longer := fmt.Sprintf("ORIEL_BATCH=%d makes one of as many events", v.Batch*max(1, c.every))
	if v.Step > 0 {
		longer = "a longer ORIEL_STEP makes one of as much time"
	}
	v.Want("EMIT_EVERY", !c.perStep || c.every == 1, "%d: with %s each step is a window of its own; %s, with less noise", c.every, v.Mechanism,
		longer)
	c.wantPersons(v)
	c.test = trial.Read(v, c.spec.outcomes(), c.spec.weightMax, facts)
	c.wantRoom(v)
	if err := v.Err(); err != nil {
		return nil, err
	}
	c.spec.prepare()
	return c, nil
}

// values returns in how many cells a user counts, or 0 if events count.
func values(v *setting.Values) uint64 {
	for _, entry := range v.Entries("STATISTICS") {
		if name, _, _ := parseStatistic(entry); name == persons {
			return v.Count("PERSON_CELLS")
		}
	}
	return 0
}

// wantPersons checks the settings of persons together with the terms, and sets the boundaries of their periods.
func (c *operator) wantPersons(v *setting.Values) {
	cells := v.Count("PERSON_CELLS")
	if !c.spec.persons() {
		v.Want("PERSON_CELLS", cells == 1, "set, but ORIEL_STATISTICS has no persons; for events of a user set ORIEL_USER_EVENTS")
		return
	}
	unit := c.terms.Unit.Figures()
	v.Want("STATISTICS", c.terms.Unit.Name() == protection.UserPeriod{}.Name(), "persons: whose, and counted once in how long a time, is not set: set ORIEL_STEP in place of ORIEL_BATCH, "+
		"ORIEL_USER_ID and ORIEL_USER_PERIOD")
	v.Want("PERSON_CELLS", cells <= uint64(c.spec.cells()), "%d: more than the %d cells there are, so that noise covers more than anybody can change; "+
		"take %d", cells, c.spec.cells(), c.spec.cells())
	v.Want("INCREMENTS", !c.increments, "set, but numbers of new persons in each step add up as they are; leave it out")
	c.period = &period{
		Seconds: int64(unit.Period) * v.Step, Offset: v.Offset, PersonCells: cells,
	}
}

// drawsAnEvent limits the noise draws per event, because each step draws noise for every coordinate. drawsASecond is
// the limit with steps by the clock.
const drawsAnEvent, drawsASecond = 4096, 1 << 20

// workAnEvent limits the multiplications per event that running counts cost: the cost of a decision divided by its
// number of events. The limit is about 0.1 ms. workASecond is the limit with steps by the clock, about 0.1 s.
const workAnEvent, workASecond = 1 << 17, 1 << 27

// wantRoom refuses shapes that are too large, and names a shape that fits.
func (c *operator) wantRoom(v *setting.Values) {
	n, m := uint64(c.spec.cells()*c.spec.width()), uint64(c.spec.weights.Bins)
	shown := c.spec.numbers() + 2*len(c.spec.bounded())*c.spec.cells() +
		3*len(c.spec.compared())*c.spec.comparison().size()
	shown *= len(c.memories)
	views := len(c.memories)
	if c.increments {
		shown += int(n)
		views++
	}
	work := uint64(views*c.spec.cells()) * m * m / 2
	if v.Step == 0 {
		least, events := (n+drawsAnEvent-1)/drawsAnEvent, v.Batch*max(1, c.every)
		v.Want("BATCH", v.Batch >= least, "%d: %d coordinates are drawn at each step, above %d an event; take ORIEL_BATCH=%d or more, or fewer cells",
			v.Batch, n, drawsAnEvent, least)
		v.Want("BINS", work/workAnEvent <= events, "%d: running counts of all cells at each decision take %d products an event, above %d; take a "+
			"decision each %d events or more, by ORIEL_BATCH or ORIEL_EMIT_EVERY, or fewer bins", m, work/max(1, events), workAnEvent, work/workAnEvent+1)
	} else {
		least := max((n+drawsASecond-1)/drawsASecond, (work+workASecond-1)/workASecond)
		v.Want("STEP", uint64(v.Step) >= least, "%d s: each step draws %d coordinates and takes %d products for quantiles; take %d s or more, "+
			"or fewer cells or bins", v.Step, n, work, least)
	}
	v.Want("CELLS", shown <= setting.MaxDimension, "%d numbers in a decision: above %d; take fewer cells, statistics or memories", shown,
		setting.MaxDimension)
}
