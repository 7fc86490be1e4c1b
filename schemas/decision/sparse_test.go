package decision

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"oriel/schemas/text"
)

// goldenSparse pins the bytes of the wire format.
const goldenSparse = `{"stream":"0","incarnation":"ab0100000000000000000000000000ff","index":7,"step":7,` +
	`"decision":{"dimension":7,"values":[3,0.5,-1e-7],"indices":[[3],[0,5],[1]]},` +
	`"mechanism":"tree-gaussian","window":1024,"batch":1,"epsilon":1,"delta":0.000001,"adjacency":"replace","unit":"event"}`

// sparseDecision returns the decision of goldenSparse.
func sparseDecision() Decision {
	d := testDecision
	d.Form, d.Point = Sparse, []float64{0.5, -1e-7, 0, 3, 0, 0.5, 0}
	return d
}

func TestEncoderWritesTheGoldenSparseDecision(t *testing.T) {
	d := sparseDecision()
	got := NewEncoder(d.Config, nil).Of(d.Stream, d.Incarnation).Append(nil, d.Index, d.Step, d.Point, nil)
	if string(got) != goldenSparse {
		t.Errorf("%s", got)
	}
	back, err := Parse(got)
	if err != nil || !reflect.DeepEqual(back, d) {
		t.Errorf("%v: %+v", err, back)
	}
}

// sparseObject is the form in which encoding/json reads a sparse point.
type sparseObject struct {
	Dimension int       `json:"dimension"`
	Values    []float64 `json:"values"`
	Indices   [][]int   `json:"indices"`
}

// sparsely encodes a decision with the point, and returns the line and its point as text.
func sparsely(t *testing.T, point []float64) (line, object string) {
	t.Helper()
	d := sparseDecision()
	line = string(NewEncoder(d.Config, nil).Append(nil, 1, 1, point, nil))
	_, object, _ = strings.Cut(line, `"decision":`)
	object, _, _ = strings.Cut(object, `,"mechanism"`)
	return line, object
}

// TestSparseIsThePointToTheBit compares appendJSON with encoding/json on mixes of few vertices and on random points. −0
// becomes 0, as in the dense form.
func TestSparseIsThePointToTheBit(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		point := make([]float64, rng.IntN(40))
		for range rng.IntN(4) {
			weight := math.Ldexp(rng.NormFloat64(), rng.IntN(160)-80)
			for i := range point {
				point[i] += weight * float64(rng.IntN(2))
			}
		}
		if len(point) > 0 && rng.IntN(2) == 0 {
			point[rng.IntN(len(point))] = math.Copysign(0, -1)
		}
		line, text := sparsely(t, point)
		var object sparseObject
		if err := json.Unmarshal([]byte(text), &object); err != nil || object.Dimension != len(point) {
			t.Fatalf("%v: %s", err, line)
		}
		if len(object.Values) != len(object.Indices) || !slices.IsSortedFunc(object.Values, func(a, b float64) int {
			return int(math.Copysign(1, b-a))
		}) {
			t.Fatalf("values do not fall, or have no coordinates: %s", text)
		}
		decoded := make([]float64, len(point))
		for k, indices := range object.Indices {
			if len(indices) == 0 || !slices.IsSorted(indices) {
				t.Fatalf("indices of value %d: %s", k, text)
			}
			for _, i := range indices {
				decoded[i] = object.Values[k]
			}
		}
		back, err := Parse([]byte(line))
		dense := NewEncoder(testDecision.Config, nil).Append(nil, 1, 1, point, nil)
		want, errDense := Parse(dense)
		if err != nil || errDense != nil || back.Form != Sparse || want.Form != Dense {
			t.Fatalf("%v, %v: %s", err, errDense, line)
		}
		if !sameBits(back.Point, want.Point) || !sameBits(decoded, want.Point) {
			t.Fatalf("%v, by encoding/json %v, dense %v", back.Point, decoded, want.Point)
		}
		if again, _ := sparsely(t, back.Point); again != line {
			t.Fatalf("%s\n%s", line, again)
		}
	}
}

// TestSparseAgreesWithTheVectors compares sparse decisions with deploy/python/oriel/decisions.py to the bit, because
// consumers in other languages parse like it.
func TestSparseAgreesWithTheVectors(t *testing.T) {
	var cases []struct {
		Dense  []float64
		Sparse sparseObject
	}
	b, err := os.ReadFile("../testdata/decisions.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 50 {
		t.Fatalf("%d cases", len(cases))
	}
	for k, c := range cases {
		line, text := sparsely(t, c.Dense)
		object := sparseObject{}
		if err := json.Unmarshal([]byte(text), &object); err != nil || !reflect.DeepEqual(object, c.Sparse) {
			t.Errorf("case %d: %v: %s, want %+v", k, err, text, c.Sparse)
		}
		if d, err := Parse([]byte(line)); err != nil || !sameBits(d.Point, c.Dense) {
			t.Errorf("case %d: %v: %v, want %v", k, err, d.Point, c.Dense)
		}
	}
}

