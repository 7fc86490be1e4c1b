package service

import (
	"sync"

	"oriel/pipeline/deployment"
	"oriel/pipeline/notice"
)

// limitMemory sets the limit of Go's garbage collector to the memory setting plus the states of the process's
// partitions.
func (h Host) limitMemory(l notice.Listener, memory deployment.Memory) notice.Listener {
	if h.limit == nil {
		return l
	}
	var mu sync.Mutex
	states := map[int32]int{}
	change := func(how func()) {
		mu.Lock()
		defer mu.Unlock()
		how()
		sum := 0
		for _, bytes := range states {
			sum += bytes
		}
		h.limit(memory.Limit(len(states), sum))
	}
	change(func() {})
	return notice.Both(notice.Listener{
		Holds:  func(p int32, bytes int) { change(func() { states[p] = bytes }) },
		Closed: func(p int32) { change(func() { delete(states, p) }) },
	}, l)
}
