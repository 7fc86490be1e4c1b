package mapping

import (
	"reflect"
	"testing"
)

func TestComparison(t *testing.T) {
	f := func(text, cell string, want bool) {
		t.Helper()
		c, err := ParseComparison(text)
		if v := (Value{Kind: Text, Text: []byte(cell)}); err != nil || c.Path.String() != "/col" || c.Holds(&v) != want {
			t.Errorf("%s of %q: %+v, %v; want %v", text, cell, c, err, want)
		}
	}
	f("col=1", "1.0", true)
	f("col = 1e0", "1", true)
	f("col!=1", "1.0", false)
	f("col>9", "10", true)
	f("col>9", "9", false)
	f("col>=9", "9", true)
	f("col<9", "-10", true)
	f("col<=9", "9.5", false)
	f("col>b", "a", false)
	f("col>a", "b", true)
	f("col>9", "x", false) // its bytes are above, but it is no number
	f("col<9", "-", false)
	f("col>b", "9", false) // compared as bytes, because one side is no number
	f("col=a=b", "a=b", true)
	f("col!=", "", false)
	f("col=", "", true)
	f("col!=", "NA", true) // NA is a text, such as the code of Namibia
	f("col!=NA", "", true)
	f("col=NA", "NA", true)
	f("col!=NA", "NA", false)
	f("col>=NA", "NZ", true)
	f("col!=5", "NA", true)
	f("col=5", "NA", false)
	f("col>-5", "NA", false)
	f("col<5", "", false)
	f("col=0x10", "16", false)
	f("col=Inf", "1e999", false)
	f("col=1_000", "1_000", true) // an equal text
	f("col>2026-01-01", "2026-07-06", true)
	for _, bad := range []string{
		"", "col", "=1", "col!1", "col==1", "col=>1", "!col", " =1", "col<>1", "col>=", "a/b=1",
		"col>1_000", "col>=1,000", "col<0x10", "col<=nan", "col>-Inf", "col>1e400", "col>1 000",
	} {
		if c, err := ParseComparison(bad); err == nil {
			t.Errorf("%q is taken as %+v", bad, c)
		}
	}
}

func TestMappingFileIsStrict(t *testing.T) {
	m, err := Parse([]byte(` {"where":"a!=NA","label":"b>1","features":["c","d:number"],"partition_by":"e","key":"f","sort":["g"]} `))
	rows := Rows{PartitionBy: "e", Key: "f", Sort: []string{"g"}}
	if err != nil || len(m.Where) != 1 || m.Label.Compare == nil || len(m.Features) != 2 || m.Features[1].Name != "d" ||
		m.Features[1].As != AsNumber || !reflect.DeepEqual(m.Rows, rows) {
		t.Errorf("%+v, %v", m, err)
	}
	for _, bad := range []string{
		``, `[]`, `null`, `{}x`, `{"where":1}`, `{"where":null}`, `{"Where":"a=1"}`, `{"label":"a","label":"a"}`, `{"features":"a"}`,
		`{"features":[1]}`, `{"features":[["a"]]}`, `{"features":null}`, `{"other":1}`, `{"label":{}}`, "{\"label\":\"\xff\"}",
	} {
		if m, err := Parse([]byte(bad)); err == nil {
			t.Errorf("%s is taken as %+v", bad, m)
		}
	}
}
