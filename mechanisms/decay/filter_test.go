package decay

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/big"
	"testing"

	"oriel/mechanisms/rational"
)

func TestPeriodsAndDecays(t *testing.T) {
	for memory, want := range map[uint64]struct {
		period uint64
		decay  uint32
	}{
		2:       {1 << 11, 1 << 29},
		3:       {1 << 12, 715827883},
		64:      {1 << 16, 1<<30 - 1<<24},
		100:     {1 << 17, 1063004406},
		1 << 16: {1 << 26, 1<<30 - 1<<14},
		1 << 20: {1 << 30, 1<<30 - 1<<10},
	} {
		if p, g := Period(memory), Decay(memory); p != want.period || g != want.decay {
			t.Errorf("H=%d: P = %d, Γ = %d, want %d, %d", memory, p, g, want.period, want.decay)
		}
	}
}

// TestValidateRefuses checks each condition of Lemma 1.
func TestValidateRefuses(t *testing.T) {
	f := func(name string, want error, change func(*Filter)) {
		t.Helper()
		bad := handmade(t)
		change(&bad)
		if err := bad.Validate(); err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	f("no filter", nil, func(f *Filter) { *f = Filter{} })
	f("no memory", nil, func(f *Filter) { f.Memory = MinMemory - 1 })
	f("too long a memory", nil, func(f *Filter) { f.Memory = MaxMemory + 1 })
	f("no poles", nil, func(f *Filter) { f.Count = 0 })
	f("too many poles", nil, func(f *Filter) { f.Count = MaxPoles + 1 })
	f("a missing pole", errShape, func(f *Filter) { f.Count++ })
	f("a pole too many", nil, func(f *Filter) { f.Count-- })
	f("a pole of 1", errShape, func(f *Filter) { f.Poles[0] = unit })
	f("equal poles", errShape, func(f *Filter) { f.Poles[1] = f.Poles[0] })
	f("rising poles", errShape, func(f *Filter) { f.Poles[0], f.Poles[1] = f.Poles[1], f.Poles[0] })
	f("a pole at gamma", errShape, func(f *Filter) { f.Poles[0] = f.Decay() })
	f("no residue", errShape, func(f *Filter) { f.Residues[2] = 0 })
	f("e(1) = 0", errSigns, func(f *Filter) {
		*f = Filter{Memory: 7, Count: 1, Poles: [MaxPoles]uint32{unit / 2}, Residues: [MaxPoles]uint32{unit / 2}}
	})
	f("e(1) below 0", errSigns, func(f *Filter) { f.Residues[2] = 1 << 31 })
	edge := Filter{Memory: 7, Count: 1, Poles: [MaxPoles]uint32{unit / 2}, Residues: [MaxPoles]uint32{unit/2 - 1}}
	if err := edge.Validate(); err != nil {
		t.Errorf("e(1) = 2⁻²⁹: %v", err)
	}
}

func TestFilterIsWrittenAndRead(t *testing.T) {
	for _, f := range filters(t) {
		b := f.AppendBinary(nil)
		if got, err := ParseFilter(b); err != nil || got != f {
			t.Errorf("%v is read as %v, %v", f, got, err)
		}
		for _, bad := range [][]byte{nil, b[:8], b[:len(b)-1], append(bytes.Clone(b), 0)} {
			if got, err := ParseFilter(bad); err == nil {
				t.Errorf("%x is read as %v", bad, got)
			}
		}
	}
	want := []byte{
		7, 0, 0, 0, 0, 0, 0, 0, 3, 0x00, 0xe9, 0xa4, 0x35, 0x80, 0xc3, 0xc9, 0x01, 0x00, 0x27, 0xb9, 0x29, 0x00,
		0xe1, 0xf5, 0x05, 0x15, 0xcd, 0x5b, 0x07, 0x00, 0xc2, 0xeb, 0x0b,
	}
	if got := handmade(t).AppendBinary(nil); !bytes.Equal(got, want) {
		t.Errorf("a filter is written as %#v", got)
	}
}

// FuzzParseFilter checks that a parsed filter is valid and encodes to the same bytes, and has at most six poles.
func FuzzParseFilter(f *testing.F) {
	f.Add(handmade(f).AppendBinary(nil))
	f.Add(fitFilter(f, 1<<20).AppendBinary(nil))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := ParseFilter(b)
		if err != nil {
			return
		}
		if !bytes.Equal(got.AppendBinary(nil), b) || got.Validate() != nil || len(b) > filterHead+MaxPoles*pairLen {
			t.Errorf("%x is read as %v", b, got)
		}
	})
}

