package simtest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// readFrame reads a request or an answer, together with its length.
func readFrame(c net.Conn) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(c, length[:]); err != nil {
		return nil, err
	}
	frame := make([]byte, 4+int(binary.BigEndian.Uint32(length[:])))
	copy(frame, length[:])
	_, err := io.ReadFull(c, frame[4:])
	return frame, err
}

var errFrame = errors.New("pipetest: a frame that is no message of Kafka's protocol")

// parseRequest reads a request's frame: length, API key, version, correlation id, client id, tagged fields, body.
func parseRequest(frame []byte) (request kmsg.Request, correlation []byte, err error) {
	if len(frame) < 14 {
		return nil, nil, errFrame
	}
	if request = kmsg.RequestForKey(int16(binary.BigEndian.Uint16(frame[4:]))); request == nil {
		return nil, nil, errFrame
	}
	request.SetVersion(int16(binary.BigEndian.Uint16(frame[6:])))
	at := 14 + max(0, int(int16(binary.BigEndian.Uint16(frame[12:]))))
	if request.IsFlexible() {
		at++ // the client sends an empty list of tagged fields
	}
	if at > len(frame) {
		return nil, nil, errFrame
	}
	if err := request.ReadFrom(frame[at:]); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errFrame, err)
	}
	return request, frame[8:12], nil
}

// parseAnswer reads an answer's frame: length, correlation id, tagged fields, body.
func parseAnswer(request kmsg.Request, frame []byte) (kmsg.Response, error) {
	answer := request.ResponseKind()
	at := 8
	if hasTags(answer) {
		at++
	}
	if at > len(frame) {
		return nil, errFrame
	}
	if err := answer.ReadFrom(frame[at:]); err != nil {
		return nil, fmt.Errorf("%w: %w", errFrame, err)
	}
	return answer, nil
}

// answerFrame encodes an answer as a frame.
func answerFrame(answer kmsg.Response, correlation []byte) []byte {
	frame := append(make([]byte, 4), correlation...)
	if hasTags(answer) {
		frame = append(frame, 0)
	}
	frame = answer.AppendTo(frame)
	binary.BigEndian.PutUint32(frame, uint32(len(frame)-4))
	return frame
}

// hasTags reports whether there are tagged fields between an answer's header and its body. The answer to ApiVersions
// never has them, because the client does not know yet which versions the broker supports.
func hasTags(answer kmsg.Response) bool {
	return answer.IsFlexible() && answer.Key() != int16(kmsg.ApiVersions)
}

// frameBehind builds the frame of a request in version 0 that the client of a frame could send next.
func frameBehind(frame []byte, request kmsg.Request) []byte {
	head := append([]byte(nil), frame[:14+max(0, int(int16(binary.BigEndian.Uint16(frame[12:]))))]...)
	binary.BigEndian.PutUint16(head[4:], uint16(request.Key()))
	binary.BigEndian.PutUint16(head[6:], 0)
	if request.IsFlexible() {
		head = append(head, 0)
	}
	next := request.AppendTo(head)
	binary.BigEndian.PutUint32(next, uint32(len(next)-4))
	return next
}

// withLeast returns a fetch request's frame with the smallest possible byte limit for each partition, and any other
// frame unchanged. The limit of the whole answer stays, because kfake omits the list of aborted transactions when that
// limit is reached.
func withLeast(frame []byte, request kmsg.Request) []byte {
	fetch, ok := request.(*kmsg.FetchRequest)
	if !ok {
		return frame
	}
	for i := range fetch.Topics {
		for j := range fetch.Topics[i].Partitions {
			fetch.Topics[i].Partitions[j].PartitionMaxBytes = 1
		}
	}
	at := 14 + max(0, int(int16(binary.BigEndian.Uint16(frame[12:]))))
	if request.IsFlexible() {
		at++
	}
	least := request.AppendTo(append([]byte(nil), frame[:at]...))
	binary.BigEndian.PutUint32(least, uint32(len(least)-4))
	return least
}
