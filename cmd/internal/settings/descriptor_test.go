package settings

import (
	"encoding/binary"
	"math"
	"reflect"
	"testing"

	"oriel/cmd/internal/score"
	"oriel/mechanisms/noise"
	"oriel/operators"
	"oriel/schemas/event"
	"oriel/schemas/text"
)

func describing(t *testing.T, more ...string) (Settings, score.Descriptor) {
	t.Helper()
	s, err := Load(append([]string{
		"ORIEL_OPERATOR=coco", "ORIEL_UPDATE=projection", "ORIEL_LOSS=logistic", "ORIEL_SET=l2-ball", "ORIEL_RADIUS=1e9",
		"ORIEL_DIMENSION=64", "ORIEL_STRONG_CONVEXITY=0.01", "ORIEL_START_REGULARIZER=3", "ORIEL_MECHANISM=blt",
		"ORIEL_EPSILON=1", "ORIEL_DELTA=1e-6", "ORIEL_CLIP=1", "ORIEL_FEATURES_RANGE=distance:0:5000,hour:0:24:cyclic",
	}, more...), Events, Operator)
	if err != nil {
		t.Fatal(err)
	}
	text, err := s.Descriptor()
	if err != nil {
		t.Fatal(err)
	}
	d, err := score.ParseDescriptor(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s, d
}

// TestDescriptorHasTheNoiseOfWeights compares the published deviation of weights with weights that are pure noise:
// machines process only null events, under many keys. It also checks steps between two rows of the table. With 128 keys
// and 64 coordinates the root mean square has a relative deviation of 1/√(2·8192) = 0.8 %; the test allows 4 such
// deviations.
func TestDescriptorHasTheNoiseOfWeights(t *testing.T) {
	const keys, tolerance = 128, 0.032
	for name, more := range map[string][]string{
		"window": {"ORIEL_WINDOW=16"}, "memory": {"ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=8", "ORIEL_BATCH=2"},
	} {
		t.Run(name, func(t *testing.T) {
			s, d := describing(t, more...)
			learner := s.Learner()
			params, err := learner.Params()
			if err != nil {
				t.Fatal(err)
			}
			open, err := learner.Open(params)
			if err != nil {
				t.Fatal(err)
			}
			squares := map[uint64]float64{1: 0, 5: 0, 41: 0}
			for k := range keys {
				var key [32]byte
				binary.LittleEndian.PutUint64(key[:], uint64(k))
				m, err := open(key)
				if err != nil {
					t.Fatal(err)
				}
				counted := operators.ByCount(m)
				for i := range 41 * s.Batch {
					null := operators.Record{Null: true, Identity: noise.Identity{Offset: int64(i)}}
					for _, made := range counted.Add(nil, null) {
						if _, wanted := squares[made.Step]; wanted {
							for _, x := range made.Point {
								squares[made.Step] += x * x
							}
						}
					}
				}
			}
			for step, total := range squares {
				got := math.Sqrt(total / (keys * 64))
				if want := d.Noise.At(step); math.Abs(got/want-1) > tolerance {
					t.Errorf("step %d: deviation %g, published %g", step, got, want)
				}
			}
		})
	}
}

// TestDescriptorTableIsTheFunction compares the published table of deviations with the function from which it is made.
// Between its rows and at far later steps, the table must agree to within a thousandth.
func TestDescriptorTableIsTheFunction(t *testing.T) {
	for _, more := range [][]string{{"ORIEL_WINDOW=1024"}, {"ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=4096"}} {
		s, d := describing(t, more...)
		learner := s.Learner()
		release, err := learner.Deviation()
		if err != nil {
			t.Fatal(err)
		}
		weights := operators.ScoreOf(learner.Operator()).Noise
		for step := uint64(1); step < 1<<34; step += step/3 + 1 {
			want := weights(release.At(step), s.Batch, step)
			if got := d.Noise.At(step); math.Abs(got/want-1) > 1e-3 {
				t.Errorf("%v: step %d: %g, want %g", more, step, got, want)
			}
		}
	}
}

// TestDescriptorHasTheMapping checks that the descriptor has the document of ORIEL_MAP, so that scorers read raw
// records as the deployment does: the vectors of a record must be equal, with its label or without.
func TestDescriptorHasTheMapping(t *testing.T) {
	s, d := describing(t, "ORIEL_WINDOW=16", `ORIEL_MAP= {"label": "/late>15", "features": ["carrier", "/way/distance:number"]} `)
	if want := `{"label":"/late\u003e15","features":["carrier","/way/distance:number"]}`; string(d.Map) != want {
		t.Fatalf("%s, want %s", d.Map, want)
	}
	ours := s.EventConfig()
	theirs, err := d.Events(s.MaxRecordBytes)
	if err != nil {
		t.Fatal(err)
	}
	record := []byte(`{"id":1,"late":20,"carrier":"UA","way":{"distance":"2500"}}`)
	var events [2]event.Event
	for i, c := range []event.Config{ours, theirs} {
		decoder, err := event.OpenDecoder(c)
		if err != nil {
			t.Fatal(err)
		}
		if code := decoder.Decode(&events[i], record); code != text.OK {
			t.Fatal(code)
		}
	}
	if events[0].Label != 1 || events[1].Label != 0 || !reflect.DeepEqual(events[0].Vector, events[1].Vector) {
		t.Errorf("%+v and %+v", events[0], events[1])
	}
	if _, d = describing(t, "ORIEL_WINDOW=16"); d.Map != nil {
		t.Errorf("without ORIEL_MAP: %s", d.Map)
	}
}

// TestDescriptorNamesCoordinates checks that a change of a number within its range changes the coordinate with the
// number's name.
func TestDescriptorNamesCoordinates(t *testing.T) {
	s, d := describing(t, "ORIEL_WINDOW=16", "ORIEL_FEATURES_NORM=none")
	c := s.EventConfig()
	decoder, err := event.OpenDecoder(c)
	if err != nil {
		t.Fatal(err)
	}
	var e event.Event
	if code := decoder.Decode(&e, []byte(`{"features":{"distance":2500,"hour":3},"label":1}`)); code != text.OK {
		t.Fatal(code)
	}
	want := map[string]float64{
		score.Constant: 1, "distance": 0.5, "hour (sin)": math.Sqrt2 / 2, "hour (cos)": math.Sqrt2 / 2,
	}
	var got, sum [64]float64
	for i, index := range e.Vector.Indices {
		got[index] = e.Vector.Values[i]
	}
	if len(d.Names) != len(want) || d.Predicts != score.LogOdds {
		t.Fatalf("%+v", d)
	}
	for _, n := range d.Names {
		sum[n.Index] += n.Sign * want[n.Name]
	}
	for i := range sum {
		if math.Abs(got[i]-sum[i]) > 1e-15 {
			t.Errorf("coordinate %d: %g, names say %g", i, got[i], sum[i])
		}
	}
}
