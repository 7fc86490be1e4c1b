package plan

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"sync"
	"testing"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/protection"
)

var rewrite = flag.Bool("rewrite", false, "write testdata/table.txt")

// golden returns the report of a setting whose figures need only integers and proven roundings. Its window is too long
// for blt, because the fit of blt differs between platforms.
func golden(t *testing.T) *Report {
	t.Helper()
	r, err := theGolden()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var theGolden = sync.OnceValues(func() (*Report, error) {
	in := everySetting[0].input()
	in.Configured.Name, in.Configured.AgeWeight = "tree-gaussian", 0
	in.Configured.Scope = protection.Window{Steps: 1 << 23}
	in.Configured.Batch, in.Configured.Budget.Delta = 4, 1e-9
	in.Rate, in.Age, in.Stream.SealedState = 50, 1<<20, 4321
	r, err := New(in)
	if err != nil {
		return nil, err
	}
	for i := range r.Mechanisms {
		r.Mechanisms[i].MemoryBytes = 12345 // the measured value depends on machine and build
	}
	return r, nil
})

func TestGoldenTable(t *testing.T) {
	var got bytes.Buffer
	if err := golden(t).Print(&got); err != nil {
		t.Fatal(err)
	}
	const name = "testdata/table.txt"
	if *rewrite {
		if err := os.WriteFile(name, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("table:\n%s\nwant:\n%s", got.String(), want)
	}
}

// tableOf returns the printed table of a report.
func tableOf(t *testing.T, in Input) string {
	t.Helper()
	r, err := New(in)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := r.Print(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestTableHasLinesOfOtherSettings checks the additional lines that some settings add to the tables.
func TestTableHasLinesOfOtherSettings(t *testing.T) {
	f := func(name string, change func(*Input), want ...string) {
		t.Helper()
		in := everySetting[0].input()
		change(&in)
		out := tableOf(t, in)
		for _, text := range want {
			if !strings.Contains(out, text) {
				t.Errorf("%s: no %q in\n%s", name, text, out)
			}
		}
	}
	f("blt", func(*Input) {}, "* blt, ", "W = 1024 steps, 1 event a step, ε = 1, δ = 1e-06, 27 coordinates", "Δ ≤ 2: 33554432 lattice units of 2^-24",
		"  optimum", "is not forgotten")
	f("users", func(in *Input) { in.Configured.Unit = protection.User{Exchange: dp.Replace, Separation: 100} }, "unit user (an exchange under both), events of one user at least 100 steps apart", "ε of all of a user's events", "one event")
	f("horizon", func(in *Input) { in.Configured.Scope, in.Rate = protection.Lifetime{Steps: 1000, Within: 1000}, 10 }, "a stream of T = 1000 steps (1 min 40 s)", "at the end")
	f("once", func(in *Input) {
		in.Configured.Name, in.Configured.Scope, in.Configured.AgeWeight = "once-gamma", protection.PerStep{}, 0
	}, "once-gamma, no window", "at every age", "blt is left out: needs a window")
}

// strict decodes JSON into a type that must have exactly the members of the document.
func strict(t *testing.T, data []byte, into any) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(into)
	if err != nil {
		t.Fatal(err)
	}
	var a, b any
	if json.Unmarshal(data, &a) != nil || json.Unmarshal(again, &b) != nil {
		t.Fatal("not JSON")
	}
	if x, y := compact(t, a), compact(t, b); x != y {
		t.Errorf("JSON has %s\nwant the fields of %s", x, y)
	}
}

func compact(t *testing.T, x any) string {
	t.Helper()
	b, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// wireReport is the part of --json on which readers rely. It repeats the names of the members, so that a changed name
// fails the test.
type wireReport struct {
	Setting struct {
		Mechanism               string   `json:"mechanism"`
		WindowSteps             uint64   `json:"window_steps"`
		HorizonSteps            uint64   `json:"horizon_steps"`
		WindowSeconds           *float64 `json:"window_seconds"`
		MemorySteps             uint64   `json:"memory_steps"`
		MemorySeconds           *float64 `json:"memory_seconds"`
		BatchEvents             uint64   `json:"batch_events"`
		Dimension               int      `json:"dimension"`
		Epsilon                 float64  `json:"epsilon"`
		Delta                   float64  `json:"delta"`
		Adjacency               string   `json:"adjacency"`
		Unit                    string   `json:"unit"`
		SeparationSteps         uint64   `json:"separation_steps"`
		Clip                    float64  `json:"clip"`
		Sensitivity             float64  `json:"sensitivity"`
		SensitivityLatticeUnits int64    `json:"sensitivity_lattice_units"`
		LatticeUnit             float64  `json:"lattice_unit"`
		Radius                  *float64 `json:"radius"`
		EventsPerSecond         *float64 `json:"events_per_second"`
		SealedStateBytes        int      `json:"sealed_state_bytes"`
		DecisionBytes           *float64 `json:"decision_bytes"`
		EventBytes              *float64 `json:"decision_bytes_an_event"`
		DayBytes                *float64 `json:"decision_bytes_a_day"`
	} `json:"setting"`
	Optimum struct {
		VarianceFactor *float64 `json:"variance_factor"`
		Mu             *float64 `json:"mu"`
		RMSCoordinate  *float64 `json:"rms_coordinate"`
		RMSVector      *float64 `json:"rms_vector"`
	} `json:"optimum"`
	Ages []struct {
		Windows uint64   `json:"windows"`
		Steps   uint64   `json:"steps"`
		Seconds *float64 `json:"seconds"`
	} `json:"ages"`
	Mechanisms []struct {
		Name                string   `json:"name"`
		Configured          bool     `json:"configured"`
		Note                string   `json:"note"`
		WindowSteps         uint64   `json:"window_steps"`
		MemorySteps         uint64   `json:"memory_steps"`
		Poles               int      `json:"poles"`
		NoiseScale          float64  `json:"noise_scale"`
		RMSCoordinate       float64  `json:"rms_coordinate"`
		WorstRMSCoordinate  float64  `json:"worst_rms_coordinate"`
		RMSVector           float64  `json:"rms_vector"`
		WorstRMSVector      float64  `json:"worst_rms_vector"`
		VarianceOverOptimum *float64 `json:"variance_over_optimum"`
		Mu                  *float64 `json:"mu"`
		Epsilon             *float64 `json:"epsilon"`
		EventEpsilon        *float64 `json:"event_epsilon"`
		Delta               float64  `json:"delta"`
		Losses              []struct {
			AgeSteps         uint64   `json:"age_steps"`
			Epsilon          *float64 `json:"epsilon"`
			EpsilonAllEvents *float64 `json:"epsilon_all_events"`
		} `json:"losses"`
		Groups []struct {
			Size    uint64   `json:"size"`
			Epsilon *float64 `json:"epsilon"`
		} `json:"groups"`
		DecisionNoise []struct {
			Steps     uint64   `json:"steps"`
			RMSVector *float64 `json:"rms_vector"`
		} `json:"decision_noise"`
		StepsToATenthOfTheRadius *float64 `json:"steps_to_a_tenth_of_the_radius"`

		StateBytes  int    `json:"state_bytes"`
		MemoryBytes uint64 `json:"memory_bytes"`
		CostOfAStep struct {
			NoiseVectors      float64 `json:"noise_vectors"`
			WorstNoiseVectors uint64  `json:"worst_noise_vectors"`
			HashBlocks        float64 `json:"hash_blocks"`
			CipherBlocks      float64 `json:"cipher_blocks"`
			Products128       uint64  `json:"products_128"`
		} `json:"cost_of_a_step"`
	} `json:"mechanisms"`
	LeftOut []struct {
		Name   string `json:"name"`
		Reason string `json:"reason"`
	} `json:"left_out"`
	Advice *struct {
		StartRegularizer float64  `json:"start_regularizer"`
		StrongConvexity  float64  `json:"strong_convexity"`
		Clip             *float64 `json:"clip"`
		ConstantFeature  float64  `json:"constant_feature"`
		MemorySteps      uint64   `json:"memory_steps"`
	} `json:"advice"`
	Warnings []string `json:"warnings"`
}

func TestJSON(t *testing.T) {
	each(t, func(t *testing.T, in Input, r *Report) {
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var wire wireReport
		strict(t, data, &wire)
		if wire.Setting.Mechanism != in.Configured.Name || len(wire.Mechanisms) != len(r.Mechanisms) ||
			wire.Warnings == nil || wire.LeftOut == nil {
			t.Errorf("JSON: %s", data)
		}
		if known := wire.Setting.EventsPerSecond != nil; known != (in.Rate > 0) {
			t.Errorf("rate known: %t", known)
		}
	})
}
