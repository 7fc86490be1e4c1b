package simtest

import (
	"bytes"
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Request describes a request as an observer of the network sees it, without its contents.
type Request struct {
	At        time.Duration // time from the deployment's start to the request
	Took      time.Duration // time to the answer, or to the end of the connection
	Member    string        // name of the sender
	API       string        // name of the API in Kafka's documentation
	Topic     string        // topic, or sorted topics; "": none
	Partition int32         // partition of the topic or of the transactional id; −1: none
	Bytes     int           // request bytes, length field included
	Answer    int           // answer bytes; 0 without an answer
	Outcome   string        // "ok", the answer's first error code, or how the connection ended
}

// String returns the request as a line of a trace.
func (r Request) String() string {
	place := r.Topic
	if r.Partition >= 0 {
		place += "/" + strconv.Itoa(int(r.Partition))
	}
	return fmt.Sprintf("%v +%v %s %s %s %d → %d %s", r.At, r.Took, r.Member, r.API, place, r.Bytes, r.Answer, r.Outcome)
}

// Kind returns the request's kind.
func (r Request) Kind() Kind { return Kind{r.Member, r.API, r.Topic, r.Partition} }

// Kind identifies requests by member, API, topic and partition. In a Fault, an empty or negative field matches any.
type Kind struct {
	Member, API, Topic string
	Partition          int32
}

// String names the kind.
func (k Kind) String() string {
	return fmt.Sprintf("%s %s %s/%d", k.Member, k.API, k.Topic, k.Partition)
}

// takes reports whether a request is of the kind.
func (k Kind) takes(r Request) bool {
	return (k.Member == "" || k.Member == r.Member) && (k.API == "" || k.API == r.API) &&
		(k.Topic == "" || k.Topic == r.Topic) && (k.Partition < 0 || k.Partition == r.Partition)
}

// order compares requests. The order is equal for two runs with equal input, although goroutines that run at the same
// time may send in any order.
func order(a, b Request) int {
	return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Member, b.Member), cmp.Compare(a.API, b.API),
		cmp.Compare(a.Topic, b.Topic),
		cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Took, b.Took), cmp.Compare(a.Bytes, b.Bytes),
		cmp.Compare(a.Answer, b.Answer), cmp.Compare(a.Outcome, b.Outcome))
}

// Lines returns a trace as text, one line for each request.
func Lines(trace []Request) []string {
	lines := make([]string, len(trace))
	for i, r := range trace {
		lines[i] = r.String()
	}
	return lines
}

// Difference shows the first difference of two texts, with the lines before it; "" if they are equal.
func Difference(want, got []string) string {
	at := 0
	for at < min(len(want), len(got)) && want[at] == got[at] {
		at++
	}
	if at == len(want) && at == len(got) {
		return ""
	}
	line := func(text []string) string {
		if at == len(text) {
			return "(the end)"
		}
		return text[at]
	}
	before := strings.Join(want[max(0, at-3):at], "\n  ")
	return fmt.Sprintf("line %d of %d and %d:\n  %s\n- %s\n+ %s", at+1, len(want), len(got), before, line(want), line(got))
}

// apiVersions is the API that clients call on each new connection. Whether a connection is new depends on the order in
// which the scheduler runs goroutines, so these requests take no time and are not recorded.
const apiVersions = int16(kmsg.ApiVersions)

// topicNames maps topic ids to names. It learns them from answers that contain both.
type topicNames map[[16]byte]string

func (names topicNames) learn(answer kmsg.Response) {
	if metadata, ok := answer.(*kmsg.MetadataResponse); ok {
		for _, t := range metadata.Topics {
			if t.Topic != nil && t.TopicID != [16]byte{} {
				names[t.TopicID] = *t.Topic
			}
		}
	}
}

// named returns a request with the names of topics in place of their ids, which are random.
func (names topicNames) named(frame []byte) []byte {
	for id, topic := range names {
		frame = bytes.ReplaceAll(frame, id[:], []byte(topic))
	}
	return frame
}

// placing are the names of the fields that place reads.
var placing = []string{
	"Topic", "ResourceName", "TransactionalID", "CoordinatorKey", "TopicID", "Partition", "Partitions",
}

// place returns the topics and the partition that a request names.
func (names topicNames) place(request kmsg.Request) (topic string, partition int32) {
	var topics []string
	partition = -1
	fields(reflect.ValueOf(request), func(name string, v reflect.Value) {
		if !slices.Contains(placing, name) {
			return
		}
		switch value := v.Interface().(type) {
		case string:
			switch name {
			case "Topic", "ResourceName":
				topics = append(topics, value)
			case "TransactionalID", "CoordinatorKey":
				partition = max(partition, ofTransaction(value))
			}
		case *string:
			switch {
			case value == nil:
			case name == "Topic":
				topics = append(topics, *value)
			case name == "TransactionalID" && partition < 0:
				partition = ofTransaction(*value)
			}
		case [16]byte:
			if name == "TopicID" && names[value] != "" {
				topics = append(topics, names[value])
			}
		case int32:
			if name == "Partition" {
				partition = value
			}
		case []int32:
			if name == "Partitions" && len(value) > 0 {
				partition = value[0]
			}
		}
	})
	topics = slices.DeleteFunc(topics, func(t string) bool { return t == "" })
	slices.Sort(topics)
	return strings.Join(slices.Compact(topics), ","), partition
}

// ofTransaction returns the partition with which a transactional id of the service ends, or −1 for another id.
func ofTransaction(id string) int32 {
	p, err := strconv.ParseInt(id[strings.LastIndexByte(id, '/')+1:], 10, 32)
	if err != nil || !strings.Contains(id, "/") {
		return -1
	}
	return int32(p)
}

// codeName returns the name of an error code in Kafka's documentation.
func codeName(code int16) string {
	if code == 0 {
		return "ok"
	}
	if known := kerr.TypedErrorForCode(code); known != nil {
		return known.Message
	}
	return strconv.Itoa(int(code))
}
