package noise

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestKnownChain(t *testing.T) {
	var chain *Chain
	var step, instance uint64
	for _, line := range readFile(t, "chain.txt") {
		head, want, _ := strings.Cut(line, " = ")
		var got [32]byte
		var id Identity
		var rate [4]uint64
		var text string
		var err error
		switch kind, rest, _ := strings.Cut(head, " "); kind {
		case "key":
			chain = NewChain([32]byte(parseSeed(t, rest)))
			continue
		case "record":
			var topic string
			_, err = fmt.Sscanf(rest, "%s %d %d %d %s", &topic, &id.Partition, &id.Offset, &id.LeaderEpoch, &text)
			if _, decode := hex.Decode(id.Topic[:], []byte(topic)); err != nil || decode != nil {
				t.Fatal(err, decode)
			}
			chain.Absorb(id, parseContribution(t, text))
			continue
		case "tag":
			got = chain.Tag(strings.TrimPrefix(rest, "empty"))
		case "step":
			_, err = fmt.Sscanf(rest, "%d", &step)
			chain.Close(step)
			got = chain.key
		case "noise":
			var x NodeID
			_, err = fmt.Sscanf(rest, "%d %d %d %d", &x.Instance, &x.Block, &x.Level, &x.Index)
			got = chain.Seed(x)
		case "drawn":
			chain.Drawn()
			got = chain.key
		case "draw":
			_, err = fmt.Sscanf(rest, "%d %d %d %d %d %d %s", &step, &instance, &rate[0], &rate[1], &rate[2], &rate[3], &text)
			got = chain.Draw(step, uint16(instance), rate, parseContribution(t, text))
		}
		if err != nil || hex.EncodeToString(got[:]) != want {
			t.Fatalf("%.100s: got %x, want %s: %v", head, got, want, err)
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

// reference is a chain by the definition in doc.go: it keeps all events of the open step and hashes them at the end.
type reference struct {
	key    [32]byte
	events []absorbed
}

type absorbed struct {
	id           Identity
	contribution []int64
}

func packed(values ...any) []byte {
	var b bytes.Buffer
	for _, v := range values {
		if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
			panic(err)
		}
	}
	return b.Bytes()
}

func named(domain string) []byte { return append(packed(byte(1), uint32(len(domain))), domain...) }

// opened returns the fields of topic and partitions.
func (r *reference) opened() []byte {
	topic, numbers, digests := [16]byte{}, map[int32]uint64{}, map[int32][32]byte{}
	for _, x := range r.events {
		topic = x.id.Topic
		p := x.id.Partition
		numbers[p]++
		length := uint32(len(x.contribution))
		digests[p] = sha256.Sum256(packed(digests[p], x.id.Offset, x.id.LeaderEpoch, length, x.contribution))
	}
	message := packed(byte(3), topic)
	for _, p := range slices.Sorted(maps.Keys(numbers)) {
		message = append(message, packed(byte(4), p, numbers[p], digests[p])...)
	}
	return message
}

func (r *reference) close(step uint64) {
	r.key = mac(r.key, slices.Concat(named("step"), packed(byte(2), step), r.opened()))
	r.events = nil
}

func (r *reference) tag(name string) [32]byte {
	return mac(r.key, slices.Concat(named("tag"), packed(byte(6), uint32(len(name)), []byte(name)), r.opened()))
}

func (r *reference) seed(x NodeID) Seed {
	return mac(r.key, append(named("noise"), packed(byte(5), x)...))
}

// TestChainMatchesReferenceModel plays random steps: partitions in any order, records that are no events, and restarts
// from the state at any place.
func TestChainMatchesReferenceModel(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	chain, want := NewChain([32]byte{9}), reference{key: [32]byte{9}}
	for i := range 2000 {
		step := r.Uint64()
		switch r.IntN(8) {
		case 0:
			chain.Close(step)
			want.close(step)
			for range i % 3 {
				x := NodeID{Instance: uint16(r.Uint32()), Block: r.Uint64(), Level: uint8(r.Uint32()), Index: r.Uint64()}
				if chain.Seed(x) != want.seed(x) {
					t.Fatalf("record %d: a seed is not its reference model's", i)
				}
			}
		case 1:
			chain.Drawn()
			want.key = mac(want.key, named("drawn"))
		case 2:
			state := chain.AppendState([]byte{1})
			restored, rest, err := NewScratch().CutState(append(state, 7)[1:])
			if err != nil || len(rest) != 1 || len(state) != 1+chain.StateLen() {
				t.Fatalf("record %d: state of %d bytes, %d after it: %v", i, len(state), len(rest), err)
			}
			chain = &restored
		default:
			id := Identity{Topic: [16]byte{3, byte(len(chain.rows))}, Partition: r.Int32N(1 + r.Int32N(40))}
			if len(want.events) > 0 {
				id.Topic = want.events[0].id.Topic
			}
			id.Offset, id.LeaderEpoch = r.Int64(), int32(r.Uint32())
			contribution := make([]int64, r.IntN(1+r.IntN(300)))
			for j := range contribution {
				contribution[j] = int64(r.Uint64())
			}
			if i%7 == 0 {
				contribution = nil
			} else {
				want.events = append(want.events, absorbed{id, contribution})
			}
			chain.Absorb(id, contribution)
		}
		if chain.key != want.key || chain.Tag("x") != want.tag("x") {
			t.Fatalf("record %d: the chain differs from its reference model", i)
		}
	}
}

// TestEveryFieldEntersTheChain checks that two steps that differ in only one field give different keys and tags. A
// record that is no event gives the key and tag of no record.
func TestEveryFieldEntersTheChain(t *testing.T) {
	type event = absorbed
	seen := map[[32]byte]string{}
	key := func(step uint64, events ...event) (tag, k [32]byte) {
		c := NewChain([32]byte{})
		for _, e := range events {
			c.Absorb(e.id, e.contribution)
		}
		tag = c.Tag("x")
		c.Close(step)
		return tag, c.key
	}
	play := func(what string, step uint64, events ...event) {
		tag, k := key(step, events...)
		for _, x := range [][32]byte{tag, k} {
			if other, ok := seen[x]; ok && what != "step" {
				t.Errorf("%s and %s give one key", what, other)
			}
			seen[x] = what
		}
	}
	one, zero := Identity{Offset: 1}, []int64{0}
	play("nothing", 1)
	play("base", 1, event{contribution: zero})
	play("step", 2, event{contribution: zero})
	play("topic", 1, event{Identity{Topic: [16]byte{15: 1}}, zero})
	play("partition", 1, event{Identity{Partition: 1}, zero})
	play("offset", 1, event{one, zero})
	play("epoch", 1, event{Identity{LeaderEpoch: 1}, zero})
	play("contribution", 1, event{contribution: []int64{1}})
	play("long contribution", 1, event{contribution: []int64{0, 0}})
	play("empty contribution", 1, event{contribution: []int64{}})
	play("two events", 1, event{contribution: zero}, event{one, zero})
	play("two events in another order", 1, event{one, zero}, event{contribution: zero})
	play("an event twice", 1, event{contribution: zero}, event{contribution: zero})
	play("two partitions", 1, event{contribution: zero}, event{Identity{Partition: 1, Offset: 1}, zero})

	tag, k := key(1, event{id: Identity{Topic: [16]byte{4}, Partition: 2, Offset: 3}})
	if wantTag, want := key(1); tag != wantTag || k != want {
		t.Error("a record that is no event enters the chain")
	}
	tag, k = key(1, event{Identity{Partition: 1, Offset: 1}, zero}, event{contribution: zero})
	if seen[k] != "two partitions" || seen[tag] != "two partitions" {
		t.Error("the order between partitions enters the chain")
	}

	seeds := map[Seed]bool{}
	c := NewChain([32]byte{})
	before := c.key
	for _, x := range []NodeID{{}, {Instance: 1}, {Block: 1}, {Level: 1}, {Index: 1}, {Index: 1 << 63}} {
		seeds[c.Seed(x)] = true
	}
	if len(seeds) != 6 || c.key != before {
		t.Errorf("%d of 6 seeds differ; key kept: %t", len(seeds), c.key == before)
	}
}

// TestEventsOfAStepLeaveTheState checks that the state after a step depends on its events through the key alone, and
// that its length depends on partitions alone.
func TestEventsOfAStepLeaveTheState(t *testing.T) {
	after := func(contribution []int64) []byte {
		c := NewChain([32]byte{})
		for p := range int32(5) {
			c.Absorb(Identity{Topic: [16]byte{1}, Partition: 4 - p, Offset: 9}, contribution)
		}
		if open := c.AppendState(nil); len(open) != c.StateLen() || len(open) != chainHead+5*PartitionLen {
			t.Fatalf("an open state of %d bytes", len(open))
		}
		c.Close(1)
		return c.AppendState(nil)
	}
	one, other, none := after([]int64{5}), after([]int64{6}), after(nil)
	if bytes.Equal(one, other) || !bytes.Equal(one[sha256.Size:], other[sha256.Size:]) ||
		!bytes.Equal(one[sha256.Size:], none[sha256.Size:]) {
		t.Errorf("states after a step:\n%x\n%x\n%x", one, other, none)
	}
}

func TestEventsOfTwoTopicsAreABug(t *testing.T) {
	c := NewChain([32]byte{})
	c.Absorb(Identity{Topic: [16]byte{1}}, []int64{0})
	c.Absorb(Identity{Topic: [16]byte{2}}, nil)
	defer func() {
		if recover() == nil {
			t.Error("events of two topics enter one step")
		}
	}()
	c.Absorb(Identity{Topic: [16]byte{2}}, []int64{0})
}

// FuzzChainState checks that every state that is not refused is written back.
func FuzzChainState(f *testing.F) {
	c := NewChain([32]byte{1})
	f.Add(c.AppendState(nil))
	c.Absorb(Identity{Topic: [16]byte{1}, Partition: 3}, []int64{4})
	c.Absorb(Identity{Partition: 7}, nil)
	f.Add(append(c.AppendState(nil), 9))
	f.Fuzz(func(t *testing.T, state []byte) {
		c, rest, err := NewScratch().CutState(state)
		if err == nil && (len(rest)+c.StateLen() != len(state) || !bytes.Equal(append(c.AppendState(nil), rest...), state)) {
			t.Error("a state is not written back")
		}
	})
}

func TestCutStateRefusesWhatNoChainWrites(t *testing.T) {
	c := NewChain([32]byte{1})
	for _, p := range []int32{2, 5} {
		c.Absorb(Identity{Topic: [16]byte{1}, Partition: p}, []int64{4})
	}
	c.Absorb(Identity{Partition: 9}, nil)
	good := c.AppendState(nil)
	last := chainHead + 2*PartitionLen
	bad := func(at int, b byte) []byte {
		state := bytes.Clone(good)
		state[at] = b
		return state
	}
	for what, state := range map[string][]byte{
		"empty": nil, "no head": good[:chainHead-1], "a row is cut": good[:len(good)-1], "more rows": bad(chainHead-4, 4),
		"2^31 rows": bad(chainHead-1, 128), "descending partitions": bad(last, 4), "a partition twice": bad(last, 5),
		"a negative partition": bad(chainHead+3, 128), "a digest of no event": bad(last+12, 1),
		"a topic of no event": append(bytes.Clone(good[:chainHead-4]), 0, 0, 0, 0),
	} {
		if _, _, err := NewScratch().CutState(state); err == nil {
			t.Errorf("%s: accepted", what)
		}
	}
}

func TestChainAllocatesNothing(t *testing.T) {
	c := NewChain([32]byte{})
	for _, n := range []int{0, 32, 10000} {
		contribution := make([]int64, n)
		step := func() {
			for p := range int32(20) {
				c.Absorb(Identity{Partition: p * 7 % 20}, contribution)
			}
			c.Tag("x")
			c.Close(1)
			c.Drawn()
		}
		if allocs := testing.AllocsPerRun(20, step); allocs != 0 {
			t.Errorf("a step of events of %d entries allocates %v times", n, allocs)
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
