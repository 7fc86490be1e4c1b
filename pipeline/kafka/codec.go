package kafka

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/segmentio/kafka-go/compress"
)

// Codec is the compression of a record batch. The values are the wire's.
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

// compress appends the compressed src to dst.
func (c Codec) compress(dst, src []byte) ([]byte, error) {
	codec := compress.Compression(c).Codec()
	if codec == nil {
		return nil, fmt.Errorf("kafka: compress: %w: %s", errUsage, c)
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

// errTooLarge marks contents beyond MaxBatchBytes.
var errTooLarge = errors.New("kafka: contents beyond the limit")

// unpacker decompresses batches of producers that may be hostile: no more than limit bytes are ever made. kafka-go's own
// snappy and zstd readers first make what a header claims, up to gigabytes, so those two are called directly.
type unpacker struct{ zstd *zstd.Decoder }

func (u *unpacker) unpack(codec Codec, dst, src []byte, limit int) ([]byte, error) {
	switch codec {
	case Gzip, LZ4:
		r := compress.Compression(codec).Codec().NewReader(bytes.NewReader(src))
		defer r.Close() //nolint:errcheck // nothing to flush
		return readUpTo(dst, r, limit)
	case Snappy:
		return unpackSnappy(dst, src, limit)
	case Zstd:
		return u.unpackZstd(dst, src, limit)
	default:
		return nil, fmt.Errorf("%w: %s", ErrCorrupt, codec)
	}
}

// readUpTo appends all of r to dst, growing with what arrives.
func readUpTo(dst []byte, r io.Reader, limit int) ([]byte, error) {
	for {
		if len(dst) > limit {
			return dst, errTooLarge
		}
		if len(dst) == cap(dst) {
			grown := make([]byte, len(dst), min(max(2*cap(dst), 4096), limit+1))
			copy(grown, dst)
			dst = grown
		}
		n, err := r.Read(dst[len(dst):min(cap(dst), limit+1)])
		dst = dst[:len(dst)+n]
		if errors.Is(err, io.EOF) {
			if len(dst) > limit {
				return dst, errTooLarge
			}
			return dst, nil
		}
		if err != nil {
			return dst, errUnpack
		}
	}
}

// errUnpack replaces the codecs' own errors, which may quote what they read.
var errUnpack = fmt.Errorf("%w: compressed records do not unpack", ErrCorrupt)

// xerialMagic opens the framing that the Java client puts around snappy blocks; librdkafka sends one bare block.
var xerialMagic = []byte{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0}

func unpackSnappy(dst, src []byte, limit int) ([]byte, error) {
	if !bytes.HasPrefix(src, xerialMagic) {
		return appendSnappy(dst, src, limit)
	}
	if len(src) < 16 {
		return dst, errUnpack
	}
	for src = src[16:]; len(src) > 0; {
		if len(src) < 4 {
			return dst, errUnpack
		}
		n := int64(binary.BigEndian.Uint32(src))
		if src = src[4:]; n > int64(len(src)) {
			return dst, errUnpack
		}
		var err error
		if dst, err = appendSnappy(dst, src[:n], limit); err != nil {
			return dst, err
		}
		src = src[n:]
	}
	return dst, nil
}

func appendSnappy(dst, block []byte, limit int) ([]byte, error) {
	n, err := snappy.DecodedLen(block)
	if err != nil {
		return dst, errUnpack
	}
	if n > limit-len(dst) {
		return dst, errTooLarge
	}
	start := len(dst)
	if cap(dst)-start < n {
		grown := make([]byte, start, max(start+n, min(2*cap(dst), limit)))
		copy(grown, dst)
		dst = grown
	}
	if _, err := snappy.Decode(dst[start:start+n], block); err != nil {
		return dst, errUnpack
	}
	return dst[:start+n], nil
}

func (u *unpacker) unpackZstd(dst, src []byte, limit int) ([]byte, error) {
	if u.zstd == nil {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(limit)))
		if err != nil {
			return dst, fmt.Errorf("kafka: zstd: %w", err)
		}
		u.zstd = d
	}
	dst, err := u.zstd.DecodeAll(src, dst)
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		return dst, errTooLarge
	}
	if err != nil {
		return dst, errUnpack
	}
	return dst, nil
}