func TestParseDecisionRefusesOtherTextsOfASparsePoint(t *testing.T) {
	const golden = `{"dimension":7,"values":[3,0.5,-1e-7],"indices":[[3],[0,5],[1]]}`
	f := func(text string) {
		t.Helper()
		line := strings.Replace(goldenSparse, golden, text, 1)
		if line == goldenSparse {
			t.Fatalf("%s is the golden one", text)
		}
		if d, err := Parse([]byte(line)); err == nil {
			t.Errorf("%s is taken: %v", text, d.Point)
		}
	}
	f(`{"dimension":5,"values":[3,0.5,-1e-7],"indices":[[3],[0,5],[1]]}`)          // an index beyond the dimension
	f(`{"dimension":7,"values":[0.5,3,-1e-7],"indices":[[0,5],[3],[1]]}`)          // values must fall
	f(`{"dimension":7,"values":[3,0.5,0.5,-1e-7],"indices":[[3],[0],[5],[1]]}`)    // a value occurs twice
	f(`{"dimension":7,"values":[3,0.5,0,-1e-7],"indices":[[3],[0,5],[2],[1]]}`)    // zero must not be listed
	f(`{"dimension":7,"values":[3,0.5,-1e-400],"indices":[[3],[0,5],[1]]}`)        // a value that underflows to zero
	f(`{"dimension":7,"values":[3,0.5,-1e-7],"indices":[[3],[5,0],[1]]}`)          // indices of a value must rise
	f(`{"dimension":7,"values":[3,0.5,-1e-7],"indices":[[3],[0,0],[1]]}`)          // an index occurs twice for one value
	f(`{"dimension":7,"values":[3,0.5,-1e-7],"indices":[[3],[0,3],[1]]}`)          // one index has two values
	f(`{"dimension":7,"values":[3,0.5,-1e-7],"indices":[[3],[0,5],[]]}`)           // a value without indices
	f(`{"dimension":7,"values":[3,0.5],"indices":[[3],[0,5],[1]]}`)                // fewer values than lists
	f(`{"dimension":7,"values":[3,0.5,-1e-7,-2],"indices":[[3],[0,5],[1]]}`)       // more values than lists
	f(`{"dimension":7,"values":[3,0.5,-1e-7],"indices":[[3],[0,5],[1.0]]}`)        // an index must be a whole number
	f(`{"dimension":7,"values":[3,0.5,-1e-7],"indices":[[3],[0,5],[01]]}`)         // a number with a leading zero
	f(`{"dimension":7,"values":[3,0.5,-1e-7],"indices":[[3],[0,5],1]}`)            // an index outside a list
	f(`{"dimension":7,"values":[3,0.5,-1e-7],"indices":[[3],[0,5,],[1]]}`)         // a list that ends with a comma
	f(`{"dimension":7,"values":[3,0.5,-1e-7],"indices":[[3],[0,5],[1]],"x":1}`)    // an unknown member
	f(`{"values":[3,0.5,-1e-7],"indices":[[3],[0,5],[1]]}`)                        // without the dimension
	f(`{"dimension":7,"indices":[[3],[0,5],[1]],"values":[3,0.5,-1e-7]}`)          // members in another order
	f(`{"dimension":7,"values":[3,0.5,-1e-7]}`)                                    // without indices
	f(`{"dimension":240001,"values":[3,0.5,-1e-7],"indices":[[3],[0,5],[1]]}`)     // a dimension beyond MaxSparse
	f(`{"dimension":7,"values":[3,0.5,-1e-7],"indices":[[3],[0,5],[1]]`)           // an object that is not closed
	f(`{"dimension":1,"values":[3,0.5,-1e-7],"indices":[[0],[0],[0]]}`)            // more values than coordinates
	f(fmt.Sprintf(`{"dimension":7,"values":[3],"indices":[[%d]]}`, uint64(1)<<63)) // an index far beyond the dimension
}

// TestLargestSparseDecisionIsBelowTheRecordLimit uses coordinates that are all different, each as long as a number can
// be.
func TestLargestSparseDecisionIsBelowTheRecordLimit(t *testing.T) {
	point := make([]float64, MaxSparse)
	x := -1.2345678901234567e-107
	for i := range point {
		for len(text.AppendFloat(nil, x)) < 24 {
			x = math.Nextafter(x, -1)
		}
		point[i], x = x, math.Nextafter(x, -1)
	}
	line, _ := sparsely(t, point)
	if len(line) < MaxSparse*32 || len(line) > 8<<20-1<<16 {
		t.Errorf("%d bytes", len(line))
	}
	if d, err := Parse([]byte(line)); err != nil || !sameBits(d.Point, point) {
		t.Errorf("%v", err)
	}
}

func TestAppendSparseAllocatesNothing(t *testing.T) {
	d := sparseDecision()
	e := NewEncoder(d.Config, nil)
	point := make([]float64, 3120)
	for i := range point {
		point[i] = float64(i % 5)
	}
	dst := e.Append(nil, 1, 1, point, nil)
	if n := testing.AllocsPerRun(100, func() { dst = e.Append(dst[:0], 1, 1, point, nil) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func sameBits(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
}
