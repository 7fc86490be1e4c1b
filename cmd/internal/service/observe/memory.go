package observe

import (
	"math"
	"sync"
	"time"

	"oriel/cmd/internal/numbers"
	"oriel/operators"
	"oriel/pipeline/deployment"
	"oriel/pipeline/metrics"
	"oriel/pipeline/notice"
	"oriel/schemas/decision"
)

// limitMemory sets the limit of Go's garbage collector to the memory setting plus the states and users of the process's
// partitions.
func limitMemory(limit func(bytes int64), l notice.Listener, memory deployment.Memory) notice.Listener {
	if limit == nil {
		return l
	}
	var mu sync.Mutex
	held := map[int32][2]int{} // by partition: bytes of the state, and of users
	change := func(how func()) {
		mu.Lock()
		defer mu.Unlock()
		how()
		states, users := 0, 0
		for _, bytes := range held {
			states, users = states+bytes[0], users+bytes[1]
		}
		limit(memory.Limit(len(held), states, users))
	}
	change(func() {})
	return notice.Both(notice.Listener{
		Holds:  func(p int32, state, users int) { change(func() { held[p] = [2]int{state, users} }) },
		Closed: func(p int32) { change(func() { delete(held, p) }) },
	}, l)
}

// numbersOf returns the numbers of an operator's decisions and, with steps by the clock, of whole hours and days. It is
// nil if decisions contain no numbers. Its Read follows one reader's decisions.
func numbersOf(o operators.Operator, step time.Duration) (*operators.Numbers, error) {
	n := operators.NumbersOf(o)
	if n == nil || step == 0 {
		return n, nil
	}
	return numbers.WithTotals(n, operators.DescriptorOf(o), step)
}

// shownNumbers returns the description of the numbers in decisions that metrics need. It is nil if decisions contain no
// numbers.
func shownNumbers(of *operators.Numbers) *metrics.Numbers {
	if of == nil {
		return nil
	}
	shown := &metrics.Numbers{Read: func(d *decision.Decision) (values, low, high []float64, err error) {
		all, err := of.Read(*d)
		for _, x := range all {
			if !x.Shown {
				x.Value, x.Low, x.High = math.NaN(), math.NaN(), math.NaN()
			}
			values, low, high = append(values, x.Value), append(low, x.Low), append(high, x.High)
		}
		return values, low, high, err
	}}
	for _, n := range of.Names {
		shown.Labels = append(shown.Labels, [3]string{n.Memory, n.Statistic, n.Cell})
	}
	return shown
}
