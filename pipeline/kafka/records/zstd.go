package records

import (
	"bytes"
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/segmentio/kafka-go/compress"
)

// zstdFrames decompresses zstd. The decoder is made at first use: it has tables of some hundred KiB, and most inputs
// have no zstd.
type zstdFrames struct {
	once    sync.Once
	decoder *zstd.Decoder
	err     error
}

func (z *zstdFrames) open() {
	z.decoder, z.err = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(MaxBatchBytes), zstd.WithDecodeAllCapLimit(true))
}

// unpack appends the contents of all frames of src. They are decompressed one by one, because the library limits only
// the output of the first frame to the available capacity.
func (z *zstdFrames) unpack(dst, src []byte, limit int) ([]byte, error) {
	if z.once.Do(z.open); z.err != nil {
		return dst, fmt.Errorf("kafka: zstd: %w", z.err)
	}
	for len(src) > 0 {
		n, window := zstdFrame(src)
		if window > uint64(limit) {
			return dst, errUnpack
		}
		part, err := z.decoder.DecodeAll(src[:n], dst[len(dst):])
		switch {
		case err == nil:
		case errors.Is(err, zstd.ErrDecoderSizeExceeded), cap(dst)-len(dst)-len(part) < UnpackSlack:
			return dst, ErrTooLarge // or damaged: near the limit the library returns the same errors for both
		default:
			return dst, errUnpack
		}
		if dst, src = dst[:len(dst)+len(part)], src[n:]; len(dst) > limit {
			return dst, ErrTooLarge
		}
	}
	return dst, nil
}

// zstdFrame returns the length of the first frame of src, or the length of src if it has no complete frame; then the
// decoder reports the fault. window is how far back the frame may refer, in bytes.
func zstdFrame(src []byte) (length int, window uint64) {
	var h zstd.Header
	if h.Decode(src) != nil {
		return len(src), 0
	}
	n := h.HeaderSize
	if h.Skippable {
		return min(n+int(h.SkippableSize), len(src)), 0
	}
	for {
		if n+3 > len(src) {
			return len(src), h.WindowSize
		}
		block := int(src[n]) | int(src[n+1])<<8 | int(src[n+2])<<16 // RFC 8878, 3.1.1.2: last, type, size
		size := block >> 3
		if block>>1&3 == 1 { // a run-length block: one byte, repeated
			size = 1
		}
		n += 3 + size
		if block&1 == 1 {
			break
		}
	}
	if h.HasCheckSum {
		n += 4
	}
	return min(n, len(src)), h.WindowSize
}

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
