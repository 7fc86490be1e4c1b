package audit

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"oriel/cmd/internal/audit/attack"
	"oriel/cmd/internal/audit/subject"
	"oriel/cmd/internal/audit/traffic"
	"oriel/cmd/internal/audit/work"
	"oriel/mechanisms"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/operators"
	"oriel/schemas/decision"
)

// TestCanaryRecordsComeInTheStepsBeforeTheirContribution checks that a canary's records come in consecutive steps, one
// record a step, so that the canary's contribution is added in the requested step. Two more records must repeat its
// key, with an event that does not depend on the canary. All other records must be null.
func TestCanaryRecordsComeInTheStepsBeforeTheirContribution(t *testing.T) {
	for name, want := range map[string]struct {
		earliest uint64
		canary   []uint64 // steps of the canary's records, if the contribution is due in step 9
		echoes   []uint64 // steps of the further records under its key
	}{
		"served":            {2, []uint64{8, 9}, []uint64{10}},
		"served in batches": {2, []uint64{8, 9}, []uint64{9, 10}},
		"arms":              {3, []uint64{7}, []uint64{7, 8}},
		"bandit":            {4, []uint64{6}, []uint64{6, 7}},
		"coco":              {1, []uint64{9}, nil},
	} {
		a := subjectOf(t, asConfigured[name]...)
		if a.Earliest() != want.earliest {
			t.Errorf("%s: a contribution at step %d, want %d", name, a.Earliest(), want.earliest)
		}
		p, err := a.Open()
		if err != nil {
			t.Fatal(err)
		}
		var echoes [2][]operators.Record
		for i, canary := range []bool{true, false} {
			if err := p.Begin(3); err != nil {
				t.Fatal(err)
			}
			s := p.Sender(a.Dense(a.Random("direction", 0)), func(step uint64) bool { return step == 9 })
			var carried []byte // key of the canary
			var sent, again, added []uint64
			at := subject.IdentitiesOf(3)
			for step := uint64(1); step <= 14; step++ {
				for place := range int(a.Mechanism.Batch) {
					c, taken := s.At(step, place)
					r := subject.In(c, canary)
					switch {
					case taken && !c.Exchanged:
						again, echoes[i] = append(again, step), append(echoes[i], r)
						if !bytes.Equal(r.Key, carried) {
							t.Errorf("%s: a key comes again that had not come", name)
						}
					case !r.Null || len(r.Key) > 0:
						sent, carried = append(sent, step), r.Key
					}
					r.Identity = at.Next()
					if p.Add(r) {
						added = append(added, step)
					}
				}
			}
			if !slices.Equal(sent, want.canary) || !slices.Equal(again, want.echoes) {
				t.Errorf("%s: sent in steps %v, want %v; again in %v, want %v", name, sent, want.canary, again, want.echoes)
			}
			if due := []uint64{9}; !slices.Equal(added, due) && (canary || !a.Mechanism.Unit.AgainstNull()) {
				t.Errorf("%s: contributions in steps %v, want %v", name, added, due)
			}
		}
		for k, r := range echoes[0] {
			if !slices.Equal(r.Event.Numbers, echoes[1][k].Event.Numbers) {
				t.Errorf("%s: what comes under the canary's key depends on the canary", name)
			}
		}
	}
}

// TestKeysOfTrafficDependOnlyOnTheRun checks that a run has the same keys for all purposes. The contents under the keys
// must differ between purposes, except for common events. Keys must repeat, and contexts must get their rewards.
func TestKeysOfTrafficDependOnlyOnTheRun(t *testing.T) {
	a := subjectOf(t, asConfigured["served in batches"]...)
	play := func(purpose string) (keys []string, numbers [][]float64, same []bool, leaves int) {
		c, err := traffic.Open(a, 60)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Begin(7); err != nil {
			t.Fatal(err)
		}
		c.Traffic.Begin(purpose, 7)
		at := subject.IdentitiesOf(7)
		for i := range 180 {
			if i%3 == 0 {
				c.Traffic.Step()
			}
			r := c.Traffic.Next()
			keys, numbers = append(keys, string(r.Key)), append(numbers, r.Event.Vector.Values)
			same = append(same, c.Traffic.Same)
			if r.Identity = at.Next(); c.Add(r) {
				leaves++
			}
		}
		return keys, numbers, same, leaves
	}
	keys, numbers, same, added := play("crowd")
	others, otherNumbers, _, _ := play("other crowd")
	if !slices.Equal(keys, others) {
		t.Errorf("keys depend on the purpose:\n%v\n%v", keys, others)
	}
	times, common, own := map[string]int{}, 0, 0
	for i, key := range keys {
		times[key]++
		if equal := slices.Equal(numbers[i], otherNumbers[i]); same[i] && !equal {
			t.Errorf("record %d is said to be common, and is not", i)
		} else if same[i] {
			common++
		} else if !equal {
			own++
		}
	}
	again := 0
	for _, n := range times {
		if n > 2 {
			again++
		}
	}
	if again == 0 || common < 10 || own < 10 || added < 20 {
		t.Errorf("%d keys come again, %d common events, %d of the purpose, %d contributions", again, common, own, added)
	}
}

