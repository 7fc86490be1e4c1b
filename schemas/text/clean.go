package text

import (
	"bytes"
	"sort"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// MaxNameBytes is the largest length of a clean name, bytes.
const MaxNameBytes = 256

// joiner is U+034F, which package norm puts into runs of more than 30 combining marks.
const joiner = "\u034f"

// CleanName returns the clean form of a name that no setting lists, in the memory of dst: its Unicode normal form C
// (UAX #15). So texts that differ only in how a character is composed are one name. Other names that look alike stay
// apart, such as a Latin and a Cyrillic a.
//
// A name is UTF-8 of characters of Unicode 15.0: assigned code points without those that control text (general
// categories Cc, Zl and Zp, and the explicit bidirectional formatting characters) and without U+034F. Its clean form
// has 1 to MaxNameBytes bytes. The version is frozen, and part of streams.Semantics, because two versions of Oriel must
// count a name alike. The normal form of characters that are assigned never changes (Unicode stability policy), so any
// version of package norm computes it.
//
// The code is OK, NameLength or UncleanName.
func CleanName(dst, name []byte) ([]byte, Code) {
	if !isClean(name) {
		return dst, UncleanName
	}
	dst = norm.NFC.Append(dst[:0], name...)
	switch {
	case len(dst) < 1, len(dst) > MaxNameBytes:
		return dst, NameLength
	case bytes.Contains(dst, []byte(joiner)):
		return dst, UncleanName
	}
	return dst, OK
}

// isClean reports whether a name is UTF-8 of characters only.
func isClean(name []byte) bool {
	for i := 0; i < len(name); {
		r, width := rune(name[i]), 1
		if r >= utf8.RuneSelf {
			r, width = utf8.DecodeRune(name[i:])
		}
		if r == utf8.RuneError && width == 1 || !isCharacter(r) {
			return false
		}
		i += width
	}
	return true
}

// isCharacter reports whether a code point may be in a name.
func isCharacter(r rune) bool {
	if r < utf8.RuneSelf {
		return ' ' <= r && r < 0x7f
	}
	at := sort.Search(len(characters), func(i int) bool { return characters[i][1] >= r })
	return at < len(characters) && characters[at][0] <= r
}
