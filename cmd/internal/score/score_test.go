package score

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"oriel/operators/loss"
	"oriel/schemas/decision"
	"oriel/schemas/event"
	"oriel/schemas/text"
)

const dimension = 8

func described() Descriptor {
	d := Descriptor{
		Predicts: LogOdds,
		Vector:   Vector{Version: 1, Dimension: dimension, Bias: true, Norm: "unit", Ranges: []Range{{"hour", 0, 24, true}}},
		Noise:    &Noise{[]uint64{1, 2, 4}, []float64{4, 2, 1}},
	}
	d.Names = d.Vector.names()
	return d
}

func config(d Descriptor) event.Config {
	body, _ := loss.Body("squared", dimension)
	return event.Config{
		Body: body, Dimension: dimension, MaxBytes: 1 << 10, Features: d.Vector.Features(), Unlabelled: true,
	}
}

func opened(t testing.TB, d Descriptor) event.Decoder {
	t.Helper()
	decoder, err := event.OpenDecoder(config(d))
	if err != nil {
		t.Fatal(err)
	}
	return decoder
}

// decision returns a decision of a stream with weights 1, 2, 3, …
func decisionLine(stream string, step uint64, extras ...decision.Extra) []byte {
	values := make([]decision.ExtraValue, len(extras))
	for i, x := range extras {
		if x.Kind == decision.ExtraNumbers {
			values[i].Numbers = []float64{1, 2, 3, 4, 5, 6, 7, 8}
		}
	}
	c := decision.Config{Stream: stream, Mechanism: "blt", Adjacency: "replace", Unit: "event"}
	at := decision.NoTime
	if extras != nil {
		at = 1e12
	}
	return decision.NewEncoder(c, extras).AppendTimed(nil, step, step, at, []float64{1, 2, 3, 4, 5, 6, 7, 8}, values)
}

