package names

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"oriel/mechanisms/contribution"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/noise"
)

// contents returns the counts of a table.
func contents(t *Table) map[string]uint64 {
	all := map[string]uint64{}
	for i := range t.entries {
		all[string(t.name(&t.entries[i]))] = t.entries[i].count
	}
	return all
}

func equal(t *testing.T, title string, table *Table, want map[string]uint64) {
	t.Helper()
	got, total := contents(table), uint64(0)
	for name, count := range want {
		total += count
		if got[name] != count {
			t.Fatalf("%s: count %d of %q, want %d", title, got[name], name, count)
		}
	}
	if len(got) != len(want) || table.Len() != len(want) || table.Total() != total {
		t.Fatalf("%s: %d names, %d counts, want %d and %d", title, table.Len(), table.Total(), len(want), total)
	}
}

// TestTableMatchesAMap counts random names of all lengths, cuts parts between, and restores tables from the parts, in
// order and in reverse. A restored table goes on as the first one does. Again makes the parts start anew.
func TestTableMatchesAMap(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	const least = MaxBytes + 12
	for round := range tiertest.Runs(6, 40) {
		table, want := &Table{}, map[string]uint64{}
		for step := range 3 {
			var parts [][]byte
			table.Reset()
			clear(want)
			for range 1 + r.IntN(1<<r.IntN(14)) {
				name := strings.Repeat(string(rune('a'+r.IntN(26))), 1+r.IntN(1+round)) + fmt.Sprint(r.IntN(1000))
				if r.IntN(200) == 0 {
					name = strings.Repeat(name, MaxBytes)[:MaxBytes-r.IntN(4)]
				}
				count := 1 + r.Uint64N(1<<r.IntN(40))
				table.Add([]byte(name), count)
				want[name] += count
				if r.IntN(300) == 0 {
					if part, some := table.Part(least); some {
						if len(part) > least || len(part) == 0 {
							t.Fatalf("a part of %d bytes", len(part))
						}
						parts = append(parts, bytes.Clone(part))
					}
				}
				if r.IntN(3000) == 0 {
					table.Again()
					parts = nil
				}
				if r.IntN(3000) == 0 { // a restart: what no part has is lost, so the parts are made whole before
					for part, some := table.Part(least); some; part, some = table.Part(least) {
						parts = append(parts, bytes.Clone(part))
					}
					table = &Table{}
					for _, part := range parts {
						if err := table.Take(part); err != nil {
							t.Fatal(err)
						}
					}
					if part, some := table.Part(least); some {
						t.Fatalf("a restored table has a part of %d bytes", len(part))
					}
				}
			}
			for part, some := table.Part(least); some; part, some = table.Part(least) {
				parts = append(parts, bytes.Clone(part))
			}
			equal(t, fmt.Sprintf("round %d, step %d", round, step), table, want)
			forth, back := &Table{}, &Table{}
			for i := range parts {
				if forth.Take(parts[i]) != nil || back.Take(parts[len(parts)-1-i]) != nil {
					t.Fatal("a part is refused")
				}
			}
			equal(t, "restored", forth, want)
			equal(t, "restored in reverse", back, want)
		}
	}
}

// TestTakeRefusesDamage cuts and changes parts. What is refused must change nothing.
func TestTakeRefusesDamage(t *testing.T) {
	for _, part := range []string{
		"\x01", "\x00\x00\x01", "\x01\x00a", "\x01\x00a\x00", "\x02\x00a\x01", "\x01\x00a\x81\x00",
		"\x01\x10" + strings.Repeat("a", 4097) + "\x01", "\x01\x00a\x01\x01\x00b",
		"\x01\x00a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
		"\x01\x00a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
	} {
		table := &Table{}
		table.Add([]byte("a"), 1)
		if err := table.Take([]byte(part)); err == nil {
			t.Errorf("%q: taken", part)
		}
		equal(t, part, table, map[string]uint64{"a": 1})
	}
}

func FuzzPart(f *testing.F) {
	f.Add([]byte("\x01\x00a\x01\x02\x00ab\x80\x01"))
	f.Fuzz(func(t *testing.T, part []byte) {
		table := &Table{}
		if table.Take(part) != nil {
			return
		}
		want := contents(table)
		table.Again()
		again := &Table{}
		for part, some := table.Part(1 << 20); some; part, some = table.Part(1 << 20) {
			if err := again.Take(part); err != nil {
				t.Fatal(err)
			}
		}
		equal(t, "written again", again, want)
	})
}

// TestTablePanics covers duties of the caller.
func TestTablePanics(t *testing.T) {
	for title, call := range map[string]func(){
		"an empty name":     func() { (&Table{}).Add(nil, 1) },
		"a long name":       func() { (&Table{}).Add(make([]byte, contribution.MaxNameBytes+1), 1) },
		"a small part":      func() { (&Table{}).Part(MaxBytes) },
		"a part is missing": func() { New(halves{2}.law(), &scripted{}, 0).Whole(1) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", title)
				}
			}()
			call()
		}()
	}
}

// TestANameCostsLittleMore pins the memory of a million names of 16 bytes, and that no event allocates unless its name
// is new.
func TestANameCostsLittleMore(t *testing.T) {
	const names, perName = 1_000_000, 100
	table := &Table{}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range names {
		table.Add(fmt.Appendf(nil, "name %011d", i), 1)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	cost := float64(after.HeapAlloc-before.HeapAlloc) / names
	t.Logf("%.0f bytes a name of 16 bytes, %.0f by the table's own count", cost, float64(table.Bytes())/names)
	if cost > perName || float64(table.Bytes())/names > perName {
		t.Errorf("a name of 16 bytes costs %.0f bytes, above %d", cost, perName)
	}
	name := []byte("name 00000000007")
	table.Part(1 << 19)
	if n := testing.AllocsPerRun(100, func() { table.Add(name, 1) }); n != 0 {
		t.Errorf("%g allocations an event", n)
	}
}

func BenchmarkAdd(b *testing.B) {
	for _, distinct := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprintf("names=%d", distinct), func(b *testing.B) {
			table, names, r := &Table{}, make([][]byte, distinct), rand.New(rand.NewPCG(1, 1))
			for i := range names {
				names[i] = fmt.Appendf(nil, "name %011d", i)
			}
			b.ReportAllocs()
			for b.Loop() {
				table.Add(names[r.IntN(distinct)], 1)
			}
		})
	}
}

func BenchmarkClose(b *testing.B) {
	sampler, err := noise.NewTruncated(noise.Scale{Mant: 1}, 14)
	if err != nil {
		b.Fatal(err)
	}
	sum, chain := New(NewLaw(sampler.Tails(), 15), sampler, 0), noise.NewChain([32]byte{})
	for b.Loop() {
		b.StopTimer()
		for i := range 1_000_000 {
			sum.Open().Add(fmt.Appendf(nil, "%08x is a name", i*2654435761%(1<<32)), 1)
		}
		b.StartTimer()
		sum.Add(nil, nil, chain)
	}
}