// swapped plants a fault: it changes a machine's input or output.
type swapped struct {
	operators.Machine
	record    func(r operators.Record) operators.Record
	decisions func(all []operators.Decision, last operators.Record)
	last      operators.Record
}

func (s *swapped) Add(r operators.Record) {
	s.last = r
	if s.record != nil {
		r = s.record(r)
	}
	s.Machine.Add(r)
}

func (s *swapped) Close(dst []operators.Decision) []operators.Decision {
	before := len(dst)
	dst = s.Machine.Close(dst)
	if s.decisions != nil {
		s.decisions(dst[before:], s.last)
	}
	return dst
}

// plant plants a fault in the machines of a subject.
func plant(a *subject.Subject, fault swapped) {
	whole := a.Machine
	a.Machine = func(c operators.Operator, params []byte, s *mechanisms.Stream) (operators.Machine, error) {
		m, err := whole(c, params, s)
		f := fault
		f.Machine = m
		return &f, err
	}
}

// TestAuditCatchesSumsThatDifferFromTheReferenceModel plants a contribution that is a thousandth too long. The audit
// must find the fault at ε = 0.1, where no affordable number of runs would show it through the noise.
func TestAuditCatchesSumsThatDifferFromTheReferenceModel(t *testing.T) {
	a := cocoSubject(t, "ORIEL_EPSILON=0.1")
	plant(a, swapped{record: func(r operators.Record) operators.Record {
		r.Event.Weight *= 1.001
		return r
	}})
	refutesIn(t, 20, "a longer contribution", a, "contribution sums", ErrCheck)
}

// TestAuditCatchesActionsOfOtherRecords checks what an action may depend on. It may depend on the context that it
// answers, but not on another record of its step; and its length must not reveal the choice.
func TestAuditCatchesActionsOfOtherRecords(t *testing.T) {
	positive := func(r operators.Record) bool {
		return slices.ContainsFunc(r.Event.Vector.Values, func(x float64) bool { return x > 0 })
	}
	const space, filler = 6, 7 // places among the members of an action, whose own texts and numbers they fill up
	longer := func(change func(extras []decision.ExtraValue)) func([]operators.Decision, operators.Record) {
		return func(all []operators.Decision, last operators.Record) {
			if n := len(all); n > 0 && all[n-1].Output == 0 {
				all = all[:n-1] // without the model, so that the last decision answers the last record
			}
			if n := len(all); n > 0 && positive(last) {
				all[n-1].Extras = slices.Clone(all[n-1].Extras)
				change(all[n-1].Extras)
			}
		}
	}
	for what, fault := range map[string]func(all []operators.Decision, last operators.Record){
		"the first action of a step owes something to its last record": func(all []operators.Decision, last operators.Record) {
			if len(all) > 0 && all[0].Output == 1 && positive(last) {
				all[0].Point = []float64{-1}
			}
		},
		"a model owes something to the last record": func(all []operators.Decision, last operators.Record) {
			if n := len(all); n > 0 && all[n-1].Output == 0 && positive(last) {
				all[n-1].Point[0] += 1e-9
			}
		},
		"an action is longer where there is a context": longer(func(extras []decision.ExtraValue) {
			extras[space].Text += " "
		}),
		"an action is longer in JSON alone": longer(func(extras []decision.ExtraValue) { extras[filler].Number *= 10 }),
		"an action is longer in Protobuf and Avro alone": longer(func(extras []decision.ExtraValue) {
			if extras[filler].Number == 10 {
				extras[space].Text, extras[filler].Number = extras[space].Text+" ", 1
			}
		}),
	} {
		a := subjectOf(t, asConfigured["served in batches"]...)
		plant(a, swapped{decisions: fault})
		refutesIn(t, 20, what, a, "decisions", ErrCheck)
	}
}

// TestDecisionsAreInReach checks that runs continue until several of the steps with the largest number of decisions
// have come after the first contribution. If no affordable run reaches such a step, the audit must say so.
func TestDecisionsAreInReach(t *testing.T) {
	for _, x := range []struct {
		more  []string
		steps uint64
		left  string
	}{
		{nil, 64, ""},
		{[]string{"ORIEL_EMIT_EVERY=90"}, 270, ""},
		{[]string{"ORIEL_EMIT_EVERY=2097152"}, 64, "decisions: none that an event could be in is published in the first 1048576 steps"},
		{[]string{"ORIEL_EMIT_EVERY=7", "ORIEL_WINDOW=horizon", "ORIEL_HORIZON=15", "ORIEL_AGE_WEIGHT=0"}, 15, ""},
	} {
		a, err := cocoSubject(t, x.more...).Deployed()
		if err != nil {
			t.Fatal(err)
		}
		steps, left, err := a.ShownSteps(64)
		if err != nil || strings.Join(left, "") != x.left || steps != x.steps {
			t.Errorf("%v: %d steps, want %d; left %q, %v", x.more, steps, x.steps, left, err)
		}
	}
}

