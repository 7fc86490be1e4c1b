package digits

import (
	"encoding/json"
	"math"
	"testing"
)

func TestNumbersInJSON(t *testing.T) {
	for x, want := range map[Number]string{
		0: "0", 0.23681: "0.23681", 1e-6: "1e-06", 1234567: "1.234567e+06", Number(math.Inf(1)): "null", None: "null",
	} {
		if encoded, err := json.Marshal(x); err != nil || string(encoded) != want {
			t.Errorf("JSON of %g: %s, %v, want %s", float64(x), encoded, err, want)
		}
	}
}

func TestDuration(t *testing.T) {
	f := func(seconds float64, want string) {
		t.Helper()
		if got := Duration(seconds); got != want {
			t.Errorf("Duration(%g) = %q, want %q", seconds, got, want)
		}
	}
	f(0, "0 µs")
	f(2.5e-6, "2.5 µs")
	f(0.0125, "12.5 ms")
	f(1.26, "1.3 s")
	f(9.99, "10 s")
	f(59, "59 s")
	f(60, "1 min")
	f(61, "1 min 1 s")
	f(1024, "17 min 4 s")
	f(3600, "1 h")
	f(2*86400+3*3600+59*60, "2 d 3 h")
	f(364*86400, "364 d")
	f(365*86400, "1 y")
	f(400*86400, "1 y 35 d")
	f(9999*365*86400, "9999 y")
	f(1e5*365*86400, "1e+05 y")
}

func TestSizesAndCounts(t *testing.T) {
	f := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	f(Bytes(0), "0 B")
	f(Bytes(10239), "10239 B")
	f(Bytes(10240), "10.0 KiB")
	f(Bytes(25<<20+1<<19), "25.5 MiB")
	f(Bytes(64<<30), "64.0 GiB")
	f(Count(9_999_999), "9999999")
	f(Count(10_240_000), "10.24 M")
	f(Count(math.MaxUint64), "1.845e+19")
}
