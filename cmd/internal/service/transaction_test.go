package service_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"oriel/cmd/internal/service"
	"oriel/cmd/internal/servicetest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/changelog"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
	"oriel/pipeline/replay"
	"oriel/schemas/decision"
	"oriel/state"
	"oriel/state/keys"
	"oriel/state/local"
)

// A torn transaction is committed in some of its topics and not in others. The tests cover each of the sixteen
// combinations. A service is cut off when all its records are acknowledged, and the test itself commits the records in
// some topics.

// parts is a set of the topics of a transaction, one bit for each.
type parts uint

const (
	decisionsPart parts = 1 << iota
	statusesPart
	changelogPart
	offsetPart
	allParts = 1<<iota - 1
)

func (p parts) String() string {
	var names []string
	for i, name := range []string{"decisions", "verdicts", "changelog", "offset"} {
		if p&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	if names == nil {
		return "nothing"
	}
	return strings.Join(names, "+")
}

// prepare creates the topics of a fixture from this process.
func (f *fixture) prepare() {
	f.T.Helper()
	h := servicetest.Host()
	h.Environ, h.Stderr = nil, new(bytes.Buffer)
	for k, v := range f.Env {
		h.Environ = append(h.Environ, k+"="+v)
	}
	if err := service.PrepareTopics(f.Ctx(), h, 0, nil); err != nil {
		f.T.Fatal(err)
	}
}

// transactionalTopics returns the topics that a transaction writes to, by their bit.
func (f *fixture) transactionalTopics() map[parts]string {
	return map[parts]string{
		decisionsPart: f.Topic("decisions"), statusesPart: f.Topic("verdicts"), changelogPart: f.Topic("changelog"),
	}
}

// takeOver fences the service's producer of partition 0, which aborts what it has sent and not committed.
func (f *fixture) takeOver() (*produce.Producer, error) {
	id := f.deployment().Topics.Input.ID
	return produce.New(f.Ctx(), f.Client, fmt.Sprintf("%s/%x/0", f.Name, id), time.Minute)
}

// tear runs a service until all records of its next transaction are acknowledged, cuts it off there, and commits the
// records of some topics. It leaves the local store as if the commit had been acknowledged.
func (f *fixture) tear(committed parts, more map[string]string) {
	f.T.Helper()
	f.forge(committed, more, func(records.Record) []byte { return nil })
}

// forge is like tear, but in place of a record r it commits other(r), if other returns a value.
func (f *fixture) forge(committed parts, more map[string]string, other func(r records.Record) []byte) {
	f.T.Helper()
	before := map[parts]int64{}
	for part, topic := range f.transactionalTopics() {
		bounds, err := topics.StableEnd(f.Ctx(), f.Client, topic, 0)
		if err != nil {
			f.T.Fatal(err)
		}
		before[part] = bounds.High
	}
	produced, cut := make(chan struct{}), make(chan struct{})
	var once sync.Once
	s := f.serve(func(h *service.Host) {
		h.Listener.Reached = func(_ int32, p notice.Point) {
			if p == notice.PointProduced {
				once.Do(func() { close(produced) })
				<-cut
			}
		}
	}, more)
	select {
	case <-produced:
	case <-s.done:
		f.T.Fatalf("the service ended before it had sent a transaction: %v", s.err)
	case <-time.After(time.Minute):
		f.T.Fatal("no transaction was sent")
	}
	producer, err := f.takeOver()
	if err != nil {
		f.T.Fatal(err)
	}
	s.cancel()
	close(cut)
	<-s.done
	f.follow(before[changelogPart], more)
	var topics []kafka.TopicPartition
	for _, topic := range f.transactionalTopics() {
		topics = append(topics, kafka.TopicPartition{Topic: topic})
	}
	if err := producer.Begin(f.Ctx(), topics); err != nil {
		f.T.Fatal(err)
	}
	end := int64(-1) // input offset at which the transaction ends
	for part, topic := range f.transactionalTopics() {
		for _, r := range f.Read(topic, 0, true) {
			if r.Offset < before[part] {
				continue
			}
			if part == changelogPart {
				end = int64(binary.LittleEndian.Uint64(r.Value[42:])) // the input offset of a sealed state
			}
			if committed&part == 0 {
				continue
			}
			if value := other(r); value != nil {
				r.Value = value
			}
			var b records.Builder
			b.Append(r.Key, r.Value, r.Headers.List(), time.Now().UnixMilli())
			if _, err := producer.Produce(f.Ctx(), topic, 0, &b); err != nil {
				f.T.Fatal(err)
			}
		}
	}
	if committed&offsetPart != 0 {
		if err := producer.CommitOffsets(
			f.Ctx(), group.Membership{Group: f.Name, Generation: -1}, f.Env["ORIEL_INPUT_TOPIC"],
			[]group.Offset{{Partition: 0, Offset: end}},
		); err != nil {
			f.T.Fatal(err)
		}
	}
	if err := producer.End(f.Ctx(), true); err != nil {
		f.T.Fatal(err)
	}
}

// follow copies the changelog's records from an offset on, committed or not, into a local store.
func (f *fixture) follow(from int64, more map[string]string) {
	f.T.Helper()
	dir, d := f.Env["ORIEL_STATE_DIR"], f.deployment()
	if other := more["ORIEL_STATE_DIR"]; other != "" {
		dir = other
	}
	store, err := local.Open(dir, state.Identity{Cluster: d.Topics.Cluster, Name: f.Name, Topic: d.Topics.Input.ID})
	if err != nil {
		f.T.Fatal(err)
	}
	var records []state.Record
	next := from
	for _, r := range f.Read(f.Topic("changelog"), 0, true) {
		if r.Offset >= from {
			records = append(records, state.Record{Key: r.Key, Value: r.Value})
			next = r.Offset + 1
		}
	}
	records = append(records, localPosition(d, next))
	if err := errors.Join(store.Follow(0, records), store.Close()); err != nil {
		f.T.Fatal(err)
	}
}

// localPosition returns the record with which a local store notes how far it has followed the changelog.
func localPosition(d changelog.Deployment, next int64) state.Record {
	return state.Record{
		Key: []byte("changelog"), Value: binary.LittleEndian.AppendUint64(d.Topics.Changelog.ID[:], uint64(next)),
	}
}

// opened returns a deployment of one partition that is open and has consumed events. It also returns the checkpoint of
// step 0.
func opened(t *testing.T, more map[string]string, records []records.Record) (*fixture, []byte) {
	t.Helper()
	f := newFixture(t, 1, more)
	f.prepare()
	s := f.serve(nil, nil)
	s.running()
	checkpoint, err := replay.Checkpoint(f.Ctx(), f.deployment(), 0)
	if err != nil {
		t.Fatal(err)
	}
	f.Send(0, records...)
	f.AwaitTaken(time.Minute, int64(len(records)))
	s.stop()
	return f, checkpoint
}

// wholeHistory checks everything that a deployment has committed about its events. Each due decision must appear once,
// in order, with the bytes of a replay from step 0, and with no other value, even uncommitted. Each offset must have
// one record status, and the group's offset must be at the end.
func (f *fixture) wholeHistory(checkpoint []byte, taken, batch, every int) {
	f.T.Helper()
	values := map[uint64][]byte{}
	for _, r := range f.Read(f.Topic("decisions"), 0, true) {
		d, err := decision.Parse(r.Value)
		if err != nil {
			f.T.Fatal(err)
		}
		if earlier, seen := values[d.Index]; seen && !bytes.Equal(earlier, r.Value) {
			f.T.Errorf("decision %d has two values", d.Index)
		}
		values[d.Index] = r.Value
	}
	committed := f.Read(f.Topic("decisions"), 0, false)
	if want := taken / batch / every; len(committed) != want {
		f.T.Errorf("%d decisions are committed, want %d", len(committed), want)
	}
	for i, r := range committed {
		if d, err := decision.Parse(r.Value); err != nil || d.Index != uint64((i+1)*every) {
			f.T.Fatalf("place %d holds decision %d", i, d.Index)
		}
	}
	if n, err := replay.Check(f.Ctx(), f.deployment(), 0, checkpoint, func(int) {}); err != nil || n != len(committed) {
		f.T.Errorf("%d decisions recomputed: %v", n, err)
	}
	next := int64(0)
	for _, r := range f.Read(f.Topic("verdicts"), 0, false) {
		from, to := int64(binary.LittleEndian.Uint64(r.Value[34:])), int64(binary.LittleEndian.Uint64(r.Value[50:]))
		if from != next {
			f.T.Errorf("verdicts of the offsets %d to %d follow those up to %d", from, to, next)
		}
		next = to
	}
	if next != int64(taken) {
		f.T.Errorf("verdicts up to %d, want %d", next, taken)
	}
	if offset, err := group.CommittedOffset(f.Ctx(), f.Client, f.Name, f.Env["ORIEL_INPUT_TOPIC"], 0); err != nil ||
		offset != int64(taken) {
		f.T.Errorf("the group stands at %d, %v, want %d", offset, err, taken)
	}
}

// stateDir returns the state directory of the n-th service, or no directory if n is even.
func stateDir(t *testing.T, f *fixture, n int) map[string]string {
	if n%2 == 0 {
		return nil
	}
	return map[string]string{"ORIEL_STATE_DIR": filepath.Join(t.TempDir(), "state")}
}

// TestTornTransactionIsMadeWhole checks that a torn transaction is completed. Users once saw a partition wait for ever,
// and decisions twice after they freed it by hand. After each of the sixteen combinations, the test tears again: the
// repair or, if nothing needs repair, the next transaction.
func TestTornTransactionIsMadeWhole(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name         string
		batch, every int
		more         map[string]string
		events       func(n int) []records.Record
	}{
		{"each", 1, 1, nil, func(n int) []records.Record { return servicetest.Events(0, n) }},
		{"batch", 3, 2, map[string]string{"ORIEL_BATCH": "3", "ORIEL_EMIT_EVERY": "2"}, func(n int) []records.Record {
			return servicetest.Events(0, n)
		}},
		{"users", 1, 1, servicetest.ByUser, servicetest.OfNineUsers},
	}
	for row, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for committed := range parts(allParts + 1) {
				if tiertest.Runs(int(committed)%len(cases) != row, false) {
					continue // in the short form each of the sixteen combinations is tested in one of the cases
				}
				t.Run(committed.String(), func(t *testing.T) {
					t.Parallel()
					const before, torn, after = 20, 37, 50
					all := c.events(after)
					f, checkpoint := opened(t, c.more, all[:before])
					f.Send(0, all[before:torn]...)
					f.tear(committed, stateDir(t, f, int(committed)))
					f.Send(0, all[torn:]...)
					f.tear((5*committed+committed/4)%(allParts+1), stateDir(t, f, int(committed)/2))
					s := f.serve(nil, stateDir(t, f, int(committed)/4))
					f.AwaitTaken(time.Minute, after)
					s.stop()
					f.wholeHistory(checkpoint, after, c.batch, c.every)
				})
			}
		})
	}
}