func taken(t testing.TB, d Descriptor, partitions int, decisions ...[]byte) *Models {
	t.Helper()
	m := NewModels(d, partitions)
	for i, value := range decisions {
		if err := m.Take(int32(i), 5e11, value); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

type answered struct {
	Stream       string
	Step         uint64
	Time         int64
	Clock        string
	Age          float64
	Predicts     string
	Score        float64
	Deviation    *float64
	MaxDeviation float64 `json:"deviation_most"`
	LogOdds      float64 `json:"log_odds"`
	Scores       map[string]float64
	Error        string
}

func read(t testing.TB, text []byte) answered {
	t.Helper()
	var a answered
	if err := json.Unmarshal(text, &a); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return a
}

// TestScoreIsOfTheWeights compares scores with sums by hand, with noise of each kind.
func TestScoreIsOfTheWeights(t *testing.T) {
	v := event.Vector{Indices: []int32{6, 1}, Values: []float64{0.6, -0.8}}
	now := time.UnixMilli(5e11 + 2500)
	value, noise := 0.6*7-0.8*2+10, 1.0 // noise: deviation at step 4 for a vector of norm 1
	p := 1 / (1 + math.Exp(-value))
	for _, c := range []struct {
		change    func(*Descriptor)
		extras    []decision.Extra
		score     float64
		deviation float64
		most      float64
	}{
		{func(*Descriptor) {}, nil, p, noise * p * (1 - p), 0},
		{func(d *Descriptor) { d.Predicts = Mean }, nil, value, noise, 0},
		{func(d *Descriptor) { d.Predicts, d.Bounds = Mean, []float64{0, 11} }, nil, 11, noise, 0},
		{func(d *Descriptor) { d.Predicts, d.Noise = Mean, nil }, nil, value, -1, 0},
		{
			func(d *Descriptor) { d.Predicts, d.Noise = Mean, nil },
			[]decision.Extra{{Name: "deviation", Kind: decision.ExtraNumbers}},
			value, math.Hypot(0.6*7, 0.8*2), 0.6*7 + 0.8*2,
		},
	} {
		d := described()
		d.Offset = 10
		c.change(&d)
		m := taken(t, d, 1, decisionLine("trips", 4, c.extras...))
		model, err := m.Of("", nil)
		if err != nil {
			t.Fatal(err)
		}
		a := read(t, m.AppendAnswer(nil, model, v, now))
		if math.Abs(a.Score-c.score) > 1e-12 || a.Stream != "trips" || a.Step != 4 ||
			math.Abs(a.MaxDeviation-c.most) > 1e-12 {
			t.Errorf("%+v, want %g, most %g", a, c.score, c.most)
		}
		if (a.Deviation == nil) != (c.deviation < 0) || a.Deviation != nil && math.Abs(*a.Deviation-c.deviation) > 1e-12 {
			t.Errorf("%+v: deviation %v, want %g", a, a.Deviation, c.deviation)
		}
		if c.extras == nil && (a.Clock != "record" || a.Age != 2.5) {
			t.Errorf("clock of the record: %+v", a)
		}
		if c.extras != nil && (a.Clock != "events" || a.Time != 1e12) {
			t.Errorf("clock of events: %+v", a)
		}
	}
}

// TestDescriptorMapsRawRecords checks that a published descriptor with a mapping scores raw records like their features
// in the operator's own form. Labels, conditions on them, and members that no path names change nothing. A record that
// another condition leaves out has no score.
func TestDescriptorMapsRawRecords(t *testing.T) {
	d := described()
	answer := func(d Descriptor, record string) answered {
		t.Helper()
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if d, err = ParseDescriptor(text); err != nil {
			t.Fatal(err)
		}
		c, err := d.Events(1 << 10)
		if err != nil {
			t.Fatal(err)
		}
		decoder, err := event.OpenDecoder(c)
		if err != nil {
			t.Fatal(err)
		}
		said, _ := taken(t, d, 1, decisionLine("trips", 4)).appendScored(nil, decoder, []byte(record), "", nil)
		return read(t, said)
	}
	want := answer(d, `{"features":{"carrier":"UA","income":12.5,"hour":1}}`)
	d.Map = json.RawMessage(`{"where":"status!=void","label":"/late>15","members":["weight=/w"],
		"features":["carrier","/order/income:number",{"name":"hour","from":"/time","as":"hour","zone":"+02:00"}]}`)
	raw := `{"id":7,"status":"ok","late":"n/a","w":-1,"carrier":"UA","order":{"income":"12.5"},"time":"2024-05-01T23:30:00Z"}`
	if got := answer(d, raw); want.Error != "" || got.Error != "" || got.Score != want.Score {
		t.Errorf("a raw record: %+v, want %+v", got, want)
	}
	for from, to := range map[string]string{`"ok"`: `"void"`, `"12.5"`: `"n/a"`} {
		if got := answer(d, strings.Replace(raw, from, to, 1)); got.Error == "" {
			t.Errorf("%s in place of %s: %+v", to, from, got)
		}
	}
	d.Map = json.RawMessage(`{"where":["/late!=","status!=void"],"label":"late","features":["carrier"]}`)
	want = answer(described(), `{"features":{"carrier":"UA"}}`)
	for record, scored := range map[string]bool{`{"carrier":"UA"}`: true, `{"carrier":"UA","status":"void","late":1}`: false} {
		if got := answer(d, record); scored && got.Score != want.Score || !scored && got.Error != text.Filtered.String() {
			t.Errorf("a condition on the label, %s: %+v, want %+v", record, got, want)
		}
	}
	d.Map = json.RawMessage(`{"features":["/a/b:nothing",7]}`)
	text, _ := json.Marshal(d)
	if _, err := ParseDescriptor(text); err == nil {
		t.Error("a descriptor with a wrong mapping is read")
	}
}

// TestTimeOfZeroIsATime checks that a decision of events at the very start of 1970 has a time and an age, and that one
// without any time has neither.
func TestTimeOfZeroIsATime(t *testing.T) {
	c := decision.Config{Stream: "trips", Mechanism: "blt", Adjacency: "replace", Unit: "event"}
	for _, at := range []int64{0, decision.NoTime} {
		m := NewModels(described(), 1)
		point := make([]float64, dimension)
		if err := m.Take(0, decision.NoTime, decision.NewEncoder(c, nil).AppendTimed(nil, 1, 1, at, point, nil)); err != nil {
			t.Fatal(err)
		}
		model, err := m.Of("trips", nil)
		if err != nil {
			t.Fatal(err)
		}
		said := string(m.AppendAnswer(nil, model, event.Vector{Values: point}, time.UnixMilli(2500)))
		if timed := strings.Contains(said, `"time":0,"clock":"events","age":2.5,`); timed != (at == 0) || strings.Contains(said, "age") != timed {
			t.Errorf("time %d: %s", at, said)
		}
	}
}

// TestRewardsAreOfEachArm checks the order of weights: those of one arm follow those of the previous arm.
func TestRewardsAreOfEachArm(t *testing.T) {
	d := described()
	d.Predicts, d.Arms, d.Vector.Dimension, d.Offset = Reward, []string{"late", "on time"}, 4, 0.5
	m := taken(t, d, 1, decisionLine("0", 1))
	model, err := m.Of("0", nil)
	if err != nil {
		t.Fatal(err)
	}
	a := read(t, m.AppendAnswer(nil, model, event.Vector{Values: []float64{0, 1, 0, 0}}, time.Now()))
	if len(a.Scores) != 2 || a.Scores["late"] != 2.5 || a.Scores["on time"] != 6.5 {
		t.Errorf("%+v", a)
	}
}

// TestModelsAreFoundByStreamOrKey checks the choice of a model. For a key, it must be the model of the partition that
// Kafka chooses.
func TestModelsAreFoundByStreamOrKey(t *testing.T) {
	m := taken(t, described(), 3, decisionLine("0", 1), decisionLine("1", 7), decisionLine("2", 1))
	for _, c := range []struct {
		stream, key, found string
		err                error
	}{
		{"1", "", "1", nil},
		{"9", "", "", ErrStream},
		{"", "", "", ErrSeveral},
		{"", "JFK", "1", nil},
		{"", "LGA", "0", nil},
		{"", "EWR", "1", nil},
	} {
		var key []byte
		if c.key != "" {
			key = []byte(c.key)
		}
		model, err := m.Of(c.stream, key)
		if err != c.err || err == nil && model.Stream != c.found { //nolint:errorlint // Of returns these errors unwrapped
			t.Errorf("%q %q: %+v, %v", c.stream, c.key, model, err)
		}
	}
	if _, err := NewModels(described(), 1).Of("", nil); err != ErrNone { //nolint:errorlint // it is unwrapped
		t.Error(err)
	}
}

// TestLinesHaveAnAnswerEach checks that each line has an answer, and that answers to bad lines contain nothing of the
// lines.
func TestLinesHaveAnAnswerEach(t *testing.T) {
	m := taken(t, described(), 3, decisionLine("0", 1), decisionLine("1", 7), decisionLine("2", 1))
	in := "JFK\t{\"features\":{\"hour\":3}}\nLGA\t{\"secret\":1}\nno tab\nLGA\t{\"features\":{\"a\":\"b\"},\"label\":7}\n"
	var out bytes.Buffer
	err := m.Lines(strings.NewReader(in), &out, Asked{Decoder: opened(t, m.Descriptor), Longest: 1 << 10, Keyed: true})
	answers := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	leaks := strings.Contains(out.String(), "secret")
	if err == nil || !strings.HasPrefix(err.Error(), "2 of 4") || len(answers) != 4 || leaks {
		t.Fatalf("%v, %s", err, &out)
	}
	if a := read(t, []byte(answers[0])); a.Stream != "1" || a.Step != 7 || a.Predicts != "probability" {
		t.Errorf("%+v", a)
	}
	for i, bad := range []bool{false, true, true, false} {
		if a := read(t, []byte(answers[i])); (a.Error != "") != bad {
			t.Errorf("line %d: %s", i, answers[i])
		}
	}
}

// TestLinesAnswerBeforeTheNextOne checks that each line is answered before the next line is read, because a co-process
// needs this.
func TestLinesAnswerBeforeTheNextOne(t *testing.T) {
	m := taken(t, described(), 1, decisionLine("0", 1))
	asks, in := io.Pipe()
	answers, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- m.Lines(asks, out, Asked{Decoder: opened(t, m.Descriptor), Longest: 1 << 10}) }()
	time.AfterFunc(time.Minute, func() { _ = answers.CloseWithError(io.ErrNoProgress) })
	buffer := make([]byte, 4096)
	for range 3 {
		if _, err := io.WriteString(in, `{"features":{"hour":3}}`+"\n"); err != nil {
			t.Fatal(err)
		}
		n, err := answers.Read(buffer)
		if err != nil || buffer[n-1] != '\n' {
			t.Fatalf("%q, %v", buffer[:n], err)
		}
	}
	_ = in.Close()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// TestServerKeepsItsLimits checks the limits of the server: one path, one method, a largest size of a body, and answers
// without contents of events.
func TestServerKeepsItsLimits(t *testing.T) {
	d := described()
	m := taken(t, d, 3, decisionLine("0", 1), decisionLine("1", 7), decisionLine("2", 1))
	server, err := m.newServer(func() (event.Decoder, error) { return opened(t, d), nil }, Asked{Longest: 64})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method, path, body string
		header             []string
		status             int
	}{
		{"POST", "/score", `{"features":{"hour":3}}`, []string{"Oriel-Key", "JFK"}, 200},
		{"POST", "/score", `{"features":{"hour":3}}`, []string{"Oriel-Stream", "1"}, 200},
		{"POST", "/score", `{"features":{"hour":3}}`, nil, 400},
		{"POST", "/score", `{"features":{"hour":3}}`, []string{"Oriel-Stream", "secret"}, 404},
		{"POST", "/score", `{"features":{"secret":[]}}`, []string{"Oriel-Stream", "2"}, 422},
		{"POST", "/score", strings.Repeat("secret", 20), []string{"Oriel-Stream", "2"}, 413},
		{"GET", "/score", "", nil, 405},
		{"POST", "/metrics", "", nil, 404},
	} {
		r := httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
		if c.header != nil {
			r.Header.Set(c.header[0], c.header[1])
		}
		w := httptest.NewRecorder()
		server.Handler.ServeHTTP(w, r)
		if w.Code != c.status || strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%+v: %d %s", c, w.Code, w.Body)
		}
		if c.status == http.StatusOK {
			if a := read(t, w.Body.Bytes()); a.Stream != "1" {
				t.Errorf("%+v", a)
			}
		}
	}
}

