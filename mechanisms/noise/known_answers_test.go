package noise

import (
	"bufio"
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
)

// answer is one line of testdata/draws.txt.gz: a draw, and the words that determine it, whatever words follow.
type answer struct {
	law   string
	scale Scale
	words []uint64
	want  int64
}

func (a answer) String() string { return fmt.Sprintf("%s s=%v words=%x", a.law, a.scale, a.words) }

// extend returns a function that returns the remaining words, then random words, which must have no effect.
func (a answer) extend() func() uint64 {
	rest := a.words[1:]
	r := rand.New(rand.NewPCG(a.words[0], 7))
	return func() uint64 {
		if len(rest) == 0 {
			return r.Uint64()
		}
		word := rest[0]
		rest = rest[1:]
		return word
	}
}

func (a answer) sampler(t testing.TB) *perWord {
	t.Helper()
	draw, err := newPerWord(&gaussianCurve, a.scale)
	switch a.law {
	case "laplace":
		draw, err = newPerWord(&laplaceCurve, a.scale)
	case "discrete":
		draw, err = newDiscrete(a.scale)
	}
	if err != nil {
		t.Fatal(err)
	}
	return draw
}

func readAnswers(t testing.TB) []answer {
	t.Helper()
	f, err := os.Open("testdata/draws.txt.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var answers []answer
	for _, line := range readLines(t, z) {
		var a answer
		var words string
		if _, err := fmt.Sscanf(line, "%s %d %d %s = %d", &a.law, &a.scale.Mant, &a.scale.Exp, &words, &a.want); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		for text := range strings.SplitSeq(words, ",") {
			word, err := strconv.ParseUint(text, 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			a.words = append(a.words, word)
		}
		answers = append(answers, a)
	}
	return answers
}

// readLines returns the lines that are not comments.
func readLines(t testing.TB, r io.Reader) (lines []string) {
	t.Helper()
	s := bufio.NewScanner(r)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		if line := s.Text(); !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}

func readFile(t testing.TB, name string) []string {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return readLines(t, f)
}

func TestKnownAnswers(t *testing.T) {
	answers, stride := readAnswers(t), tiertest.Runs(5, 1)
	count := map[string]int{}
	samplers := map[string]*perWord{}
	for i := 0; i < len(answers); i += stride {
		a := answers[i]
		key := a.law + a.scale.String()
		count[a.law]++
		if samplers[key] == nil {
			samplers[key] = a.sampler(t)
		}
		if got := samplers[key].one(a.words[0], a.extend()); got != a.want {
			t.Errorf("%v: got %d, want %d", a, got, a.want)
		}
	}
	if count["gaussian"] < 10000/stride || count["laplace"] < 600/stride || count["discrete"] < 1200/stride {
		t.Errorf("%v answers read", count)
	}
}

// TestSlowPathGivesTheKnownAnswers makes draws without tables or 64-bit arithmetic. It takes all answers at a rounding
// boundary or in the tail, and as many of the random ones as time allows.
func TestSlowPathGivesTheKnownAnswers(t *testing.T) {
	stride := tiertest.Runs(101, 17)
	answers := readAnswers(t)
	for i := 0; i < len(answers); i += stride {
		a := answers[i]
		if got := a.sampler(t).slow(a.words[0], a.extend()); got != a.want {
			t.Errorf("%v: got %d, want %d", a, got, a.want)
		}
	}
}

// TestComplementedWordsGiveNegatedDraws complements all bits, extension included, which gives 1 − u.
func TestComplementedWordsGiveNegatedDraws(t *testing.T) {
	for i, a := range readAnswers(t) {
		if i%tiertest.Runs(20, 5) != 0 {
			continue
		}
		extend := a.extend()
		mirrored := func() uint64 { return ^extend() }
		if got := a.sampler(t).one(^a.words[0], mirrored); got != -a.want {
			t.Errorf("%v mirrored: got %d, want %d", a, got, -a.want)
		}
	}
}

func TestKnownVectors(t *testing.T) {
	for _, line := range readFile(t, "vectors.txt") {
		head, tail, _ := strings.Cut(line, " = ")
		var law, seedText string
		var s Scale
		var n int
		if _, err := fmt.Sscanf(head, "%s %d %d %d %s", &law, &s.Mant, &s.Exp, &n, &seedText); err != nil {
			t.Fatal(err)
		}
		var want []int64
		for text := range strings.FieldsSeq(tail) {
			v, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, v)
		}
		got := make([]int64, n)
		newSampler(t, law, s, n).Fill(got, parseSeed(t, seedText))
		if !slices.Equal(got, want) {
			t.Errorf("%s s=%v n=%d: got %d, want %d", law, s, n, got, want)
		}
	}
}

func TestKnownKeystream(t *testing.T) {
	for _, line := range readFile(t, "keystream.txt") {
		var seedText, kind string
		var position int
		var want uint64
		if _, err := fmt.Sscanf(line, "%s %s %d = %x", &seedText, &kind, &position, &want); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		var k keystream
		k.open(parseSeed(t, seedText))
		var got uint64
		if text, ok := strings.CutPrefix(kind, "extension."); ok {
			coordinate, err := strconv.ParseUint(text, 10, 32)
			if err != nil {
				t.Fatal(err)
			}
			next := k.extension(uint32(coordinate))
			for range position + 1 {
				got = next()
			}
		} else {
			words := make([]int64, position+1)
			k.read(words)
			got = uint64(words[position])
		}
		if got != want {
			t.Errorf("%s: got %x", line, got)
		}
	}
}

func newSampler(t testing.TB, law string, s Scale, n int) Sampler {
	t.Helper()
	var sampler Sampler
	var err error
	switch law {
	case "gaussian":
		sampler, err = NewGaussian(s)
	case "laplace":
		sampler, err = NewLaplace(s)
	case "discrete":
		sampler, err = NewDiscreteLaplace(s, []int64{1})
	case "gamma":
		sampler, err = NewGamma(s, n)
	default:
		t.Fatalf("no law %q", law)
	}
	if err != nil {
		t.Fatal(err)
	}
	return sampler
}

func parseSeed(t testing.TB, text string) (seed Seed) {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(seed) {
		t.Fatalf("seed %q", text)
	}
	copy(seed[:], b)
	return seed
}
