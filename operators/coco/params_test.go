package coco

import (
	"bytes"
	"math"
	"reflect"
	"slices"
	"testing"

	"oriel/operators/coco/band"
)

// TestParamsBytes checks the stored form of params, with and without a past and a band, and that other bytes are
// refused.
func TestParamsBytes(t *testing.T) {
	number := func(b byte) []byte { return []byte{0, 0, 0, 0, 0, 0, b, 0x3f} } // 0xf8: 1.5, 0xe0: 0.5
	golden := slices.Concat([]byte{1}, make([]byte, 1+4*8), []byte{2, 0, 0, 8, 0})
	past := slices.Concat(golden, number(0xf8), number(0xe0))
	of := Params{Band: band.Columns{Number: 2, Share: 1 << 19}}
	after := of
	after.Past = Inherited{Weight: 1.5, Point: []float64{0.5}}
	for _, c := range []struct {
		params Params
		bytes  []byte
	}{{of, golden}, {after, past}} {
		stored, err := c.params.AppendBinary([]byte("x"))
		if err != nil || !bytes.Equal(stored[1:], c.bytes) {
			t.Fatalf("%+v is stored as %v, %v, want %v", c.params, stored, err, c.bytes)
		}
		if p, err := ParseParams(c.bytes); err != nil || !reflect.DeepEqual(p, c.params) {
			t.Errorf("%v is %+v, %v", c.bytes, p, err)
		}
	}
	change := func(at int, b ...byte) []byte {
		x := bytes.Clone(golden)
		copy(x[at:], b)
		return x
	}
	for name, bad := range map[string][]byte{
		"empty": nil, "short": golden[:paramsLen-1], "long": append(bytes.Clone(golden), 0), "version": change(0, 2),
		"rule": change(1, 9), "numbers of no rule": change(9, 0x3f), "sign": change(9, 0x80),
		"three columns": change(bandAt, 3), "no share": change(bandAt+3, 0), "no columns": change(bandAt, 0),
		"half a past": past[:len(past)-8], "half a coordinate": past[:len(past)-4],
	} {
		if p, err := ParseParams(bad); err == nil {
			t.Errorf("%s: read as %+v", name, p)
		}
	}
	if _, err := (Params{Past: Inherited{Weight: math.NaN(), Point: []float64{1}}}).AppendBinary(nil); err == nil {
		t.Error("params that are not a number are stored")
	}
}

func FuzzParseParams(f *testing.F) {
	plain, _ := Params{}.AppendBinary(nil)
	f.Add(plain)
	f.Add([]byte{})
	past, _ := Params{Past: Inherited{Point: []float64{-0.5, 2}, Weight: 1.5}}.AppendBinary(nil)
	f.Add(past)
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := ParseParams(b)
		if err != nil {
			return
		}
		if again, err := p.AppendBinary(nil); err != nil || !bytes.Equal(again, b) {
			t.Errorf("params %v are stored as %v, %v", b, again, err)
		}
	})
}
