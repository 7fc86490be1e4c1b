package simtest

import (
	"encoding/binary"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// wire is a member's connection to a broker. It carries one request after the other, as Kafka's connections do.
type wire struct {
	d              *Deployment
	member         *Member
	client, broker net.Conn
	requests       chan []byte
	gone           chan struct{} // closed when the client's side of the connection has ended
	once           sync.Once
}

func (d *Deployment) newWire(m *Member, broker net.Conn) (*wire, net.Conn) {
	client, far := net.Pipe()
	w := &wire{d: d, member: m, client: far, broker: broker, requests: make(chan []byte), gone: make(chan struct{})}
	go w.listen()
	go w.carry()
	return w, client
}

// listen reads the client's requests.
func (w *wire) listen() {
	defer close(w.requests)
	for {
		frame, err := readFrame(w.client)
		if err != nil {
			w.hangUp()
			return
		}
		select {
		case w.requests <- frame:
		case <-w.gone:
			return
		}
	}
}

// hangUp ends the client's side; requests already sent still arrive.
func (w *wire) hangUp() {
	w.once.Do(func() { close(w.gone) })
	_ = w.client.Close()
}

func (w *wire) carry() {
	defer func() {
		w.hangUp()
		_ = w.broker.Close()
	}()
	for frame := range w.requests {
		if !w.exchange(frame) {
			return
		}
	}
}

// exchange carries a request and its answer, and reports whether the connection stays open.
func (w *wire) exchange(frame []byte) bool {
	request, correlation, err := parseRequest(frame)
	if err != nil {
		panic("BUG: pipetest: " + err.Error())
	}
	if request.Key() == apiVersions {
		_, answer := w.ask(frame)
		return answer != nil && w.answer(answer)
	}
	entry, way := w.d.sent(w.member, request, len(frame))
	time.Sleep(way)
	sending := sending{w.member, entry.At, entry.Kind()}
	later, digest := w.d.behind(sending, frame)
	time.Sleep(later)
	dies, done := w.member.counted()
	effect := w.d.effect(sending, digest, *entry)
	time.Sleep(effect.delay)
	time.Sleep(w.d.untilAllSync(request))
	end := func(outcome string, answer []byte) bool {
		time.Sleep(way)
		w.d.ended(entry, outcome, len(answer))
		return answer != nil && w.answer(answer)
	}
	if dies {
		if done {
			_, _ = w.serve(request, frame)
		}
		w.member.mu.Lock()
		w.member.die()
		w.member.mu.Unlock()
		return end("killed", nil)
	}
	switch effect.kind {
	case part:
		frame = withLeast(frame, request)
	case cut:
		return end("cut", nil)
	case refuse:
		refused := refusal(request, int16(effect.code))
		if refused == nil {
			return end("cut", nil) // because the answer has no field for an error code
		}
		return end(effect.String(), answerFrame(refused, correlation))
	default:
	}
	outcome, answer := w.serve(request, frame)
	if answer == nil {
		return end(outcome, nil)
	}
	parsed, err := parseAnswer(request, answer)
	if err != nil {
		panic("BUG: pipetest: " + err.Error())
	}
	w.d.learn(request, parsed)
	if effect.kind == lose {
		return end("lost", nil)
	}
	return end(codeName(firstCode(parsed)), answer)
}

// serve sends a request to the broker, and makes kfake do what an Apache Kafka broker does. A sync restarts the session
// timeout: kfake restarts it only for members that had to wait, and which members wait depends on kfake's random choice
// of the leader. The end of an open transaction by a take-over costs an epoch, and the client's second request another.
func (w *wire) serve(request kmsg.Request, frame []byte) (outcome string, answer []byte) {
	init, ok := request.(*kmsg.InitProducerIDRequest)
	if ok && init.TransactionalID != nil && w.isOpen(frame, *init.TransactionalID) {
		_, _ = w.ask(frame)
	}
	outcome, answer = w.ask(frame)
	if sync, ok := request.(*kmsg.SyncGroupRequest); ok && answer != nil {
		beat := kmsg.NewPtrHeartbeatRequest() // version 0
		beat.Group, beat.Generation, beat.MemberID = sync.Group, sync.Generation, sync.MemberID
		_, _ = w.ask(frameBehind(frame, beat))
	}
	return outcome, answer
}

// isOpen asks the broker whether a transactional id has an open transaction.
func (w *wire) isOpen(frame []byte, id string) bool {
	describe := kmsg.NewPtrDescribeTransactionsRequest()
	describe.TransactionalIDs = []string{id}
	_, answer := w.ask(frameBehind(frame, describe))
	if answer == nil {
		return false
	}
	parsed, err := parseAnswer(describe, answer)
	if err != nil {
		panic("BUG: pipetest: " + err.Error())
	}
	is, _ := parsed.(*kmsg.DescribeTransactionsResponse)
	return len(is.TransactionStates) == 1 && is.TransactionStates[0].State == "Ongoing"
}

// ask passes a request on and waits for its answer. The answer is nil if either side ends first.
func (w *wire) ask(frame []byte) (outcome string, answer []byte) {
	if _, err := w.broker.Write(frame); err != nil {
		return "broker gone", nil
	}
	answers := make(chan []byte, 1)
	go func() {
		answer, err := readFrame(w.broker)
		if err != nil {
			answer = nil
		}
		answers <- answer
	}()
	select {
	case answer := <-answers:
		if answer == nil {
			return "broker gone", nil
		}
		return "", answer
	case <-w.gone:
		_ = w.broker.Close()
		<-answers
		return "client gone", nil
	}
}

func (w *wire) answer(frame []byte) bool {
	_, err := w.client.Write(frame)
	return err == nil
}

// latency returns how long a message takes: half a millisecond plus a small amount. The amount differs between members,
// partitions and requests, so that two goroutines hardly ever act at the same time, and results do not depend on the
// scheduler.
func latency(m *Member, request kmsg.Request, partition int32) time.Duration {
	const base = 500 * time.Microsecond
	return base + time.Duration(m.number)*10_007 + time.Duration(partition+1)*1_009 + time.Duration(request.Key())*11
}

// drawnLatency returns a latency from a tenth of a millisecond to three, drawn from a seed for each kind of request and
// moment. Two requests of one kind at one moment get the same latency, because their order is random.
func drawnLatency(seed uint64, m *Member, r Request) time.Duration {
	h := fnv.New64a()
	_ = binary.Write(h, binary.LittleEndian, [3]uint64{seed, uint64(r.At), uint64(m.number)})
	_, _ = io.WriteString(h, r.Kind().String())
	random := rand.New(rand.NewPCG(h.Sum64(), seed))
	return 100*time.Microsecond + time.Duration(random.Int64N(int64(2900*time.Microsecond)))
}
