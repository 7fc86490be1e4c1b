package protection

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"oriel/mechanisms/dp"
)

// storedCase is a guarantee and its expected stored form: the members before ε, and the ages.
type storedCase struct {
	g    Guarantee
	head string
	ages []uint64
}

// multiplesOf returns the ages of 1, 2 and 5 times powers of ten spans, up to a million.
func multiplesOf(span uint64, before ...uint64) []uint64 {
	ages := before
	for ten := uint64(1); ten <= 1_000_000; ten *= 10 {
		ages = append(ages, ten*span)
		if ten < 1_000_000 {
			ages = append(ages, 2*ten*span, 5*ten*span)
		}
	}
	return ages
}

func storedCases() map[string]storedCase {
	all := map[string]storedCase{}
	cases := twinCases()
	for _, c := range []struct {
		what, head string
		ages       []uint64
	}{
		{
			"pure window",
			`"version":1,"mechanism":"pure","unit":"event","adjacency":"replace","window":8,"batch":3,"separation":0,"horizon":0`,
			multiplesOf(8),
		},
		{
			"pure window of a user",
			`"version":1,"mechanism":"pure","unit":"user","adjacency":"replace","window":8,"batch":3,"separation":3,"horizon":0`,
			multiplesOf(8),
		},
		{
			"pure lifetime",
			`"version":1,"mechanism":"pure","unit":"event","adjacency":"replace","window":16,"batch":3,"separation":0,"horizon":11`,
			[]uint64{11},
		},
		{
			"pure per step",
			`"version":1,"mechanism":"pure","unit":"event","adjacency":"replace","window":0,"batch":3,"separation":0,"horizon":0`,
			nil,
		},
		{
			"gaussian window",
			`"version":1,"mechanism":"gaussian","unit":"event","adjacency":"replace","window":40,"batch":3,"separation":0,"horizon":0`,
			multiplesOf(40, 1),
		},
		{
			"gaussian window of a user",
			`"version":1,"mechanism":"gaussian","unit":"user","adjacency":"replace","window":40,"batch":3,"separation":3,"horizon":0`,
			multiplesOf(40, 1),
		},
		{
			"gaussian lifetime",
			`"version":1,"mechanism":"gaussian","unit":"event","adjacency":"replace","window":16,"batch":3,"separation":0,"horizon":11`,
			[]uint64{1, 11},
		},
		{
			"gaussian lifetime of a user",
			`"version":1,"mechanism":"gaussian","unit":"user","adjacency":"replace","window":16,"batch":3,"separation":3,"horizon":11`,
			[]uint64{1, 11},
		},
		{
			"gaussian decay",
			`"version":3,"mechanism":"gaussian","unit":"event","adjacency":"replace","window":0,"batch":3,"separation":0,"horizon":0,"memory":20`,
			[]uint64{1, 2, 4, 10, 20, 40, 100},
		},
		{
			"gaussian decay of a user",
			`"version":3,"mechanism":"gaussian","unit":"user","adjacency":"replace","window":0,"batch":3,"separation":3,"horizon":0,` +
				`"memory":20,"user_window":30`,
			multiplesOf(20, 1, 2, 4, 10),
		},
		{
			"gaussian decay, no curve",
			`"version":2,"mechanism":"gaussian","unit":"event","adjacency":"replace","window":0,"batch":3,"separation":0,"horizon":0,"memory":20`,
			nil,
		},
		{
			"gaussian per step",
			`"version":1,"mechanism":"gaussian","unit":"event","adjacency":"replace","window":0,"batch":3,"separation":0,"horizon":0`,
			nil,
		},
	} {
		g := cases[c.what]
		if g.Mu > 0 {
			g.Epsilon = dp.GaussianEpsilon(g.Mu, g.Delta) // the twin's figure is below the proved one
		}
		all[c.what] = storedCase{g, c.head, c.ages}
	}
	return all
}

