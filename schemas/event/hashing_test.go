package event

import (
	"encoding/json"
	"math"
	"os"
	"reflect"
	"testing"

	"oriel/schemas/text"
)

func readJSON(t *testing.T, file string, dst any) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, dst); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

type hashingCase struct {
	Features  [][2]any
	Dimension int
	Bias      bool
	Norm      string
	Ranges    []Range
	Indices   []int32
	Values    []float64
}

func (c hashingCase) config() FeatureConfig {
	return FeatureConfig{Bias: c.Bias, Norm: c.Norm, Ranges: c.Ranges}
}

// TestHashingAgreesWithTheVectors compares hashed features with testdata/hashing.py to the bit, because consumers in
// other languages hash like it.
func TestHashingAgreesWithTheVectors(t *testing.T) {
	var cases []hashingCase
	readJSON(t, "../testdata/hashing.json", &cases)
	if len(cases) < 100 {
		t.Fatalf("%d cases", len(cases))
	}
	for k, c := range cases {
		d, err := NewJSONDecoder(Config{
			Body: testBody("squared"), Dimension: c.Dimension, MaxBytes: 1 << 20, Features: c.config(),
		})
		if err != nil {
			t.Fatal(err)
		}
		var e Event
		if code := d.Decode(&e, c.document(t)); code != text.OK || !reflect.DeepEqual(e.Vector.Indices, c.Indices) ||
			!sameBits(e.Vector.Values, c.Values) {
			t.Errorf("case %d: Decode: %v %v %v, want %v %v", k, code, e.Vector.Indices, e.Vector.Values, c.Indices, c.Values)
		}
	}
}

func (c hashingCase) document(t *testing.T) []byte {
	t.Helper()
	doc := []byte(`{"features":{`)
	for k, f := range c.Features {
		name, err := json.Marshal(f[0])
		if err != nil {
			t.Fatal(err)
		}
		value, err := json.Marshal(f[1])
		if err != nil {
			t.Fatal(err)
		}
		if k > 0 {
			doc = append(doc, ',')
		}
		doc = append(append(append(doc, name...), ':'), value...)
	}
	return append(doc, `},"label":0}`...)
}

func sameBits(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	for k := range a {
		if math.Float64bits(a[k]) != math.Float64bits(b[k]) {
			return false
		}
	}
	return true
}

func TestHashingReportsOverflow(t *testing.T) {
	hashed := func(norm string, numbers ...float64) text.Code {
		h := newHasher(4, FeatureConfig{Norm: norm})
		for _, x := range numbers {
			h.number([]byte("a"), x)
		}
		return h.finish()
	}
	for norm, want := range map[string]text.Code{"unit": text.FeatureOverflow, "none": text.OK} {
		if code := hashed(norm, 1e200); code != want {
			t.Errorf("norm %s: %v, want %v", norm, code, want)
		}
	}
	if code := hashed("none", math.MaxFloat64, math.MaxFloat64); code != text.FeatureOverflow {
		t.Errorf("sum beyond float64: %v", code)
	}
}

// TestUnitFeaturesHaveLengthOne checks that features of norm unit have length 1, whether they were longer or shorter.
// The zero vector stays zero.
func TestUnitFeaturesHaveLengthOne(t *testing.T) {
	for _, x := range []float64{1e-100, 0.25, 1, 7, -1e100} {
		h := newHasher(4, FeatureConfig{Norm: "unit"})
		h.number([]byte("a"), x)
		h.number([]byte("b"), x)
		if code := h.finish(); code != text.OK {
			t.Fatal(code)
		}
		sum := 0.0
		for _, v := range h.values {
			sum += v * v
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("features of %g have the squared length %g", x, sum)
		}
	}
	h := newHasher(4, FeatureConfig{Norm: "unit"})
	if code := h.finish(); code != text.OK || len(h.values) > 0 && h.values[0] != 0 {
		t.Errorf("no features: %v, %v", code, h.values)
	}
}

// TestSinCosTurnIsWithinTwoUlp compares sinCosTurn with correctly rounded values of mpmath.
func TestSinCosTurnIsWithinTwoUlp(t *testing.T) {
	var rows [][3]float64
	readJSON(t, "../testdata/turns.json", &rows)
	worst := 0.0
	for _, row := range rows {
		s, c := sinCosTurn(row[0])
		for k, pair := range [][2]float64{{s, row[1]}, {c, row[2]}} {
			ulp := math.Nextafter(math.Abs(pair[1]), 2) - math.Abs(pair[1])
			worst = max(worst, math.Abs(pair[0]-pair[1])/ulp)
			if math.Abs(pair[0]-pair[1]) > 2*ulp || math.Signbit(pair[0]) && pair[0] == 0 {
				t.Errorf("part %d of turn %v: %v, want %v", k, row[0], pair[0], pair[1])
			}
		}
	}
	t.Logf("%d turns, worst error %.2f ulp", len(rows), worst)
}

func TestParseRanges(t *testing.T) {
	f := func(text string, want []Range, ok bool) {
		t.Helper()
		got, err := ParseRanges(text)
		if (err == nil) != ok || ok && !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	f("", nil, true)
	f("distance:0:5000,hour:0:24:cyclic", []Range{{"distance", 0, 5000, false}, {"hour", 0, 24, true}}, true)
	f("a:b:-1.5:2e3", []Range{{"a:b", -1.5, 2000, false}}, true)
	f("a: 0:+01", []Range{{"a", 0, 1, false}}, true)
	f(":0:1", []Range{{"", 0, 1, false}}, true)
	f("cyclic:0:1", []Range{{"cyclic", 0, 1, false}}, true)
	for _, bad := range []string{
		"a", "a:1", "a:1:1", "a:2:1", "a:0:x", "a:x:0", "a:0:1,a:0:2", "a:0:1,", "a:0:Inf", "a:NaN:1", "a:0:0x10", "a:0:1_0",
		"a:-1e308:1e308", "a:0:1e999", "a:0:1:Cyclic", "a:0:1:",
	} {
		f(bad, nil, false)
	}
}
