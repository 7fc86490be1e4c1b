package event

import (
	"math"
	"math/bits"

	"github.com/cespare/xxhash/v2"

	"oriel/schemas/text"
)

// sparseVector collects entries with distinct indices.
type sparseVector struct {
	slot    []int32 // by coordinate: 1 + its index in indices, or 0
	indices []int32
	values  []float64
}

func (v *sparseVector) reset() {
	for _, index := range v.indices {
		v.slot[index] = 0
	}
	v.indices, v.values = v.indices[:0], v.values[:0]
}

// hasher hashes the named features of one event after another: see FeatureConfig.
type hasher struct {
	sparseVector
	config FeatureConfig
	ranges map[string]hashedRange
	token  []byte
}

type hashedRange struct {
	Range
	sine, cosine uint64 // hashes of the tokens for sine and cosine
}

func newHasher(dimension int, c FeatureConfig) *hasher {
	h := &hasher{config: c, ranges: map[string]hashedRange{}}
	h.slot = make([]int32, dimension)
	h.indices, h.values = []int32{}, []float64{}
	for _, r := range c.Ranges {
		h.ranges[r.Name] = hashedRange{r, xxhash.Sum64String(r.Name + "\x00sin"), xxhash.Sum64String(r.Name + "\x00cos")}
	}
	return h
}

func (h *hasher) add(hash uint64, v float64) {
	high, _ := bits.Mul64(hash, uint64(len(h.slot)))
	v = math.Float64frombits(math.Float64bits(v) ^ hash<<63)
	index := int32(high)
	if place := h.slot[index]; place != 0 {
		h.values[place-1] += v
		return
	}
	h.indices = append(h.indices, index)
	h.values = append(h.values, 0+v)
	h.slot[index] = int32(len(h.indices))
}

// Place returns the index and sign of a token's value in a vector of this dimension: see FeatureConfig. sign is 1 or
// −1.
func Place(token string, dimension int) (index int, sign float64) {
	hash := xxhash.Sum64String(token)
	high, _ := bits.Mul64(hash, uint64(dimension))
	if hash&1 == 1 {
		return int(high), -1
	}
	return int(high), 1
}

func (h *hasher) truth(name []byte) {
	h.add(xxhash.Sum64(name), 1)
}

func (h *hasher) text(name, text []byte) {
	h.token = append(h.token[:0], name...)
	h.token = append(h.token, 0)
	h.token = append(h.token, text...)
	h.add(xxhash.Sum64(h.token), 1)
}

func (h *hasher) number(name []byte, v float64) {
	if len(h.ranges) > 0 {
		if r, found := h.ranges[string(name)]; found {
			h.ranged(xxhash.Sum64(name), v, &r)
			return
		}
	}
	h.add(xxhash.Sum64(name), v)
}

// ranged adds a number that has a range; hash is the hash of the feature's name.
func (h *hasher) ranged(hash uint64, v float64, r *hashedRange) {
	u := (v - r.Low) / (r.High - r.Low)
	if !r.Cyclic {
		h.add(hash, min(max(u, 0), 1))
		return
	}
	t := u - math.Floor(u)
	if t != t { // u is infinite, and ∞ − ∞ is NaN
		t = 0
	}
	sine, cosine := sinCosTurn(t)
	h.add(r.sine, sine)
	h.add(r.cosine, cosine)
}

// finish adds the constant and scales the vector. It must be called once, BEFORE reset.
func (h *hasher) finish() text.Code {
	if h.config.Bias {
		h.add(xxhash.Sum64(nil), 1)
	}
	sum := 0.0
	for _, v := range h.values {
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return text.FeatureOverflow
		}
		sum += float64(v * v)
	}
	if h.config.Norm != "unit" || sum == 0 {
		return text.OK
	}
	if math.IsInf(sum, 0) {
		return text.FeatureOverflow
	}
	norm := math.Sqrt(sum)
	for k := range h.values {
		h.values[k] /= norm
	}
	return text.OK
}
