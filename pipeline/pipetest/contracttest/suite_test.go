package contracttest

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/pipetest/logtest"
	"oriel/pipeline/pipetest/simtest"
)

// patience bounds the duration of a test, so that a broker that never answers fails it. Waits for a group are much
// shorter: at most a session timeout (6 s).
const patience = 90 * time.Second

// onBroker runs the suite against the broker at addr (host:port, several separated by commas).
func onBroker(t *testing.T, addr string) {
	for name, test := range suite {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(&env{T: t, addr: addr, dial: new(net.Dialer).DialContext}, test)
		})
	}
}

// inBubbles runs each test of the suite against a separate embedded broker, in a testing/synctest bubble. The bubble's
// clock advances when all goroutines wait.
func inBubbles(t *testing.T) {
	for name, test := range suite {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := simtest.New(t)
				run(&env{T: t, addr: d.Addr(), dial: d.Dial, bubble: true}, test)
			})
		})
	}
}

// dial connects to an address.
type dial func(ctx context.Context, network, address string) (net.Conn, error)

func run(e *env, test func(*env)) {
	ctx, cancel := context.WithTimeout(e.Context(), patience)
	defer cancel()
	e.ctx, e.c = ctx, e.client(nil)
	test(e)
}

// suite lists the tests that a broker must pass, by name.
var suite = map[string]func(*env){
	"TransactionBecomesVisibleAsAWhole":      transactionVisible,
	"AbortLeavesNothing":                     abortLeavesNothing,
	"ReadableEndWaitsForWhatIsOpen":          readableEnd,
	"TakeoverFencesEveryCallOfTheZombie":     takeoverFences,
	"TakeoverAbortsTheOpenTransaction":       takeoverAborts,
	"StaleGenerationCannotCommit":            staleGeneration,
	"OffsetWaitsForTheOpenTransaction":       offsetWaits,
	"ResentBatchIsInTheLogOnce":              resentOnce,
	"SequenceGapAndOldEpochAreRefused":       badStamps,
	"BatchOutsideATransactionIsRefused":      batchOutside,
	"IdempotentProducerNeedsNoTransaction":   idempotentOnly,
	"LostConnectionsLoseAndRepeatNothing":    lostConnections,
	"OnlyCommittedRecordsFromEveryOffset":    committedFromEveryOffset,
	"EveryCodecKeepsEveryField":              everyCodec,
	"BrokersSetTheTimeWhereATopicSaysSo":     appendTimes,
	"RecordsLargerThanTheFetchLimitArrive":   largeRecords,
	"CompactedOffsetsAreSteppedOver":         compacted,
	"LogIdentityIsKnown":                     identity,
	"OffsetsOutsideTheLogAreRefused":         outOfRange,
	"OperatorsAlterATopicAndItsStart":        altered,
	"PartitionsAreAddedAndNeverTaken":        partitionsAdded,
	"DamagedBytesNeverBecomeRecords":         damaged,
	"TopicMadeAgainIsNotReadUnderItsOldId":   recreated,
	"DeletedTopicEndsItsReader":              deleted,
	"LeaderEpochsTellOfTruncation":           epochs,
	"TooManyHeadersHideOneRecordOnly":        manyHeaders,
	"TwoMembersShareAndTakeOver":             twoMembers,
	"OwnerKeepsItsShare":                     ownerKeepsItsShare,
	"PartitionsMoveOnlyAfterClose":           partitionsMoveAfterClose,
	"MemberKilledWhileJoiningLosesItsShare":  killedWhileJoining,
	"RestartedMemberTakesItsPlaceAgain":      placeTakenAgain,
	"RestartedJoinerLeavesNoGhost":           joinerRestarted,
	"AllMembersRestartedAtOnce":              allRestarted,
	"OnePlaceForTwoIsSharedByNobody":         onePlaceForTwo,
	"LeaverFreesItsPlaceAtOnce":              leaverFreesPlace,
	"MembersKilledInTurnsDoNotBlockTheGroup": killedInTurns,
}

// env is the environment of a test of the suite.
type env struct {
	*testing.T
	ctx    context.Context
	addr   string
	dial   dial
	bubble bool
	c      *kafka.Client
}