// TestAuditOfContributionsOutOfReach checks that the audit reports contributions that come too late for any run, and
// that the checks that need no contributions still run. The audited stream ends before the first contribution. In the
// long form another one has it beyond the longest run.
func TestAuditOfContributionsOutOfReach(t *testing.T) {
	frequent := slices.DeleteFunc(slices.Clone(asConfigured["served"]), func(line string) bool {
		return strings.HasPrefix(line, "ORIEL_EMIT")
	})
	outOfReach := map[string][]string{
		"attack at step 2: no event of these settings adds": append([]string{"ORIEL_WAIT=1"}, frequent...),
		"attacks: an event adds nothing before step 21": {
			"ORIEL_OPERATOR=bandit", "ORIEL_SET=box", "ORIEL_RADIUS=1", "ORIEL_DIMENSION=2", "ORIEL_SMOOTHING=0.2",
			"ORIEL_RATE=0.1", "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=horizon", "ORIEL_HORIZON=20", "ORIEL_DELAY=20",
		},
	}
	late := []string{
		"ORIEL_OPERATOR=arms", "ORIEL_ARMS=a,b", "ORIEL_MECHANISM=once-gaussian", "ORIEL_WINDOW=lifetime",
		"ORIEL_DELAY=16384",
	}
	if tiertest.Runs(false, true) {
		outOfReach["attacks: an event adds nothing before step 16385"] = late
	} else if at := attack.Positions(subjectOf(t, late...), 0, 0); at != nil {
		t.Errorf("attacks at the steps %d, beyond a run", at)
	}
	for want, lines := range outOfReach {
		a := subjectOf(t, lines...)
		a.Repeated = 2
		r := audited(t, a, work.LeastRuns)
		var out bytes.Buffer
		if err := r.Print(&out); err != nil || r.Err() != nil {
			t.Errorf("%v, %v", err, r.Err())
		}
		said := out.String()
		if !strings.Contains(said, "Not tested with these settings: "+want) || !strings.Contains(said, "\ndecisions ") {
			t.Errorf("want %q in\n%s", want, out.String())
		}
	}
}

// printed returns a result as a table and as JSON.
func printed(t *testing.T, r *Result) (table, document string) {
	t.Helper()
	var text, json bytes.Buffer
	if err := errors.Join(r.Print(&text), r.PrintJSON(&json)); err != nil {
		t.Fatal(err)
	}
	return text.String(), json.String()
}

// TestAuditReportsTooFewRuns checks that an attack with too few runs gives no bound, whatever the runs show, and that
// the text and the JSON output say so.
func TestAuditReportsTooFewRuns(t *testing.T) {
	r := audited(t, cocoSubject(t), 2)
	table, document := printed(t, r)
	if strings.Count(table, "too few runs") != 3*2+2+2 || strings.Contains(table, " 0.000 ") ||
		!strings.Contains(table, "Not tested with these settings: attack at step 1: too few runs, 2.") ||
		!strings.Contains(table, "Step 13: too few runs for the first bound, 2; 0.9 takes about") {
		t.Errorf("%s", table)
	}
	if strings.Count(document, `"too_few_runs": true`) != 6 ||
		!strings.Contains(document, `"attack at step 1: too few runs, 2"`) {
		t.Errorf("%s", document)
	}
	enough := audited(t, cocoSubject(t), 300)
	if len(enough.untested()) > 0 {
		t.Errorf("300 runs: %v", enough.untested())
	}
}

// TestOutputsListWhatIsNotAttacked checks that each output has the list of what no audit examines, and that the
// documentation has the same list.
func TestOutputsListWhatIsNotAttacked(t *testing.T) {
	said, err := os.ReadFile("../../../deploy/PRIVACY.md")
	if err != nil {
		t.Fatal(err)
	}
	flat := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	want := "**Not attacked.** No audit examines these: - " + strings.Join(NotAttacked, " - ") + " ##"
	if !strings.Contains(flat(string(said)), want) {
		t.Errorf("PRIVACY.md does not say: %s", want)
	}
	r := audited(t, cocoSubject(t), 2)
	table, document := printed(t, r)
	for _, what := range NotAttacked {
		if !strings.Contains(table, what) || !strings.Contains(document, what) {
			t.Errorf("the output does not say: %s", what)
		}
	}
}
