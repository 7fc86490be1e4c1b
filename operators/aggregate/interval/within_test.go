package interval

import "testing"

// TestWithinIsTheSmallestInterval compares Within with a search over a grid: the smallest interval in the range that
// has all of the set's points there, or the range if the set has none.
func TestWithinIsTheSmallestInterval(t *testing.T) {
	const low, high = -4, 4
	for ends := range 21 * 21 {
		s := Set{Low: float64(ends%21) - 10, High: float64(ends/21) - 10}
		if s.Low > s.High {
			continue
		}
		for _, s.Form = range []Form{Line, Bounded, Outside} {
			want := Interval{high + 1, low - 1}
			for x := float64(low); x <= high; x++ {
				within := s.Low <= x && x <= s.High
				switch {
				case s.Form == Outside && (x > s.Low && x < s.High), s.Form == Bounded && !within:
				default:
					want.Low, want.High = min(want.Low, x), max(want.High, x)
				}
			}
			if want.Low > want.High {
				want = Interval{low, high}
			}
			if got := s.Within(low, high); got != want {
				t.Errorf("%+v: %+v, want %+v", s, got, want)
			}
		}
	}
}
