package merge

import "oriel/pipeline/deployment"

// push lets the lane get on whose turn it is. If it finds no room, the lane farthest in the order gives back what it
// holds; when no other lane holds anything, it waits for room, with nobody beside it. So it holds what one fetch.Reader
// would, and gets on like one.
func (r *Reader) push(l *lane) {
	if turn := r.ahead[0].number; r.tried != turn {
		r.tried = turn
		r.resume(l)
	}
	if l.running || !l.parked || r.giving != nil {
		r.run(l)
		return
	}
	farthest := r.farthest(l)
	switch {
	case farthest == nil:
		r.patient = l
	case farthest.running:
		r.giving = farthest // the lane whose turn it is runs again when it has stopped
		if farthest.cancel != nil {
			farthest.cancel()
		}
		return
	default:
		farthest.drop()
		r.park(farthest)
	}
	r.resume(l)
}

// farthest is the lane that holds memory and whose turn comes last, beside one lane; nil: none.
func (r *Reader) farthest(beside *lane) *lane {
	var farthest *lane
	for _, l := range r.lanes {
		if l != beside && l.holds() && (farthest == nil || l.number() > farthest.number()) {
			farthest = l
		}
	}
	return farthest
}

// given takes back what a lane holds that was told to give it back, and has stopped running.
func (r *Reader) given(l *lane) {
	if r.giving != l {
		return
	}
	r.giving = nil
	l.drop()
	r.park(l)
	if len(r.ahead) > 0 {
		r.resume(r.lanes[r.ahead[0].Partition])
	}
}

// waited lets other lanes run again beside one that had to wait for room.
func (r *Reader) waited(l *lane) {
	if r.patient != l {
		return
	}
	r.patient = nil
	for _, other := range r.lanes {
		r.run(other)
	}
}

// park makes a lane wait until its turn has come, or there is room again.
func (r *Reader) park(l *lane) {
	if !l.parked {
		l.parked = true
		r.parked++
	}
}

// resume lets a lane run.
func (r *Reader) resume(l *lane) {
	if l.parked {
		l.parked = false
		r.parked--
	}
	r.run(l)
}

// unpark lets the next of the lanes run that wait for room, if there is some for an answer.
func (r *Reader) unpark() {
	if r.parked == 0 {
		return
	}
	var nearest *lane
	for _, l := range r.lanes {
		if l.parked && l != r.giving && l.wants() && (nearest == nil || l.number() < nearest.number()) {
			nearest = l
		}
	}
	if nearest == nil {
		return
	}
	share, ok := r.budget.TryTake(deployment.FetchBytes)
	share.Release()
	if ok {
		r.resume(nearest)
	}
}
