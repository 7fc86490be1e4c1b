package text

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestLines(t *testing.T) {
	f := func(text string, want ...string) {
		t.Helper()
		for _, r := range []io.Reader{
			strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text)),
			iotest.DataErrReader(strings.NewReader(text)),
		} {
			lines := NewLines(r, 5)
			for k, value := range want {
				line, err := lines.Next()
				if err != nil || line.Number != int64(k) || line.Length != int64(len(value)) ||
					string(line.Value) != value[:min(len(value), 6)] {
					t.Fatalf("%q: line %d: %+v, %v; want %q", text, k, line, err, value)
				}
			}
			for range 2 {
				if line, err := lines.Next(); !errors.Is(err, io.EOF) {
					t.Fatalf("%q: %+v, %v behind the last line", text, line, err)
				}
			}
		}
	}
	f("")
	f("\n", "")
	f("a", "a")
	f("a\n", "a")
	f("a\n\nb\n", "a", "", "b")
	f("a\n\n", "a", "")
	f("a\r\nb", "a\r", "b")
	f("12345\n123456\n1234567\n1", "12345", "123456", "1234567", "1")
	long := strings.Repeat("x", 1<<16)
	for _, n := range []int{-1, 0, 1, 1 << 16, 3 << 16} {
		line := strings.Repeat(long, 4)[:1<<16+n]
		f(line, line)
		f("a\n"+line+"\nb", "a", line, "b")
	}
}

// TestLinesPassOnTheErrorOfTheReader checks that an error of the reader is returned, and that the bytes before it are
// not returned as a line.
func TestLinesPassOnTheErrorOfTheReader(t *testing.T) {
	broken := errors.New("disk on fire")
	lines := NewLines(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)), 100)
	if line, err := lines.Next(); err != nil || string(line.Value) != "a" {
		t.Fatalf("%+v, %v", line, err)
	}
	if line, err := lines.Next(); !errors.Is(err, broken) {
		t.Fatalf("%+v, %v", line, err)
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("a\n\nbc\r\n"), 2)
	f.Fuzz(func(t *testing.T, text []byte, limit int) {
		limit = max(1, min(limit, 1<<17))
		want := bytes.Split(text, []byte("\n"))
		if len(want[len(want)-1]) == 0 {
			want = want[:len(want)-1]
		}
		lines := NewLines(bytes.NewReader(text), limit)
		for k, value := range want {
			line, err := lines.Next()
			if err != nil || line.Number != int64(k) || line.Length != int64(len(value)) ||
				!bytes.Equal(line.Value, value[:min(len(value), limit+1)]) {
				t.Fatalf("line %d: %+v, %v", k, line, err)
			}
		}
		if _, err := lines.Next(); !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
	})
}