// written returns the stored form by its specification, from numbers of the slow twin.
func written(t *testing.T, c storedCase) string {
	t.Helper()
	number := func(x float64) string {
		b, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	g, mu, rho := c.g, "", dp.PureRho(c.g.Epsilon)
	if g.Mu > 0 {
		mu, rho = `,"mu":`+number(g.Mu), dp.GaussianRho(g.Mu)
	}
	var ages []string
	for _, age := range c.ages {
		_, several := g.Unit.EventSeparation()
		text := fmt.Sprintf(`{"steps":%d`, age)
		if g.Mu > 0 {
			text += `,"mu":` + number(g.Curve.Mu(age))
		}
		text += `,"epsilon":` + number(g.At(age).Epsilon)
		if several && g.Mu > 0 {
			text += `,"mu_all":` + number(g.Curve.(dp.UserCurve).MuAll(age))
		}
		if several {
			text += `,"epsilon_all":` + number(g.AtAll(age).Epsilon)
		}
		ages = append(ages, text+"}")
	}
	return fmt.Sprintf(`{%s,"epsilon":%s,"delta":%s%s,"rho":%s,"ages":[%s]}`,
		c.head, number(g.Epsilon), number(g.Delta), mu, number(rho), strings.Join(ages, ","))
}

func stored(t testing.TB, g Guarantee) []byte {
	t.Helper()
	b, err := AppendGuarantee(nil, g)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestStoredGuaranteesAreWrittenAndComeBack checks the stored form against its specification, and reads it back. The
// losses at the stored ages must be the same, with a bound between them, and after them a bound only for a lifetime
// guarantee.
func TestStoredGuaranteesAreWrittenAndComeBack(t *testing.T) {
	for what, c := range storedCases() {
		b := stored(t, c.g)
		if want := written(t, c); string(b) != want {
			t.Errorf("%s: %s, want %s", what, b, want)
		}
		if behind, err := AppendGuarantee([]byte{9}, c.g); err != nil || !bytes.Equal(behind[1:], b) || behind[0] != 9 {
			t.Errorf("%s: behind a byte: %s, %v", what, behind, err)
		}
		back, err := ParseGuarantee(b)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if again, err := ParseGuarantee(stored(t, back)); err != nil || again != back {
			t.Errorf("%s: comes back as something else: %+v, %v", what, again, err)
		}
		whole := back
		if whole.Curve = c.g.Curve; whole != c.g {
			t.Errorf("%s: %+v, want %+v", what, back, c.g)
		}
		if _, table := back.Curve.(Table); table != (c.g.Curve != nil) {
			t.Errorf("%s: a table: %v", what, table)
		}
		_, several := c.g.Unit.EventSeparation()
		for _, age := range append([]uint64{0}, c.ages...) {
			if got, want := back.At(age), c.g.At(age); got != want {
				t.Errorf("%s: %v at %d steps, want %v", what, got, age, want)
			}
			if several && back.AtAll(age) != c.g.AtAll(age) {
				t.Errorf("%s: all events: %v at %d steps, want %v", what, back.AtAll(age), age, c.g.AtAll(age))
			}
			if got, want := back.At(age+1), c.g.At(age+1); got.Epsilon < want.Epsilon {
				t.Errorf("%s: %v at %d steps, below %v", what, got, age+1, want)
			}
		}
		if back.Curve == nil {
			continue
		}
		far, ever := back.At(1<<60).Epsilon, c.g.Scope.ForLife()
		if ever && far > c.g.Epsilon || !ever && !math.IsInf(far, 1) {
			t.Errorf("%s: ε is %g behind the last age", what, far)
		}
		if _, ends := c.g.Scope.(Lifetime); several && !ends && !math.IsInf(back.AtAll(1<<60).Epsilon, 1) {
			t.Errorf("%s: all events there will ever be have a bound: %v", what, back.AtAll(1<<60))
		}
	}
}

// TestStoredLossesOfALifeEndAtTheWhole checks that no stored loss exceeds the whole. Curves of components are rounded
// up separately, and may exceed the total µ slightly.
func TestStoredLossesOfALifeEndAtTheWhole(t *testing.T) {
	g := storedCases()["gaussian decay"].g
	g.Curve = rising{g.Mu * (1 + 1e-15), 50, 50}
	b := stored(t, g)
	if text := string(b); !strings.HasSuffix(text, fmt.Sprintf(`{"steps":100,"mu":0.25,"epsilon":%v}]}`, g.Epsilon)) {
		t.Error(text)
	}
	if _, err := ParseGuarantee(b); err != nil {
		t.Error(err)
	}
}

// TestStoredGuaranteesOfOneStep checks that the shortest spans are stored as longer ones are: a memory of one step,
// whose loss is reached at once, and users among one step.
func TestStoredGuaranteesOfOneStep(t *testing.T) {
	event := storedCases()["gaussian decay"].g
	event.Scope, event.Curve = Decay{1}, rising{event.Mu, 1, 1}
	user := event
	user.Unit = User{Exchange: dp.Replace, Separation: 1, Steps: 1}
	window := storedCases()["gaussian window"].g
	window.Scope, window.Curve = Window{1}, rising{window.Mu, 1, math.Inf(1)}
	eps := fmt.Sprint(event.Epsilon)
	head := `"mechanism":"gaussian","unit":"event","adjacency":"replace","window":`
	for what, c := range map[string]struct {
		g    Guarantee
		want string
	}{
		"event": {event, `{"version":3,` + head + `0,"batch":3,"separation":0,"horizon":0,"memory":1,"epsilon":` + eps +
			`,"delta":0.000001,"mu":0.25,"rho":0.03125,"ages":[{"steps":1,"mu":0.25,"epsilon":` + eps + `}]}`},
		"user":   {user, `"separation":1,"horizon":0,"memory":1,"user_window":1,`},
		"window": {window, `{"version":1,` + head + `1,`},
	} {
		b := stored(t, c.g)
		if !strings.Contains(string(b), c.want) {
			t.Errorf("%s: %s, want %s", what, b, c.want)
		}
		if _, err := ParseGuarantee(b); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	for old, replacement := range map[string]string{
		`"window":0`: `"window":1`, `"horizon":0`: `"horizon":1`, `"memory":1`: `"memory":1,"user_window":1`,
	} {
		text := strings.Replace(string(stored(t, event)), old, replacement, 1)
		_, err := ParseGuarantee([]byte(text))
		if err == nil || !strings.Contains(err.Error(), "memory 1 with a window") &&
			!strings.Contains(err.Error(), "user window 1") {
			t.Errorf("%s: %v", replacement, err)
		}
	}
	for _, c := range []struct {
		g                      Guarantee
		old, replacement, want string
	}{
		{window, `"horizon":0`, `"horizon":2`, "horizon 2: above window 1"},
		{window, `{"steps":1,"mu":0.25`, `{"steps":1,"mu":0.2`, "age 1: mu is below that of a window"},
		{event, `{"steps":1,"mu":0.25`, `{"steps":1,"mu":0.26`, "age 1: above what is lost for ever"},
	} {
		text := strings.Replace(string(stored(t, c.g)), c.old, c.replacement, 1)
		if _, err := ParseGuarantee([]byte(text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.replacement, err, c.want)
		}
	}
}

// TestStoredGuaranteesHaveRoomForAllAges checks that a Table holds all ages of a long memory.
func TestStoredGuaranteesHaveRoomForAllAges(t *testing.T) {
	g := storedCases()["gaussian decay of a user"].g
	g.Scope = Decay{2000}
	b := stored(t, g)
	if count := strings.Count(string(b), `"steps"`); count != maxAges {
		t.Errorf("%d ages, want %d", count, maxAges)
	}
	if _, err := ParseGuarantee(b); err != nil {
		t.Error(err)
	}
}

// TestStoredAgesAreAges checks a span so long that some multiples exceed the largest age: only the others are stored.
func TestStoredAgesAreAges(t *testing.T) {
	g := Guarantee{Terms: Terms{Window{1 << 62}, event}, Mechanism: "pure", Batch: 1, Epsilon: 1}
	var s storedGuarantee
	if err := json.Unmarshal(stored(t, g), &s); err != nil || len(s.Ages) != 2 || s.Ages[1].Steps != 1<<63 {
		t.Errorf("ages %+v, %v", s.Ages, err)
	}
}

// TestInfiniteLossesAreNull checks that an infinite loss is stored as null, and read back.
func TestInfiniteLossesAreNull(t *testing.T) {
	g := storedCases()["gaussian window"].g
	g.Epsilon, g.Mu, g.Curve = dp.GaussianEpsilon(1000, 1e-6), 1000, rising{1000, 40, math.Inf(1)}
	g.Epsilon = math.Inf(1)
	b := stored(t, g)
	if !strings.Contains(string(b), `"epsilon":null,"delta":0.000001,"mu":1000,`) {
		t.Errorf("%s", b)
	}
	if back, err := ParseGuarantee(b); err != nil || !math.IsInf(back.Epsilon, 1) {
		t.Errorf("%+v, %v", back, err)
	}
}

// TestStoredGuaranteesRefuse breaks each rule of the stored form once, and checks that the error names the problem.
func TestStoredGuaranteesRefuse(t *testing.T) {
	cases := storedCases()
	texts := map[string]string{}
	for what, c := range cases {
		texts[what] = string(stored(t, c.g))
	}
	two := cases["gaussian window of a user"].g.Curve.(dp.UserCurve)
	at80, all80 := fmt.Sprintf(`"steps":80,"mu":%v,`, two.Mu(80)), fmt.Sprintf(`"mu_all":%v,`, two.MuAll(80))
	eps := fmt.Sprint(cases["gaussian window"].g.Epsilon)
	f := func(of, old, replacement, want string) {
		t.Helper()
		text := strings.Replace(texts[of], old, replacement, 1)
		if text == texts[of] {
			t.Fatalf("%s: %q is not in %s", of, old, text)
		}
		got, err := ParseGuarantee([]byte(text))
		if !errors.Is(err, ErrGuarantee) || got != (Guarantee{}) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s, %s for %s: %+v, %v, want %q", of, replacement, old, got, err, want)
		}
	}
	event, user := "gaussian window", "gaussian window of a user"
	life, lives := "gaussian decay", "gaussian decay of a user"
	f(event, `"version":1`, `"version":0`, "version 0: not of memory 0")
	f(event, `"version":1`, `"version":2`, "version 2: not of memory 0")
	f(life, `"version":3`, `"version":4`, "version 4: not of memory 20")
	f(life, `"version":3`, `"version":1`, "version 1: not of memory 20")
	f(life, `"version":3`, `"version":2`, "version 2 with 7 ages")
	f("gaussian decay, no curve", `"version":2`, `"version":3`, "version 3 with 0 ages")
	f(life, `"window":0`, `"window":20`, "memory 20 with a window")
	f(life, `"horizon":0`, `"horizon":20`, "memory 20 with a window, with a horizon")
	f(life, `"mu":0.25,"rho"`, `"mu":0,"rho"`, "or without mu")
	f(lives, `"user_window":30,`, ``, "user window 0 at memory 20, separation 3")
	f(life, `"memory":20`, `"memory":20,"user_window":30`, "user window 30 at memory 20, separation 0")
	f(user, `"horizon":0`, `"horizon":0,"user_window":30`, "user window 30 at memory 0, separation 3")
	f(lives, `"user_window":30`, `"user_window":1099511627777`, "user window 1099511627777: not in")
	f(user, `"unit":"user"`, `"unit":"event"`, `unit "event" at separation 3`)
	f(event, `"unit":"event"`, `"unit":"user"`, `unit "user" at separation 0`)
	f(event, `"adjacency":"replace"`, `"adjacency":"replaced"`, `adjacency "replaced"`)
	f("pure window", `"epsilon":0.5,"delta"`, `"epsilon":0,"delta"`, "epsilon 0, delta 0, mu 0: out of range")
	f("pure window", `"delta":0,`, `"delta":-0,`, "out of range")
	f("pure window", `"delta":0,`, `"delta":1,`, "delta 1, mu 0: out of range")
	f("pure window", `"delta":0,`, `"delta":-0.5,`, "delta -0.5, mu 0: out of range")
	f("pure window", `"delta":0,`, `"delta":0.1,`, "delta 0.1 without mu")
	f(event, `"mu":0.25,"rho"`, `"mu":-0.25,"rho"`, "mu -0.25: out of range")
	f("pure window", `"delta":0,`, `"delta":0,"mu":-0,`, "mu -0: out of range")
	f(event, `"horizon":0`, `"horizon":41`, "horizon 41: above window 40")
	f("pure per step", `"horizon":0`, `"horizon":4`, "horizon 4: not in [1, 0]")
	f("pure per step", `"ages":[]`, `"ages":[{"steps":1,"epsilon":0.5}]`, "1 ages")
	f(event, `"epsilon":`+eps, `"epsilon":0.5`, "epsilon 0.5 is not proved by mu 0.25")
	f(event, `"steps":80`, `"steps":40`, "age 40: out of order")
	f(event, `"steps":1,`, `"steps":0,`, "age 0: out of order")
	f(event, at80, `"steps":80,"mu":0.2,`, "age 80: out of order") // µ falls
	f("pure window", `{"steps":8,`, `{"steps":8,"mu":0.1,`, "age 8: out of order")
	f(event, `{"steps":1,"mu"`, `{"steps":1,"mu_all":0.5,"mu"`, "age 1: out of order")
	f("pure window", `{"steps":8,"epsilon":0.5}`, `{"steps":8,"epsilon":0.5,"epsilon_all":0.5}`, "age 8: out of order")
	f(user, all80, `"mu_all":0.1,`, "age 80: out of order") // µ of all events falls
	f(user, all80, `"mu_all":0.3,`, "age 80: mu is below that of a window")
	f(user, all80, `"mu_all":0.8,`, "age 80: epsilon is not proved by mu")
	f(event, `"mu":0.25,"epsilon"`, `"mu":0.2,"epsilon"`, "age 40: mu is below that of a window")
	f(life, `"mu":0.25,"epsilon"`, `"mu":0.26,"epsilon"`, "age 100: above what is lost for ever")
	f(life, `"epsilon":`+eps+`}]`, `"epsilon":9}]`, "age 100: above what is lost for ever")
	f(event, `"mu":0.25,"epsilon":`+eps, `"mu":0.25,"epsilon":0.5`, "age 40: epsilon is not proved by mu")
	f(event, `"mu":0.25,"epsilon":`+eps, `"mu":0.25,"epsilon":-1`, "age 40: epsilon is not proved by mu")
	f(event, `"delta":0.000001`, `"delta":0.0000010`, "not as it is written")
	f(event, `"mechanism"`, `"mechanisms"`, "unknown field")
	f(event, `"steps":1`, `"steps":"1"`, "cannot unmarshal")
	f(event, `"epsilon":`+eps, `"epsilon":"1"`, "cannot unmarshal")
	f(event, `{"version"`, `{ "version"`, "not as it is written")

	long := texts[event]
	for strings.Count(long, "steps") <= maxAges {
		long = strings.Replace(long, `"ages":[`, `"ages":[{"steps":1},`, 1)
	}
	if _, err := ParseGuarantee([]byte(long)); err == nil || !strings.Contains(err.Error(), "26 ages") {
		t.Errorf("too many ages: %v", err)
	}
	b := texts[event]
	shrunk := regexp.MustCompile(`("steps":\d+,"mu":)[^,]+`).ReplaceAllString(b, "${1}0.0001")
	for _, text := range []string{shrunk, "", "{}", "null", b + " ", b[:len(b)-1], b + "{}"} {
		if got, err := ParseGuarantee([]byte(text)); !errors.Is(err, ErrGuarantee) || got != (Guarantee{}) {
			t.Errorf("%q parses: %v", text, err)
		}
	}
}

// TestWhatIsNoGuaranteeIsNotStored checks that an invalid guarantee is refused, and that dst stays unchanged.
func TestWhatIsNoGuaranteeIsNotStored(t *testing.T) {
	g := storedCases()["pure window"].g
	for want, change := range map[string]func(g *Guarantee){
		"no scope":                 func(g *Guarantee) { g.Scope = nil },
		"window 0":                 func(g *Guarantee) { g.Scope = Window{} },
		"adjacency 0":              func(g *Guarantee) { g.Unit = Event{} },
		"separation 0":             func(g *Guarantee) { g.Unit = User{Exchange: dp.Replace} },
		"out of range":             func(g *Guarantee) { g.Epsilon = 0 },
		"holds draws":              func(g *Guarantee) { g.Draws.Pure = 1 },
		"delta 0.1 without mu":     func(g *Guarantee) { g.Delta = 0.1 },
		"memory 8 with a window, ": func(g *Guarantee) { g.Scope = Decay{8} }, // no mechanism has pure noise under a Decay
	} {
		bad := g
		change(&bad)
		if b, err := AppendGuarantee([]byte("x"), bad); !errors.Is(err, ErrGuarantee) || string(b) != "x" ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %s, %v", want, b, err)
		}
	}
}

// TestTablesBoundWhatTheyHave checks that a table bounds µ between two ages by the later one, and gives no bound after
// the last.
func TestTablesBoundWhatTheyHave(t *testing.T) {
	table := Table{count: 2}
	table.ages[0], table.ages[1] = point{steps: 3, mu: 1, all: 2}, point{steps: 9, mu: 4, all: 8}
	for age, want := range map[uint64]float64{0: 0, 1: 1, 3: 1, 4: 4, 9: 4, 10: math.Inf(1)} {
		if got := table.Mu(age); got != want {
			t.Errorf("Mu(%d) = %g, want %g", age, got, want)
		}
		if got := table.MuAll(age); got != 2*want {
			t.Errorf("MuAll(%d) = %g, want %g", age, got, 2*want)
		}
	}
}

func FuzzParseGuarantee(f *testing.F) {
	for _, c := range storedCases() {
		f.Add(stored(f, c.g))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		g, err := ParseGuarantee(b)
		if err != nil {
			return
		}
		if again, err := AppendGuarantee(nil, g); err != nil || !bytes.Equal(again, b) {
			t.Errorf("%s is written as %s, %v", b, again, err)
		}
		g.At(100)
	})
}
