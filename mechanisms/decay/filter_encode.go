package decay

import (
	"encoding/binary"
	"fmt"
)

// A Filter is stored little-endian as: H u64, m u8, and m poles and residues, u32 each, in pairs.
const (
	filterHead = 8 + 1
	pairLen    = 4 + 4
)

// AppendBinary appends the encoding of a valid filter. Two filters are equal exactly when their encodings are.
func (f Filter) AppendBinary(dst []byte) []byte {
	dst = append(binary.LittleEndian.AppendUint64(dst, f.Memory), f.Count)
	for k := range f.Count {
		dst = binary.LittleEndian.AppendUint32(dst, f.Poles[k])
		dst = binary.LittleEndian.AppendUint32(dst, f.Residues[k])
	}
	return dst
}

// ParseFilter is the inverse of AppendBinary and accepts nothing else.
func ParseFilter(b []byte) (f Filter, err error) {
	if len(b) < filterHead || b[8] > MaxPoles || len(b) != filterHead+pairLen*int(b[8]) {
		return Filter{}, fmt.Errorf("forget: filter: %d bytes: not those of 1 to %d poles", len(b), MaxPoles)
	}
	f = Filter{Memory: binary.LittleEndian.Uint64(b), Count: b[8]}
	for k, pair := 0, b[filterHead:]; len(pair) > 0; k, pair = k+1, pair[pairLen:] {
		f.Poles[k], f.Residues[k] = binary.LittleEndian.Uint32(pair), binary.LittleEndian.Uint32(pair[4:])
	}
	if err := f.Validate(); err != nil {
		return Filter{}, err
	}
	return f, nil
}
