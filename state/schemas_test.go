package state

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"testing"

	"oriel/state/frame"
	"oriel/state/keys"
)

func schemasKey() [32]byte { return keys.NameKey(fill(32, 7)).Schemas() }

func testSchemas() Schemas {
	return Schemas{
		{ID: 1, Text: `{"type":"record","name":"order","fields":[]}`},
		{
			ID: math.MaxUint32, Text: "", References: []SchemaReference{{"money.proto", `syntax = "proto3";`}, {"", ""}},
			Since: []SchemaSince{{0, 812}, {7, 0}, {9, math.MaxInt64}},
		},
		{ID: 3, Text: "early", Since: []SchemaSince{}},
		{ID: 4, Text: "unreadable", LeftOut: true},
	}
}

func TestGoldenBytesOfSchemas(t *testing.T) {
	golden(t, "schemas.hex", testSchemas().Seal(schemasKey(), "orders"))
	s, err := OpenSchemas(unhex(t, "schemas.hex"), schemasKey(), "orders")
	if err != nil || !reflect.DeepEqual(s, testSchemas()) {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestSchemasAreThoseOfTheStream checks that schemas of another stream, of another deployment, or with a changed byte
// do not open.
func TestSchemasAreThoseOfTheStream(t *testing.T) {
	sealed := testSchemas().Seal(schemasKey(), "orders")
	if s, err := OpenSchemas(sealed, schemasKey(), "order"); s != nil || !errors.Is(err, frame.ErrForeign) {
		t.Errorf("of another stream: %v, %v", s, err)
	}
	other := keys.NameKey(fill(32, 8)).Schemas()
	if s, err := OpenSchemas(sealed, other, "orders"); s != nil || !errors.Is(err, frame.ErrForeign) {
		t.Errorf("of another deployment: %v, %v", s, err)
	}
	for i := 2; i < len(sealed)-frame.ChecksumSize; i++ {
		changed := bytes.Clone(sealed[:len(sealed)-frame.ChecksumSize])
		changed[i] ^= 1
		if s, err := OpenSchemas(frame.AppendChecksum(changed, 0), schemasKey(), "orders"); s != nil || err == nil {
			t.Fatalf("byte %d changed: %v", i, s)
		}
	}
}

func TestSchemasAreKnownFromTheirOffsetsOn(t *testing.T) {
	always, later, never := &testSchemas()[0], testSchemas().Find(math.MaxUint32), testSchemas().Find(2)
	left := testSchemas().Find(4)
	if never != nil {
		t.Errorf("schema of an id that is not frozen: %+v", never)
	}
	for _, c := range []struct {
		schema    *Schema
		partition int32
		offset    int64
		want      bool
	}{
		{always, 0, 0, true},
		{left, 0, 0, false},
		{later, 0, 811, false},
		{later, 0, 812, true},
		{later, 7, 0, true},
		{later, 9, 1 << 40, false},
		{later, 8, 0, true}, // a partition that was added later
	} {
		if got := c.schema.Known(c.partition, c.offset); got != c.want {
			t.Errorf("schema %d at partition %d offset %d: %v", c.schema.ID, c.partition, c.offset, got)
		}
	}
}

func TestSchemasThatNoRecordHolds(t *testing.T) {
	for _, s := range []Schemas{
		{{ID: 1}, {ID: 1}},
		{{ID: 1, Since: []SchemaSince{{1, 0}, {1, 0}}}},
		{{ID: 1, Since: []SchemaSince{{0, -1}}}},
		{{ID: 1, Since: []SchemaSince{}, LeftOut: true}},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("sealed %+v", s)
				}
			}()
			s.Seal(schemasKey(), "orders")
		}()
	}
}

// FuzzOpenSchemas is FuzzOpenManifest for schemas with a valid authentication.
func FuzzOpenSchemas(f *testing.F) {
	f.Add([]byte{})
	whole := testSchemas().Seal(schemasKey(), "orders")
	f.Add(whole[2 : len(whole)-frame.ChecksumSize-32])
	f.Fuzz(func(t *testing.T, fields []byte) {
		b := append(frame.AppendHeader(nil, frame.KindSchemas), fields...)
		b = frame.CloseAuthentic(b, schemasKey(), "orders")
		s, err := OpenSchemas(b, schemasKey(), "orders")
		if err != nil {
			refuse(t, err, s)
			return
		}
		if again := s.Seal(schemasKey(), "orders"); !bytes.Equal(again, b) {
			t.Fatalf("sealed again: %x, was %x", again, b)
		}
	})
}
