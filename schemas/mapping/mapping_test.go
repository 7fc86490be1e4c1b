package mapping

import (
	"fmt"
	"strings"
	"testing"

	"oriel/schemas/event"
	"oriel/schemas/text"
)

var lossBody = event.Body{Name: "loss", Members: []event.Member{
	{Name: "features", Kind: event.KindFeatures},
	{Name: "label", Kind: event.KindClass},
	{Name: "weight", Kind: event.KindWeight, Optional: true, Default: 1},
}}

func newDecoder(t testing.TB, document string, c event.Config) *Decoder {
	t.Helper()
	m, err := Parse([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	d, err := m.Opener(JSON(event.UnknownIsFree))(c)
	if err != nil {
		t.Fatal(err)
	}
	return d.(*Decoder)
}

func config(body event.Body) event.Config {
	return event.Config{
		Body: body, Dimension: 32, MaxBytes: 1 << 20, Operator: "coco",
		Features: event.FeatureConfig{Bias: true, Norm: "unit", Ranges: []event.Range{
			{Name: "hour", High: 24, Cyclic: true}, {Name: "total", High: 500},
		}},
	}
}

// TestMappedEventEqualsTheBodysOwn checks that a mapped event equals the event with the same values in the body's own
// form, to the byte.
func TestMappedEventEqualsTheBodysOwn(t *testing.T) {
	d := newDecoder(t, `{"where":"/status=paid","label":"/late>15","features":["country","/order/total:number",
		{"name":"hour","from":"/time","as":"hour","zone":"+02:00"},"/vip","gone"],"members":["weight=/order/items/1/w"]}`, config(lossBody))
	own, err := event.NewJSONDecoder(config(lossBody))
	if err != nil {
		t.Fatal(err)
	}
	var got, want event.Event
	record := []byte(`{"id":"x","status":"paid","order":{"total":"12.5","items":[{"w":3},{"w":2,"extra":[1,{"a":null}]}]},
		"time":"2024-05-01T23:30:00Z","late":20,"country":"DE","vip":true}`)
	if code := d.Decode(&got, record); code != text.OK {
		t.Fatal(d.Problem(record, code))
	}
	if code := own.Decode(&want, []byte(`{"features":{"country":"DE","total":12.5,"hour":1,"vip":true},"label":1,"weight":2}`)); code != text.OK {
		t.Fatal(code)
	}
	if fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", want) {
		t.Errorf("%#v, want %#v", got, want)
	}
}

// TestManyPaths checks that lists and objects with many paths are read in one pass, in any order and with many other
// elements.
func TestManyPaths(t *testing.T) {
	body := event.Body{Name: "x", Members: []event.Member{{Name: "v", Kind: event.KindVector}}}
	c := config(body)
	c.Dimension, c.MaxBytes = 40, 1<<22
	var paths, members []string
	var list strings.Builder
	for k := range c.Dimension {
		paths = append(paths, fmt.Sprintf("/o/k%d", k*7%c.Dimension))
		members = append(members, fmt.Sprintf(`"k%d":%d,"x%d":[%d]`, k, k, k, k))
		fmt.Fprintf(&list, "%d,", k)
	}
	f := func(document, record string, want text.Code, second float64) {
		t.Helper()
		d := newDecoder(t, document, c)
		var e event.Event
		code := d.Decode(&e, []byte(record))
		if code != want || code == text.OK && (len(e.Vector.Values) != c.Dimension || e.Vector.Values[1] != second) {
			t.Errorf("%s: %s %v", document, code, e.Vector.Values)
		}
	}
	f(`{"members":["v=`+strings.Join(paths, ",")+`"]}`, `{"o":{`+strings.Join(members, ",")+`}}`, text.OK, 7)
	f(`{"members":["v=/l"]}`, `{"l":[`+strings.TrimSuffix(list.String(), ",")+`]}`, text.OK, 1)
	f(`{"members":["v=/l"]}`, `{"l":[`+list.String()+`0]}`, text.WrongDimension, 0)
	f(`{"members":["v=/l"]}`, `{"l":[`+list.String()[2:]+strings.Repeat("0,", 1<<20)+`0]}`, text.WrongDimension, 0)
	f(`{"members":["v=/l"]}`, `{"l":[1,2]}`, text.MissingMember, 0)
	f(`{"members":["v=/l"]}`, `{"l":{"0":1}}`, text.MissingMember, 0)
}
