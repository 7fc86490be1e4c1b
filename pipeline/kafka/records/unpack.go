package records

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/snappy"
	"github.com/segmentio/kafka-go/compress"
)

// UnpackSlack is additional capacity after the largest contents. zstd stops only at the end of the 128 KiB block that
// crosses the limit; without slack it would have to move its output to a larger slice.
const UnpackSlack = 256 << 10

// ErrTooLarge marks contents that exceed the buffer or the limit.
var ErrTooLarge = errors.New("kafka: contents beyond the limit")

// errUnpack replaces the codecs' own errors, which may quote their input.
var errUnpack = fmt.Errorf("%w: compressed records do not unpack", ErrCorrupt)

// Unpacker decompresses batches of producers that may be hostile: its output never exceeds the available memory.
// kafka-go's own snappy and zstd readers first allocate the size that a header claims, up to gigabytes, so Unpacker
// calls these two codecs directly. The zero value is ready and safe for concurrent use.
type Unpacker struct{ frames zstdFrames }

// Unpack returns the contents of src in the memory of dst, or in new memory if dst is nil. Contents that exceed the
// capacity of dst or limit give ErrTooLarge.
func (u *Unpacker) Unpack(codec Codec, dst, src []byte, limit int) ([]byte, error) {
	if dst == nil {
		dst = make([]byte, 0, limit+UnpackSlack)
	}
	if codec == Zstd {
		return u.frames.unpack(dst[:0], src, limit)
	}
	dst = dst[:0:min(cap(dst), limit)]
	switch codec {
	case Gzip, LZ4:
		r := compress.Compression(codec).Codec().NewReader(bytes.NewReader(src))
		defer r.Close() //nolint:errcheck // nothing to flush
		return readInto(dst, r)
	case Snappy:
		return unpackSnappy(dst, src)
	default:
		return dst, fmt.Errorf("%w: %s", ErrCorrupt, codec)
	}
}

// readInto appends all of r to dst.
func readInto(dst []byte, r io.Reader) ([]byte, error) {
	var beyond [1]byte
	for {
		free := dst[len(dst):cap(dst)]
		if len(free) == 0 {
			free = beyond[:]
		}
		n, err := r.Read(free)
		if n > cap(dst)-len(dst) {
			return dst, ErrTooLarge
		}
		dst = dst[:len(dst)+n]
		if errors.Is(err, io.EOF) {
			return dst, nil
		}
		if err != nil {
			return dst, errUnpack
		}
	}
}

// xerialMagic opens the framing that the Java client puts around snappy blocks; librdkafka sends one block without
// framing.
var xerialMagic = []byte{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0}

func unpackSnappy(dst, src []byte) ([]byte, error) {
	if !bytes.HasPrefix(src, xerialMagic) {
		return appendSnappy(dst, src)
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
		if dst, err = appendSnappy(dst, src[:n]); err != nil {
			return dst, err
		}
		src = src[n:]
	}
	return dst, nil
}

func appendSnappy(dst, block []byte) ([]byte, error) {
	n, err := snappy.DecodedLen(block)
	if err != nil {
		return dst, errUnpack
	}
	if n > cap(dst)-len(dst) {
		return dst, ErrTooLarge
	}
	if _, err := snappy.Decode(dst[len(dst):len(dst)+n], block); err != nil {
		return dst, errUnpack
	}
	return dst[:len(dst)+n], nil
}
