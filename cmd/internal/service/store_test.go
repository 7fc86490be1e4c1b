package service_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/state"
	"oriel/state/frame"
	"oriel/state/local"
)

// store applies change to the local store of a stopped service.
func (f *fixture) store(change func(s *local.Store) error) {
	f.T.Helper()
	d := f.deployment()
	s, err := local.Open(f.Env["ORIEL_STATE_DIR"],
		state.Identity{Cluster: d.Topics.Cluster, Name: f.Name, Topic: d.Topics.Input.ID})
	if err != nil {
		f.T.Fatal(err)
	}
	if err := errors.Join(change(s), s.Close()); err != nil {
		f.T.Fatal(err)
	}
}

// TestRefuseLocalStoreAheadOfTheChangelog covers a broker that was restored from a backup, with the same topic id. Only
// the local store knew of the lost records; it was once cleared silently, and 60 decisions got a second value.
func TestRefuseLocalStoreAheadOfTheChangelog(t *testing.T) {
	t.Parallel()
	// the gap is large too, because the markers of take-overs soon fill a small one
	for _, ahead := range []int64{1, 1000} {
		t.Run(strconv.FormatInt(ahead, 10), func(t *testing.T) {
			t.Parallel()
			f := served(t)
			bounds, err := topics.BoundsOf(f.Ctx(), f.Client, f.Topic("changelog"), 0)
			if err != nil {
				t.Fatal(err)
			}
			d := f.deployment()
			sealer := f.sealer()
			var before []state.Record
			f.store(func(s *local.Store) (err error) {
				before, err = s.Load(0)
				ahead := []state.Record{localPosition(d, bounds.High+ahead)}
				for _, r := range before {
					if at, private, err := sealer.Open(r.Value); err == nil {
						at.Next += 10
						ahead = append(ahead, state.Record{Key: r.Key, Value: sealer.Seal(nil, at, private)})
					}
				}
				return errors.Join(err, s.Follow(0, ahead))
			})
			f.Refused(nil, "lost records that they had acknowledged", "local store", "ORIEL_NAME")
			// a second start fails in the same way, because the local store was kept
			f.Refused(nil, "lost records that they had acknowledged")
			f.store(func(s *local.Store) error { return s.Replace(0, before) })
			f.goesOn(50)
		})
	}
}

// TestRefuseAnotherChangelogUnderTheLocalStore covers the same restored broker after the changelog has grown beyond the
// local store's offset again.
func TestRefuseAnotherChangelogUnderTheLocalStore(t *testing.T) {
	t.Parallel()
	f := served(t)
	var before []state.Record
	f.store(func(s *local.Store) (err error) {
		before, err = s.Load(0)
		var other []state.Record
		for _, r := range before { // the state is the last record that the local store has copied; only this record changes
			if string(r.Key) != "changelog" && len(r.Value) > 2 && frame.Kind(r.Value[1]) == frame.KindState {
				value := append([]byte(nil), r.Value...)
				value[len(value)-1]++
				other = append(other, state.Record{Key: r.Key, Value: value})
			}
		}
		if len(other) != 1 {
			t.Fatalf("%d states", len(other))
		}
		return errors.Join(err, s.Follow(0, other))
	})
	f.Refused(nil, "lost records that they had acknowledged", "another record")
	f.store(func(s *local.Store) error { return s.Replace(0, before) })
	f.goesOn(50)
}

// TestTakeOverReportsWhatItWaitsFor checks that the log names the cause for which a take-over waits. Users once saw a
// partition restore for ever with a silent log.
func TestTakeOverReportsWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	f := served(t)
	for _, kind := range []string{"decisions", "verdicts", "changelog"} {
		other, err := produce.New(f.Ctx(), f.Client, f.Name+"-other", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if err := other.Begin(f.Ctx(), []kafka.TopicPartition{{Topic: f.Topic(kind)}}); err != nil {
			t.Fatal(err)
		}
		var b records.Builder
		b.Append([]byte("other"), []byte("other"), nil, time.Now().UnixMilli())
		if _, err := other.Produce(f.Ctx(), f.Topic(kind), 0, &b); err != nil {
			t.Fatal(err)
		}
		s := f.serve(nil, nil)
		f.Await(20*time.Second, "a word about "+kind, func() bool {
			return strings.Contains(s.output(), "still trying") &&
				strings.Contains(s.output(), "wait for the transactions on "+f.Topic(kind)+"/0")
		})
		if strings.Contains(s.output(), "state=running") {
			t.Errorf("the partition is worked on while a transaction on %s is not decided", kind)
		}
		if err := other.End(f.Ctx(), false); err != nil {
			t.Fatal(err)
		}
		s.stop()
	}
}