// client connects to the broker with the default configuration, which change may modify.
func (e *env) client(change func(*kafka.Config)) *kafka.Client {
	e.Helper()
	config := kafka.Config{Brokers: strings.Split(e.addr, ","), ClientID: "oriel-contract", Dial: e.dial}
	if change != nil {
		change(&config)
	}
	c, err := kafka.New(config)
	if err != nil {
		e.Fatal(err)
	}
	e.Cleanup(func() {
		if err := c.Close(); err != nil {
			e.Error(err)
		}
	})
	return c
}

// together calls f(0) … f(n−1) concurrently and waits for all, so that waits of ten seconds for brokers overlap.
func (e *env) together(n int, f func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { f(i) })
	}
	all.Wait()
}

func (e *env) check(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

func (e *env) name(kind string) string {
	return kind + "-" + strings.ToLower(rand.Text()[:10])
}

func (e *env) topic(partitions int, settings map[string]string) string {
	e.Helper()
	name := e.name("contract")
	e.check(topics.Create(e.ctx, e.c, name, partitions, 1, settings))
	return name
}

func (e *env) producer(id string) *produce.Producer {
	e.Helper()
	p, err := produce.New(e.ctx, e.c, id, time.Minute)
	e.check(err)
	return p
}

func (e *env) bounds(topic string) topics.Bounds {
	e.Helper()
	b, err := topics.BoundsOf(e.ctx, e.c, topic, 0)
	e.check(err)
	return b
}

func (e *env) committed(groupID, topic string) int64 {
	e.Helper()
	offset, err := group.CommittedOffset(e.ctx, e.c, groupID, topic, 0)
	e.check(err)
	return offset
}

// batch holds one record per value; the key is the value's index. The timestamp is the current time, because retention
// would delete older records while a test runs.
func batch(values ...string) *records.Builder {
	b := new(records.Builder)
	for i, v := range values {
		b.Append([]byte{byte(i)}, []byte(v), nil, time.Now().UnixMilli())
	}
	return b
}

// transact sends a transaction with one batch to partition 0.
func (e *env) transact(p *produce.Producer, topic string, commit bool, values ...string) {
	e.Helper()
	e.check(p.Begin(e.ctx, []kafka.TopicPartition{{Topic: topic}}))
	_, err := p.Produce(e.ctx, topic, 0, batch(values...))
	e.check(err)
	e.check(p.End(e.ctx, commit))
}

// settle waits until no transaction is open, because a broker answers a commit before its markers are in the log.
func (e *env) settle(topic string) topics.Bounds {
	e.Helper()
	for {
		if b := e.bounds(topic); b.Stable == b.High {
			return b
		}
		select {
		case <-e.ctx.Done():
			e.Fatal("a transaction stays open")
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// log reads partition 0 from offset to the end. Unless uncommitted records are asked for, no transaction may stay open.
func (e *env) log(c *kafka.Client, topic string, offset int64, o fetch.Options) []records.Record {
	e.Helper()
	records, err := e.tryLog(c, topic, offset, o)
	e.check(err)
	return records
}

// tryLog does the same as log, and returns an error if the broker refuses the reader.
func (e *env) tryLog(c *kafka.Client, topic string, offset int64, o fetch.Options) ([]records.Record, error) {
	e.Helper()
	if !o.Uncommitted {
		e.settle(topic)
	}
	return logtest.Read(e.ctx, c, topic, 0, offset, o)
}

func values(records []records.Record) string {
	var s []string
	for _, r := range records {
		s = append(s, string(r.Value))
	}
	return strings.Join(s, " ")
}

func (e *env) wantLog(topic string, want ...string) {
	e.Helper()
	if got := values(e.log(e.c, topic, 0, fetch.Options{})); got != strings.Join(want, " ") {
		e.Fatalf("committed log is %q, want %q", got, strings.Join(want, " "))
	}
}

func (e *env) wantClass(what string, err error, want kafka.Class) {
	e.Helper()
	if got := kafka.Classify(err); got != want {
		e.Fatalf("%s: class %v, want %v (error: %v)", what, got, want, err)
	}
}

func number(i int) string { return fmt.Sprintf("r%05d", i) }
