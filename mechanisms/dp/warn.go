package dp

import "fmt"

// DeltaWarning returns why δ promises little to a window of so many events, or "" when δ ≤ 1/events: publishing one of
// the events, drawn at random, in full is (0, 1/events)-DP.
func DeltaWarning(delta float64, events uint64) string {
	if newFloat().Mul(exact(delta), newFloat().SetUint64(events)).Cmp(exact(1)) <= 0 {
		return ""
	}
	return fmt.Sprintf("δ = %g is too large: publishing one random event of the %d that are protected together would satisfy it. "+
		"Use well below 1/%d", delta, events, events)
}
