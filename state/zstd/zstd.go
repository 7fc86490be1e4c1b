package zstd

import (
	"errors"

	"github.com/klauspost/compress/zstd"
)

// Ctx compresses and decompresses whole blocks. It is not safe for concurrent use.
type Ctx interface {
	CompressLevel(dst, src []byte, level int) ([]byte, error)
	DecompressInto(dst, src []byte) (int, error)
}

// ErrSize means that a block does not have the length that its reader expects.
var ErrSize = errors.New("zstd: block of another length")

type ctx struct {
	encoder *zstd.Encoder
	decoder *zstd.Decoder
	level   zstd.EncoderLevel
}

// NewCtx returns a context that allocates what it needs at its first use.
func NewCtx() Ctx { return new(ctx) }

// CompressBound is room for the compressed form of n bytes: a frame header, a block header each 128 KiB at least, and
// the bytes themselves where they do not compress.
func CompressBound(n int) int { return n + n>>7 + 512 }

// CompressLevel writes to dst when the result fits, as it does in CompressBound bytes; level is that of the zstd
// command.
func (c *ctx) CompressLevel(dst, src []byte, level int) ([]byte, error) {
	if at := zstd.EncoderLevelFromZstd(level); c.encoder == nil || at != c.level {
		encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(at), zstd.WithEncoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		c.encoder, c.level = encoder, at
	}
	return c.encoder.EncodeAll(src, dst[:0]), nil
}

// DecompressInto fills dst exactly.
func (c *ctx) DecompressInto(dst, src []byte) (int, error) {
	if c.decoder == nil {
		decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.IgnoreChecksum(true))
		if err != nil {
			return 0, err
		}
		c.decoder = decoder
	}
	out, err := c.decoder.DecodeAll(src, dst[:0:len(dst)])
	if err == nil && (len(out) != len(dst) || &out[0] != &dst[0]) {
		err = ErrSize
	}
	return len(out), err
}
