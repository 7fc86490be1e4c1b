package embedded

import (
	"encoding/binary"
	"hash/crc32"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// This file makes topics with message.timestamp.type=LogAppendTime: their batches get the broker's time. kfake stores
// the setting and ignores it. It would even set the times of a batch that a producer sends with the attribute,
// and leave a wrong checksum. So stamp sets the time of a batch before kfake stores it, and marks the batch. In answers
// to fetches, unmark replaces the mark by Kafka's attribute.

// The fields of a record batch, format 2. The checksum covers everything from the attributes on.
const (
	batchLengthAt  = 8
	batchSumAt     = 17
	attributesAt   = 21
	maxTimeAt      = 35
	batchHeaderLen = 61
	batchPrefixLen = 12 // base offset and length; the length does not count them

	logAppendTime = 1 << 3  // attribute of a batch: its times are the broker's
	marked        = 1 << 14 // attribute that Kafka does not use: logAppendTime, while kfake has the batch
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// stampProduced sets the times of produced batches, as the settings of their topics say.
func stampProduced(c *kfake.Cluster, now func() time.Time) {
	c.ControlKey(int16(kmsg.Produce), func(request kmsg.Request) (kmsg.Response, error, bool) {
		produce, ok := request.(*kmsg.ProduceRequest)
		if !ok {
			return nil, nil, false
		}
		for _, topic := range produce.Topics {
			info := c.TopicInfo(topic.Topic)
			if topic.Topic == "" {
				info = c.TopicIDInfo(topic.TopicID)
			}
			if info == nil {
				continue // kfake refuses the batches
			}
			kind := info.Configs["message.timestamp.type"]
			for _, p := range topic.Partitions {
				stamp(p.Records, kind != nil && *kind == "LogAppendTime", now().UnixMilli())
			}
		}
		return nil, nil, false
	})
}

// stamp sets the time of a batch, or removes the attribute with which a producer claims that a broker has set it. It
// leaves damaged batches as they are, so that kfake refuses them.
func stamp(batch []byte, appended bool, now int64) {
	if len(batch) < batchHeaderLen || checksum(batch) != binary.BigEndian.Uint32(batch[batchSumAt:]) {
		return
	}
	was := binary.BigEndian.Uint16(batch[attributesAt:])
	attributes := was &^ (logAppendTime | marked)
	if appended {
		attributes |= marked
		binary.BigEndian.PutUint64(batch[maxTimeAt:], uint64(now))
	}
	if appended || attributes != was {
		setAttributes(batch, attributes)
	}
}

// unmark gives the marked batches of an answer to a fetch Kafka's attribute.
func unmark(answer []byte, version int16) {
	body := answer[8:]                  // after length and correlation id
	if version >= 12 && len(body) > 0 { // flexible versions have tags here, of which kfake sends none
		body = body[1:]
	}
	fetched := kmsg.FetchResponse{Version: version}
	if fetched.ReadFrom(body) != nil {
		return
	}
	for _, topic := range fetched.Topics {
		for _, p := range topic.Partitions {
			for rest := p.RecordBatches; len(rest) >= batchHeaderLen; {
				length := int(binary.BigEndian.Uint32(rest[batchLengthAt:])) + batchPrefixLen
				if length < batchHeaderLen || length > len(rest) {
					break
				}
				if a := binary.BigEndian.Uint16(rest[attributesAt:]); a&marked != 0 {
					setAttributes(rest[:length], a&^marked|logAppendTime)
				}
				rest = rest[length:]
			}
		}
	}
}

func setAttributes(batch []byte, attributes uint16) {
	binary.BigEndian.PutUint16(batch[attributesAt:], attributes)
	binary.BigEndian.PutUint32(batch[batchSumAt:], checksum(batch))
}

func checksum(batch []byte) uint32 { return crc32.Checksum(batch[attributesAt:], castagnoli) }

// requests follows the requests of one connection, to know the version of each fetch when its answer comes.
type requests struct {
	head [12]byte // length, key, version and correlation id of the current request
	have int      // bytes of head that have arrived
	left int      // bytes of the current request after head that have not arrived

	mu      sync.Mutex
	fetches map[uint32]int16 // version by correlation id
}

// read follows bytes of requests.
func (r *requests) read(b []byte) {
	for len(b) > 0 {
		if r.left > 0 {
			n := min(r.left, len(b))
			r.left, b = r.left-n, b[n:]
			continue
		}
		n := copy(r.head[r.have:], b)
		r.have, b = r.have+n, b[n:]
		if r.have < len(r.head) {
			continue
		}
		be := binary.BigEndian
		r.have, r.left = 0, max(0, int(be.Uint32(r.head[:]))-8)
		if int16(be.Uint16(r.head[4:])) == int16(kmsg.Fetch) {
			r.mu.Lock()
			r.fetches[be.Uint32(r.head[8:])] = int16(be.Uint16(r.head[6:]))
			r.mu.Unlock()
		}
	}
}

// answered returns the version of the fetch that an answer belongs to, and forgets it.
func (r *requests) answered(answer []byte) (version int16, fetched bool) {
	if len(answer) < 8 {
		return 0, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	id := binary.BigEndian.Uint32(answer[4:])
	version, fetched = r.fetches[id]
	delete(r.fetches, id)
	return version, fetched
}