// TestWeightsHaveNamesAndSigns checks that a token with an odd hash counts with a negative sign.
func TestWeightsHaveNamesAndSigns(t *testing.T) {
	d := described()
	d.Named([]string{"carrier=UA", ""})
	m := taken(t, d, 1, decisionLine("0", 4))
	model, err := m.Of("", nil)
	if err != nil {
		t.Fatal(err)
	}
	decoder := opened(t, d)
	var e event.Event
	if code := decoder.Decode(&e, []byte(`{"features":{"carrier":"UA"}}`)); code != text.OK {
		t.Fatal(code)
	}
	sign := e.Vector.Values[0] / math.Abs(e.Vector.Values[0])
	found := false
	all := d.Weights(model)
	for i, w := range all {
		if i > 0 && math.Abs(w.Value) > math.Abs(all[i-1].Value) {
			t.Errorf("not the largest first: %+v", all)
		}
		if strings.Contains(w.Name, "carrier=UA") {
			found = w.Coordinate == int(e.Vector.Indices[0]) && w.Deviation == 1 &&
				(!strings.HasPrefix(w.Name, "carrier") || w.Value == sign*model.Weights[w.Coordinate])
		}
	}
	var out bytes.Buffer
	if err := d.PrintWeights(&out, model, 3); err != nil || !found || strings.Count(out.String(), "\n") != 5 {
		t.Errorf("%v %v\n%s%+v", err, found, &out, all)
	}
}

