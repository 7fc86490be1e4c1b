package noise

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

func TestKnownChain(t *testing.T) {
	var chain *Chain
	for _, line := range readFile(t, "chain.txt") {
		head, want, _ := strings.Cut(line, " = ")
		var got [32]byte
		switch kind, rest, _ := strings.Cut(head, " "); kind {
		case "key":
			chain = NewChain([32]byte(parseSeed(t, rest)))
			continue
		case "record":
			var step uint64
			var place uint32
			var id Identity
			var topic, values string
			if _, err := fmt.Sscanf(rest, "%d %d %s %d %d %d %s", &step, &place, &topic,
				&id.Partition, &id.Offset, &id.LeaderEpoch, &values); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			if _, err := hex.Decode(id.Topic[:], []byte(topic)); err != nil {
				t.Fatal(err)
			}
			chain.Absorb(step, place, id, parseContribution(t, values))
			got = chain.Key()
		case "noise":
			var x NodeID
			if _, err := fmt.Sscanf(rest, "%d %d %d %d", &x.Instance, &x.Block, &x.Level, &x.Index); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			got = chain.Seed(x)
		}
		if hex.EncodeToString(got[:]) != want {
			t.Fatalf("%.100s: got %x, want %s", head, got, want)
		}
	}
}

func parseContribution(t testing.TB, text string) []int64 {
	t.Helper()
	switch {
	case text == "null":
		return nil
	case text == "empty":
		return []int64{}
	case text == "range:10000":
		contribution := make([]int64, 10000)
		for i := range contribution {
			contribution[i] = int64(i)
		}
		return contribution
	}
	var contribution []int64
	for s := range strings.SplitSeq(text, ",") {
		v, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		contribution = append(contribution, v)
	}
	return contribution
}

// slowAbsorb computes Absorb by the definition in doc.go with crypto/hmac.
func slowAbsorb(key [32]byte, step uint64, place uint32, id Identity, contribution []int64) (k [32]byte) {
	b := []byte("\x01\x06\x00\x00\x00record")
	b = binary.LittleEndian.AppendUint64(append(b, 2), step)
	b = binary.LittleEndian.AppendUint32(append(b, 3), place)
	var m bytes.Buffer
	m.Write(append(b, 4))
	null := uint8(0)
	if contribution == nil {
		null = 1
	}
	for _, v := range []any{
		id.Topic, id.Partition, id.Offset, id.LeaderEpoch, byte(5), null, uint32(len(contribution)), contribution,
	} {
		if err := binary.Write(&m, binary.LittleEndian, v); err != nil {
			panic(err)
		}
	}
	h := hmac.New(sha256.New, key[:])
	h.Write(m.Bytes())
	return [32]byte(h.Sum(nil))
}

func slowSeed(key [32]byte, x NodeID) Seed {
	h := hmac.New(sha256.New, key[:])
	h.Write([]byte("\x01\x05\x00\x00\x00noise\x06"))
	if err := binary.Write(h, binary.LittleEndian, x); err != nil {
		panic(err)
	}
	return Seed(h.Sum(nil))
}

func TestChainMatchesReferenceModel(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	chain := NewChain([32]byte{9})
	for i := range 300 {
		var id Identity
		for j := range id.Topic {
			id.Topic[j] = byte(r.Uint32())
		}
		id.Partition, id.Offset, id.LeaderEpoch = r.Int32(), r.Int64(), int32(r.Uint32())
		contribution := make([]int64, i)
		for j := range contribution {
			contribution[j] = int64(r.Uint64())
		}
		if i%7 == 0 {
			contribution = nil
		}
		step, place := r.Uint64(), r.Uint32()
		want := slowAbsorb(chain.Key(), step, place, id, contribution)
		chain.Absorb(step, place, id, contribution)
		if chain.Key() != want {
			t.Fatalf("record %d: the chain differs from its reference model", i)
		}
		for range i % 3 {
			x := NodeID{Instance: uint16(r.Uint32()), Block: r.Uint64(), Level: uint8(r.Uint32()), Index: r.Uint64()}
			if chain.Seed(x) != slowSeed(want, x) {
				t.Fatalf("record %d: a seed is not its reference model's", i)
			}
		}
	}
}

// TestEveryFieldEntersTheChain checks that two records that differ in only one field, and a null and a zero
// contribution, give different chains.
func TestEveryFieldEntersTheChain(t *testing.T) {
	keys := map[[32]byte]string{}
	absorb := func(what string, step uint64, place uint32, id Identity, contribution []int64) {
		c := NewChain([32]byte{})
		c.Absorb(step, place, id, contribution)
		if other, ok := keys[c.Key()]; ok {
			t.Errorf("%s and %s give one key", what, other)
		}
		keys[c.Key()] = what
	}
	absorb("base", 1, 1, Identity{}, []int64{0})
	absorb("step", 2, 1, Identity{}, []int64{0})
	absorb("place", 1, 2, Identity{}, []int64{0})
	absorb("topic", 1, 1, Identity{Topic: [16]byte{15: 1}}, []int64{0})
	absorb("partition", 1, 1, Identity{Partition: 1}, []int64{0})
	absorb("offset", 1, 1, Identity{Offset: 1}, []int64{0})
	absorb("epoch", 1, 1, Identity{LeaderEpoch: 1}, []int64{0})
	absorb("contribution", 1, 1, Identity{}, []int64{1})
	absorb("long contribution", 1, 1, Identity{}, []int64{0, 0})
	absorb("empty contribution", 1, 1, Identity{}, []int64{})
	absorb("null", 1, 1, Identity{}, nil)

	seeds := map[Seed]bool{}
	c := NewChain([32]byte{})
	before := c.Key()
	for _, x := range []NodeID{{}, {Instance: 1}, {Block: 1}, {Level: 1}, {Index: 1}, {Index: 1 << 63}} {
		seeds[c.Seed(x)] = true
	}
	if len(seeds) != 6 || c.Key() != before {
		t.Errorf("%d of 6 seeds differ; key kept: %t", len(seeds), c.Key() == before)
	}
}

func TestChainAllocatesNothing(t *testing.T) {
	c := NewChain([32]byte{})
	for _, n := range []int{0, 32, 10000} {
		contribution := make([]int64, n)
		if allocs := testing.AllocsPerRun(20, func() { c.Absorb(1, 0, Identity{}, contribution) }); allocs != 0 {
			t.Errorf("Absorb of %d entries allocates %v times", n, allocs)
		}
	}
	var sink Seed
	if allocs := testing.AllocsPerRun(20, func() { sink = c.Seed(NodeID{}) }); allocs != 0 {
		t.Errorf("Seed allocates %v times", allocs)
	}
	if text := fmt.Sprintf("%v %+v %#v %s", sink, sink, sink, sink); strings.Count(text, "hidden") != 4 {
		t.Errorf("a seed prints as %q", text)
	}
}
