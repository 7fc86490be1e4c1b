package kafka

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	kafkago "github.com/segmentio/kafka-go"
)

// TestALossIsBelievedWhenItLasts checks that a loss does not count at the first check, nor at a second check soon
// after, nor if the time between checks is too long to show that the loss lasted.
func TestALossIsBelievedWhenItLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d Doubt
		for range 10 {
			if d.Over() {
				t.Fatal("believed before ten seconds of looks")
			}
			time.Sleep(time.Second)
		}
		if !d.Over() {
			t.Fatal("not believed after ten seconds of looks")
		}
		d.Clear()
		if d.Over() {
			t.Fatal("believed at once, after a look that found nothing wrong")
		}
		time.Sleep(doubtFor + time.Nanosecond)
		if d.Over() {
			t.Fatal("believed at a second look after a long silence")
		}
		time.Sleep(doubtFor)
		if !d.Over() {
			t.Fatal("not believed at a look ten seconds later")
		}
	})
}

func TestADoubtedLossIsTransient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d Doubt
		for _, loss := range []error{ErrTruncated, ErrOffsetOutOfRange, ErrTopicRecreated} {
			if err := d.Verdict(loss); Classify(err) != Retry || !staleLayout(err) {
				t.Errorf("%v at the first look: %v, stale layout %t", loss, Classify(err), staleLayout(err))
			}
		}
		time.Sleep(doubtFor)
		if err := d.Verdict(ErrTruncated); !errors.Is(err, ErrTruncated) || Classify(err) != Fatal {
			t.Errorf("at the last look: %v", err)
		}
	})
}

// TestAnOlderLeaderIsNotAsked checks that a layout older than the newest known makes the client look for another
// layout, as long as it may come from a broker that was disconnected. A recreated topic starts from epoch 0, so after a
// while the client must follow its layout.
func TestAnOlderLeaderIsNotAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l leaders
		p := TopicPartition{Topic: "t", Partition: 1}
		want := func(epoch int32, want error) {
			t.Helper()
			if err := l.take(p, epoch); !errors.Is(err, want) {
				t.Fatalf("layout of epoch %d: %v, want %v", epoch, err, want)
			}
		}
		want(3, nil)
		l.note(p, 5)
		l.note(p, 4)
		want(4, kafkago.UnknownLeaderEpoch)
		if err := l.take(TopicPartition{Topic: "t"}, 0); err != nil {
			t.Fatalf("another partition: %v", err)
		}
		want(6, nil)
		time.Sleep(doubtFor)
		want(5, kafkago.UnknownLeaderEpoch)
		time.Sleep(doubtFor / 2)
		want(5, kafkago.UnknownLeaderEpoch)
		time.Sleep(doubtFor / 2)
		want(5, nil)
	})
}