// TestTornOpeningIsMadeWhole checks that a partition loses nothing if its opening was acknowledged but is committed
// only in some topics.
func TestTornOpeningIsMadeWhole(t *testing.T) {
	t.Parallel()
	for i, committed := range []parts{0, offsetPart, changelogPart, changelogPart | offsetPart} {
		for k, again := range []parts{0, offsetPart, changelogPart} {
			// The short form combines each first combination with one second combination, if there is one.
			if tiertest.Runs(committed&changelogPart != 0 && k > 0 || committed&changelogPart == 0 && k%2 != i%2, false) {
				continue
			}
			t.Run(committed.String()+" "+again.String(), func(t *testing.T) {
				t.Parallel()
				f := newFixture(t, 1, nil)
				f.prepare()
				f.tear(committed, nil)
				if committed&changelogPart == 0 {
					f.tear(again, nil)
				}
				s := f.serve(nil, nil)
				s.running()
				checkpoint, err := replay.Checkpoint(f.Ctx(), f.deployment(), 0)
				if err != nil {
					t.Fatal(err)
				}
				f.Send(0, servicetest.Events(0, 20)...)
				f.AwaitTaken(time.Minute, 20)
				s.stop()
				f.wholeHistory(checkpoint, 20, 1, 1)
			})
		}
	}
}

