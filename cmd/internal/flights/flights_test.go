package flights

import (
	"math"
	"strings"
	"testing"
)

const sample = "month,hour,carrier,origin,distance,arr_delay\n1,5,UA,EWR,1400,11\n1,5,UA,LGA,1416,20\n7,6,AA,JFK,1089,NA\n12,23,HA,JFK,4983,15\n"

func TestReadSkipsFlightsWithoutArrivalAndScalesToNormOne(t *testing.T) {
	all, err := Read(strings.NewReader(sample))
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 3 {
		t.Fatalf("%d flights, want 3", len(all))
	}
	if all[0].Late || !all[1].Late || all[2].Late {
		t.Error("late is not arr_delay > 15")
	}
	for i, f := range all {
		sum := 0.0
		for _, v := range f.Features {
			sum += v * v
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("flight %d: squared norm %g, want 1", i, sum)
		}
	}
}

func TestReadNamesColumnAndLineWithoutTheCell(t *testing.T) {
	for _, bad := range []string{"x,5,UA,EWR,1400,11\n", "1,5,canary,EWR,1400,11\n", "1,5,UA,canary,1400,11\n"} {
		_, err := Read(strings.NewReader("month,hour,carrier,origin,distance,arr_delay\n" + bad))
		if err == nil || !strings.Contains(err.Error(), "line 2") || strings.Contains(err.Error(), "canary") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
