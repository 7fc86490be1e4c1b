package page

import (
	"fmt"
	"testing"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/protection"
	"oriel/schemas/decision"
)

// TestNamesKeepTheirHistory checks that the page shows the names of a decision with their intervals, and that a name
// has one number in all decisions, whatever its place in the list is. Beyond maxTracked names there is no such number.
func TestNamesKeepTheirHistory(t *testing.T) {
	p := New(About{Guarantee: protection.Guarantee{Terms: protection.Terms{
		Scope: protection.PerStep{}, Unit: protection.Event{Exchange: dp.AddRemove},
	}}})
	show := func(list string) *shownDecision {
		return p.newDecision(&decision.Decision{Point: []float64{9}, Extras: []decision.ExtraMember{
			{Name: "names", JSON: list}, {Name: "more", JSON: "3"},
		}})
	}
	if v := show(`[]`); v.kind != kindNames || v.dimension != 0 || len(v.values) != 0 || fmt.Sprint(v.members) != "[{more 3}]" {
		t.Errorf("%+v", v)
	}
	show(`[{"name":"a","count":30,"low":27,"high":32},{"name":"b","count":20,"low":17,"high":22}]`)
	v := show(`[{"name":"b","count":40,"low":37,"high":42},{"name":"<c>","count":35,"low":32,"high":37},{"name":"a","count":20,"low":17,"high":22}]`)
	const want = "[1 2 0] [b <c> a] [40 35 20] [37 32 17] [42 37 22]"
	if got := fmt.Sprint(v.at, v.names, v.values, v.low, v.high); got != want {
		t.Error(got)
	}
	list := `[`
	for i := range maxTracked {
		list += fmt.Sprintf(`{"name":"n%d","count":20,"low":17,"high":22},`, i)
	}
	show(list + `{"name":"last","count":20,"low":17,"high":22}]`)
	v = show(`[{"name":"n0","count":20,"low":17,"high":22},{"name":"new","count":20,"low":17,"high":22}]`)
	if fmt.Sprint(v.at) != fmt.Sprint([]int{3, maxTracked + 1}) || len(p.numbered) != maxTracked {
		t.Errorf("%v, %d names have numbers", v.at, len(p.numbered))
	}
}