// TestTornTransactionOfOtherBytesStops checks that the service stops if committed records beyond the state differ from
// the recomputed ones. They are a second history, after which the service must not write.
func TestTornTransactionOfOtherBytesStops(t *testing.T) {
	t.Parallel()
	first := map[parts]string{
		decisionsPart: "differs from the one that its events give", statusesPart: "verdicts of the offsets",
	}
	for part, says := range first {
		t.Run(part.String(), func(t *testing.T) {
			t.Parallel()
			f, _ := opened(t, nil, servicetest.Events(0, 20))
			f.Send(0, servicetest.Events(20, 10)...)
			f.forge(part, nil, func(r records.Record) []byte {
				if d, err := decision.Parse(r.Value); err == nil && d.Index == 25 {
					return otherDecision(r.Value)
				}
				if part == statusesPart {
					return f.otherStatuses(r.Value)
				}
				return nil
			})
			f.Refused(nil, says, "ORIEL_NAME")
		})
	}
}

// otherDecision returns the decision with its first number changed.
func otherDecision(line []byte) []byte {
	return regexp.MustCompile(`"decision":\[[^,]*`).ReplaceAll(line, []byte(`"decision":[0.125`))
}

// otherStatuses returns a row of record statuses for the same offsets, with other statuses.
func (f *fixture) otherStatuses(sealed []byte) []byte {
	f.T.Helper()
	sealer := f.sealer()
	row, err := sealer.OpenStatuses(sealed)
	if err != nil {
		f.T.Fatal(err)
	}
	row.Statuses[3]++
	return sealer.SealStatuses(nil, row)
}

