package records

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/segmentio/kafka-go/compress"
)

// Codec is the compression of a record batch. The values are those of Kafka's protocol.
type Codec uint8

// The codecs of format 2.
const (
	NoCompression Codec = iota
	Gzip
	Snappy
	LZ4
	Zstd
)

func (c Codec) String() string {
	if c > Zstd {
		return fmt.Sprintf("codec %d", uint8(c))
	}
	return [...]string{"none", "gzip", "snappy", "lz4", "zstd"}[c]
}

// ErrCodec marks a codec that the format does not have, so that retries are useless.
var ErrCodec = errors.New("not possible")

// Compress appends the compressed src to dst.
func (c Codec) Compress(dst, src []byte) ([]byte, error) {
	codec := compress.Compression(c).Codec()
	if codec == nil {
		return nil, fmt.Errorf("kafka: compress: %w: %s", ErrCodec, c)
	}
	out := bytes.NewBuffer(dst)
	w := codec.NewWriter(out)
	if _, err := w.Write(src); err != nil {
		return nil, fmt.Errorf("kafka: compress: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("kafka: compress: %w", err)
	}
	return out.Bytes(), nil
}
