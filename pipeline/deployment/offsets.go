package deployment

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Offsets are offsets in partitions of the input. Their file has a line topic,partition,offset for each partition, as
// kafka-consumer-groups.sh --export writes it for one group.
type Offsets map[int32]int64

// ParseOffsets reads a file of offsets, all of them in partitions of one topic.
func ParseOffsets(file []byte, topic string) (Offsets, error) {
	lines := csv.NewReader(strings.NewReader(string(file)))
	lines.FieldsPerRecord, lines.TrimLeadingSpace = 3, true
	offsets := Offsets{}
	for {
		fields, err := lines.Read()
		if errors.Is(err, io.EOF) && len(offsets) > 0 {
			return offsets, nil
		}
		if err != nil {
			return nil, fmt.Errorf("want lines topic,partition,offset: %w", err)
		}
		line, _ := lines.FieldPos(0)
		partition, errPartition := strconv.ParseUint(fields[1], 10, 31)
		offset, errOffset := strconv.ParseUint(fields[2], 10, 63)
		_, twice := offsets[int32(partition)]
		switch {
		case errPartition != nil || errOffset != nil:
			return nil, fmt.Errorf("line %d: the partition and the offset are not whole numbers from 0", line)
		case fields[0] != topic:
			return nil, fmt.Errorf("line %d: topic %q; the input is %q", line, fields[0], topic)
		case twice:
			return nil, fmt.Errorf("line %d: partition %d has a second line", line, partition)
		}
		offsets[int32(partition)] = int64(offset)
	}
}

// Append appends the lines of a file of offsets, ascending by partition.
func (o Offsets) Append(dst []byte, topic string) []byte {
	for _, p := range slices.Sorted(maps.Keys(o)) {
		dst = fmt.Appendf(dst, "%s,%d,%d\n", topic, p, o[p])
	}
	return dst
}