// FuzzSignsOfValidFilters checks PROOF.md, Lemma 1, in rational numbers. A filter is accepted exactly when its poles
// and residues are in order and 1 − ΣR_k/(1−q_k) > 0. Then E·Π(z − q_k) changes sign between q_1 and 1, and between
// each two poles; and c, by its recurrence, falls.
func FuzzSignsOfValidFilters(f *testing.F) {
	for _, x := range filters(f) {
		f.Add(x.AppendBinary(nil)[8:])
	}
	f.Add([]byte{
		6, 255, 255, 255, 63, 1, 0, 0, 0, 254, 255, 255, 63, 1, 0, 0, 0, 253, 255, 255, 63, 1, 0, 0, 0, 3, 0, 0,
		0, 9, 0, 0, 0, 2, 0, 0, 0, 9, 0, 0, 0, 1, 0, 0, 0, 255, 255, 255, 62,
	})
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) == 0 {
			return
		}
		x := Filter{Memory: 3, Count: b[0] % (MaxPoles + 1)}
		for k, pair := 0, b[1:]; k < int(x.Count) && len(pair) >= pairLen; k, pair = k+1, pair[pairLen:] {
			x.Poles[k], x.Residues[k] = binary.LittleEndian.Uint32(pair), binary.LittleEndian.Uint32(pair[4:])
		}
		if valid := x.byDefinition(); valid != (x.Validate() == nil) {
			t.Fatalf("%v: %v, by definition %v", x, x.Validate(), valid)
		} else if !valid {
			return
		}
		zeros, residues, _ := x.fraction().Inverse()
		above := big.NewRat(1, 1)
		for k, p := range zeros {
			lo, _ := p.Lo.Rat(nil)
			hi, _ := p.Hi.Rat(nil)
			q := big.NewRat(int64(x.Poles[k]), unit)
			if lo.Cmp(q) <= 0 || hi.Cmp(above) >= 0 || x.at(lo).Sign() >= 0 || x.at(hi).Sign() <= 0 || residues[k].Sign() <= 0 {
				t.Fatalf("%v: zero in [%g, %g]", x, p.Lo, p.Hi)
			}
			above = q
		}
		before := big.NewRat(1, 1)
		c := []*big.Rat{before}
		for j := 1; j < 6; j++ {
			sum := new(big.Rat)
			for i := 1; i <= j; i++ {
				sum.Sub(sum, new(big.Rat).Mul(x.term(i), c[j-i]))
			}
			if c = append(c, sum); sum.Sign() <= 0 || sum.Cmp(c[j-1]) >= 0 {
				t.Fatalf("%v: c_%d = %s", x, j, sum.FloatString(12))
			}
		}
	})
}

// byDefinition is Validate, computed only with rational numbers.
func (f Filter) byDefinition() bool {
	above, sum := big.NewRat(1, 1), big.NewRat(1, 1)
	for k := range f.Count {
		q, r := big.NewRat(int64(f.Poles[k]), unit), big.NewRat(int64(f.Residues[k]), unit)
		if q.Sign() == 0 || q.Cmp(above) >= 0 || r.Sign() == 0 || f.Poles[k] == f.Decay() {
			return false
		}
		sum.Sub(sum, r.Quo(r, new(big.Rat).Sub(big.NewRat(1, 1), q)))
		above = q
	}
	return f.Count > 0 && sum.Sign() > 0
}

// at returns E(z) by its definition.
func (f Filter) at(z *big.Rat) *big.Rat {
	sum := big.NewRat(1, 1)
	for k := range f.Count {
		distance := new(big.Rat).Sub(z, big.NewRat(int64(f.Poles[k]), unit))
		sum.Sub(sum, new(big.Rat).Quo(big.NewRat(int64(f.Residues[k]), unit), distance))
	}
	return sum
}

// term returns e_j, j ≥ 1, by its definition.
func (f Filter) term(j int) *big.Rat {
	sum := new(big.Rat)
	for k := range f.Count {
		x := big.NewRat(int64(f.Residues[k]), unit)
		for range j - 1 {
			x.Mul(x, big.NewRat(int64(f.Poles[k]), unit))
		}
		sum.Sub(sum, x)
	}
	return sum
}

// TestSlack checks η < ½ + 2⁻⁸, by its formula.
func TestSlack(t *testing.T) {
	for _, f := range filters(t) {
		sum, _ := rational.Ratio(f.Slack()).Hi.Float64()
		want := 0.5
		for k := range f.Count {
			want += float64(f.Residues[k]) / float64(unit-f.Poles[k]) / 256
		}
		if sum < want-1e-15 || sum > want+1e-15 || sum <= 0.5 || sum >= 0.5+0x1p-8 {
			t.Errorf("%v: η = %g, want %g", f, sum, want)
		}
	}
}