// TestFilesOfDecisions checks files with the descriptor as first line, and with the descriptor in another file.
func TestFilesOfDecisions(t *testing.T) {
	text, err := json.Marshal(described())
	if err != nil {
		t.Fatal(err)
	}
	lines := fmt.Sprintf("%s\n%s\n", decisionLine("0", 1), decisionLine("0", 2))
	for name, of := range map[string]func() (*Models, error){
		"in front": func() (*Models, error) { return ReadModels(strings.NewReader(string(text)+"\n"+lines), nil) },
		"beside":   func() (*Models, error) { return ReadModels(strings.NewReader(lines), bytes.NewReader(text)) },
	} {
		m, err := of()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if model, err := m.Of("", nil); err != nil || model.Step != 2 || model.Noise != 2 {
			t.Errorf("%s: %+v, %v", name, model, err)
		}
	}
	for _, bad := range []string{lines, "{}\n" + lines, string(text) + "\n{}\n", ""} {
		if m, err := ReadModels(strings.NewReader(bad), nil); err == nil {
			t.Errorf("%q: %+v", bad, m)
		}
	}
}

func TestNoiseBetweenRows(t *testing.T) {
	n := Noise{[]uint64{2, 4, 16}, []float64{8, 4, 1}}
	for step, want := range map[uint64]float64{1: 8, 2: 8, 4: 4, 8: 2, 16: 1, 1000: 1} {
		if got := n.At(step); math.Abs(got-want) > 1e-12 {
			t.Errorf("step %d: %g, want %g", step, got, want)
		}
	}
}

