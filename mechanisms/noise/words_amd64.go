//go:build !purego

package noise

import "golang.org/x/sys/cpu"

// hasAES reports whether words_amd64.s can run: AESENC, PINSRQ (SSE 4.1), PSHUFB (SSSE 3).
var hasAES = cpu.X86.HasAES && cpu.X86.HasSSE41 && cpu.X86.HasSSSE3

// words produces the words of a seed in order: by the processor's AES instructions if it has them, otherwise by
// crypto/cipher.
type words struct {
	native   nativeWords
	portable portableWords
}

func (w *words) start(key *Seed) {
	if hasAES {
		w.native.start(key)
	} else {
		w.portable.start(key)
	}
}

func (w *words) read(dst []int64) {
	if hasAES {
		w.native.read(dst)
	} else {
		w.portable.read(dst)
	}
}

// groupWords is the number of words in eight counter blocks, which encrypt makes together.
const groupWords = 16

// nativeWords produces the words of AES-256 in counter mode by words_amd64.s. It allocates nothing, and sets up a key
// in the time of three draws, where aes.NewCipher and cipher.NewCTR take as long as thirty draws. The running time
// depends on no secret.
type nativeWords struct {
	schedule [15][2]uint64     // AES round keys
	used     uint64            // number of words read
	group    [groupWords]int64 // words of the current group; stale if the next word is the first of a group
}

// start sets the key and goes to word 0.
func (w *nativeWords) start(key *Seed) {
	expandKey(&w.schedule, key)
	w.used = 0
}

// read writes the next len(dst) words to dst.
func (w *nativeWords) read(dst []int64) {
	if begun := w.used % groupWords; begun > 0 {
		n := copy(dst, w.group[begun:])
		w.used += uint64(n)
		dst = dst[n:]
	}
	if groups := uint64(len(dst) / groupWords); groups > 0 {
		encrypt(&dst[0], groups, w.used/2, &w.schedule)
		w.used += groups * groupWords
		dst = dst[groups*groupWords:]
	}
	if len(dst) > 0 {
		encrypt(&w.group[0], 1, w.used/2, &w.schedule)
		w.used += uint64(copy(dst, w.group[:]))
	}
}

// expandKey writes the fifteen round keys of an AES-256 key (FIPS 197, §5.2).
//
//go:noescape
func expandKey(schedule *[15][2]uint64, key *Seed)

// encrypt writes the words of 8·groups counter blocks, from the given block on. groups ≥ 1.
//
//go:noescape
func encrypt(dst *int64, groups, block uint64, schedule *[15][2]uint64)