// sealer returns a Sealer that opens the sealed records of partition 0.
func (f *fixture) sealer() *state.Sealer {
	f.T.Helper()
	master, err := keys.LoadMasterKey(f.Env["ORIEL_MASTER_KEY_FILE"])
	if err != nil {
		f.T.Fatal(err)
	}
	for _, r := range f.Read(f.Topic("changelog"), 0, false) {
		if inc, err := state.OpenIncarnation(r.Value, master); err == nil {
			sealer, err := inc.Sealer()
			if err != nil {
				f.T.Fatal(err)
			}
			return sealer
		}
	}
	f.T.Fatal("no incarnation in the changelog")
	return nil
}

// TestTwoValuesOfAnAbortedDecisionStop checks that the service stops if an aborted decision exists with two values,
// because it cannot know on which of them the state depends.
func TestTwoValuesOfAnAbortedDecisionStop(t *testing.T) {
	t.Parallel()
	f, _ := opened(t, nil, servicetest.Events(0, 20))
	f.Send(0, servicetest.Events(20, 10)...)
	f.tear(changelogPart|statusesPart|offsetPart, nil)
	all := f.Read(f.Topic("decisions"), 0, true)
	producer, err := f.takeOver()
	if err != nil {
		t.Fatal(err)
	}
	if err := producer.Begin(f.Ctx(), []kafka.TopicPartition{{Topic: f.Topic("decisions")}}); err != nil {
		t.Fatal(err)
	}
	var b records.Builder
	b.Append([]byte("0"), otherDecision(all[24].Value), nil, time.Now().UnixMilli())
	if _, err := producer.Produce(f.Ctx(), f.Topic("decisions"), 0, &b); err != nil {
		t.Fatal(err)
	}
	if err := producer.End(f.Ctx(), false); err != nil {
		t.Fatal(err)
	}
	f.Refused(nil, "decision 25 can be read with two values", "ORIEL_NAME")
}

// TestResetOffsetsBesideATornTransaction checks the message for decisions that are committed beyond the state. It once
// advised resetting the offset, which would have duplicated these decisions. To follow the message must be enough.
func TestResetOffsetsBesideATornTransaction(t *testing.T) {
	t.Parallel()
	f, checkpoint := opened(t, nil, servicetest.Events(0, 20))
	f.Send(0, servicetest.Events(20, 10)...)
	f.tear(decisionsPart, nil)
	f.commitOffset(7)
	f.Refused(nil, "offsets were reset", "--delete-offsets")
	f.commitOffset(20)
	s := f.serve(nil, nil)
	f.AwaitTaken(time.Minute, 30)
	s.stop()
	f.wholeHistory(checkpoint, 30, 1, 1)
}
