package decision

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

var testDecision = Decision{
	Config: Config{
		Stream: "0", Incarnation: [16]byte{0xab, 1, 15: 0xff}, Mechanism: "tree-gaussian", Window: 1024, Batch: 1,
		Epsilon: 1, Delta: 1e-6, Adjacency: "replace", Unit: "event",
	},
	Index: 7, Step: 7, Point: []float64{0.5, -1e-7, 0, 3},
}

// goldenDecision pins the bytes of the wire format.
const goldenDecision = `{"stream":"0","incarnation":"ab0100000000000000000000000000ff","index":7,"step":7,"decision":[0.5,-1e-7,0,3],` +
	`"mechanism":"tree-gaussian","window":1024,"batch":1,"epsilon":1,"delta":0.000001,"adjacency":"replace","unit":"event"}`

func TestEncoderWritesTheGoldenDecision(t *testing.T) {
	got := NewEncoder(testDecision.Config, nil).Append([]byte("x"), testDecision.Index, testDecision.Step,
		testDecision.Point, nil)
	if string(got) != "x"+goldenDecision {
		t.Errorf("%s", got)
	}
}

// TestEncoderAgreesWithEncodingJSON compares an Encoder with encoding/json on a struct that has the members in the same
// order.
func TestEncoderAgreesWithEncodingJSON(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		d := testDecision
		d.Stream = "3/a<b>\"\\\n\u2028é"
		d.Index, d.Step, d.Window, d.Batch = rng.Uint64(), rng.Uint64(), rng.Uint64(), rng.Uint64()
		d.Epsilon, d.Delta = rng.ExpFloat64(), math.Exp(-40*rng.Float64())
		d.Point = make([]float64, rng.IntN(20))
		for k := range d.Point {
			d.Point[k] = math.Ldexp(rng.NormFloat64(), rng.IntN(160)-80)
		}
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(struct {
			Stream      string    `json:"stream"`
			Incarnation string    `json:"incarnation"`
			Index       uint64    `json:"index"`
			Step        uint64    `json:"step"`
			Decision    []float64 `json:"decision"`
			Mechanism   string    `json:"mechanism"`
			Window      uint64    `json:"window"`
			Batch       uint64    `json:"batch"`
			Epsilon     float64   `json:"epsilon"`
			Delta       float64   `json:"delta"`
			Adjacency   string    `json:"adjacency"`
			Unit        string    `json:"unit"`
		}{
			d.Stream, hex.EncodeToString(d.Incarnation[:]), d.Index, d.Step, d.Point, d.Mechanism, d.Window, d.Batch, d.Epsilon,
			d.Delta, d.Adjacency, d.Unit,
		}); err != nil {
			t.Fatal(err)
		}
		got := NewEncoder(d.Config, nil).Append(nil, d.Index, d.Step, d.Point, nil)
		if string(got)+"\n" != want.String() {
			t.Fatalf("%s\n%s", got, want.String())
		}
		for _, line := range [][]byte{got, want.Bytes()} {
			if back, err := Parse(line); err != nil || !reflect.DeepEqual(back, d) {
				t.Fatalf("%v: %+v, want %+v", err, back, d)
			}
		}
	}
}

func TestParseDecisionRefuses(t *testing.T) {
	f := func(old, replacement string) {
		t.Helper()
		line := strings.Replace(goldenDecision, old, replacement, 1)
		if line == goldenDecision {
			t.Fatalf("%q does not occur", old)
		}
		if _, err := Parse([]byte(line)); err == nil {
			t.Errorf("%s is taken", line)
		}
	}
	f(`{`, ` {`)
	f(`"stream":"0"`, `"stream":0`)
	f(`"stream":"0"`, `"stream":null`)
	f(`"index":7`, `"index":-7`)
	f(`"index":7`, `"index":07`)
	f(`"index":7`, `"index":7.0`)
	f(`"index":7`, `"index":18446744073709551616`)
	f(`"index":7`, `"index":`)
	f(`ab01`, `zz01`)
	f(`ab01`, `ab0`)
	f(`[0.5,`, `[0.5,,`)
	f(`3]`, `3,]`)
	f(`3]`, `1e999]`)
	f(`3]`, `null]`)
	f(`,"unit":"event"`, ``)
	f(`"event"}`, `"event"`)
	f(`"event"}`, "\"event\"}\n\n")
	f(`"event"}`, `"event",}`)
	f(`"event"}`, `"event",x:1}`)
	f(`"event"}`, `"event","x"}`)
	f(`"event"}`, `"event","x":}`)
	f(`"event"}`, `"event","x": 1}`)
	f(`"event"}`, `"event","x":1,"x":2}`)
	f(`"event"}`, `"event","x":1,"\u0078":2}`)
	f(`"event"}`, `"event","step":8}`)
	f(`"event"}`, `"event","x":nul}`)
	f(`"event"}`, `"event","x":01}`)
	f(`"event"}`, `"event","x":[1}}`)
	f(`"event"}`, `"event","x":{"a" 1}}`)
	f(`"event"}`, `"event","x":{1:2}}`)
	f(`"event"}`, `"event","x":"\ud800"}`)
	f(`"event"}`, `"event","x":`+strings.Repeat("[", 8)+strings.Repeat("]", 8)+`}`)
	f(`"mechanism"`, `"x":1,"mechanism"`)
	f(`event`, "\xff")
	f(`event`, `\ud800`)
	if _, err := Parse(nil); err == nil {
		t.Error("nothing is taken")
	}
}

func FuzzParseDecision(f *testing.F) {
	f.Add([]byte(goldenDecision))
	f.Add([]byte(goldenDecision + "\n"))
	f.Add([]byte(goldenSparse))
	f.Add([]byte(strings.Replace(goldenSparse, `3,0.5,-1e-7],"indices":[[3],[0,5],[1]`, `],"indices":[`, 1)))
	f.Add([]byte(strings.Replace(goldenDecision, "0.5,-1e-7,0,3", "", 1)))
	f.Add(append([]byte(goldenDecision[:len(goldenDecision)-1]), `,"arm":"a\u0062","more":[1e999, {"x":null}]}`...))
	f.Fuzz(func(t *testing.T, line []byte) {
		d, err := Parse(line)
		if err != nil {
			return
		}
		if !json.Valid(line) {
			t.Fatal("not JSON")
		}
		canonical := d.appendJSON(nil)
		again, err := Parse(canonical)
		if err != nil {
			t.Fatalf("own output refused: %s", canonical)
		}
		if second := again.appendJSON(nil); !bytes.Equal(canonical, second) {
			t.Fatalf("%s\n%s", canonical, second)
		}
	})
}

func TestAppendAllocatesNothing(t *testing.T) {
	e := NewEncoder(testDecision.Config, testExtras)
	point := []float64{0.1, 1e-9, 3, math.Pi}
	dst := e.Append(nil, 1, 1, point, testValues)
	if n := testing.AllocsPerRun(100, func() { dst = e.Append(dst[:0], 1, 1, point, testValues) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