// FuzzLines checks that every line has one answer in valid JSON, and that nothing panics.
func FuzzLines(f *testing.F) {
	f.Add([]byte("{\"features\":{\"hour\":3}}\n\n{\"features\":{\"indices\":[1],\"values\":[1e308]}}"))
	f.Add([]byte("k\t{\"features\":[1,2,3,4,5,6,7,8]}\nk\t{"))
	m := taken(f, described(), 2, decisionLine("0", 1), decisionLine("1", 2))
	f.Fuzz(func(t *testing.T, in []byte) {
		for _, keyed := range []bool{false, true} {
			var out bytes.Buffer
			a := Asked{Decoder: opened(t, m.Descriptor), Longest: 1 << 10, Stream: "1", Keyed: keyed}
			_ = m.Lines(bytes.NewReader(in), &out, a) // the error only counts invalid lines
			want := bytes.Count(in, []byte("\n"))
			if len(in) > 0 && in[len(in)-1] != '\n' {
				want++
			}
			if got := bytes.Count(out.Bytes(), []byte("\n")); got != want {
				t.Fatalf("%d answers to %d lines", got, want)
			}
			for line := range bytes.Lines(out.Bytes()) {
				if !json.Valid(line) {
					t.Fatalf("%q", line)
				}
			}
		}
	})
}

func BenchmarkLine(b *testing.B) {
	m := taken(b, described(), 1, decisionLine("0", 1))
	decoder, answer := opened(b, m.Descriptor), []byte(nil)
	event := []byte(`{"features":{"carrier":"UA","origin":"JFK","hour":17,"distance":1400,"day":"fri","dest":"LAX"}}`)
	b.ReportAllocs()
	for b.Loop() {
		answer, _ = m.appendScored(answer[:0], decoder, event, "", nil)
	}
}
