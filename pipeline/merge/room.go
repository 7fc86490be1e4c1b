package merge

import "oriel/pipeline/deployment"

// push lets the lane whose turn it is make progress. If it finds no memory, the lane whose turn comes last releases its
// memory. If no other lane holds memory, the lane waits for memory while no other lane runs. Then it holds as much
// memory as a single fetch.Reader, and makes progress like one.
func (r *Reader) push(l *lane) {
	if at := l.spot(); r.tried != at {
		r.tried = at
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
		r.giving = farthest // yielded resumes the lane whose turn it is after this lane stops
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

// farthest returns the lane whose turn comes last among the lanes that hold memory, except beside; or nil.
func (r *Reader) farthest(beside *lane) *lane {
	var farthest *lane
	for _, l := range r.lanes {
		if l != beside && l.holds() && (farthest == nil || compare(l, farthest) > 0) {
			farthest = l
		}
	}
	return farthest
}

// yielded releases the memory of a lane that has stopped running because push asked for its memory.
func (r *Reader) yielded(l *lane) {
	if r.giving != l {
		return
	}
	r.giving = nil
	l.drop()
	r.park(l)
	if len(r.turns) > 0 {
		r.resume(r.turns[0])
	}
}

// waited lets the other lanes run again if l is the lane that waited for memory while no other lane ran.
func (r *Reader) waited(l *lane) {
	if r.patient != l {
		return
	}
	r.patient = nil
	for _, other := range r.lanes {
		r.run(other)
	}
}

// park makes a lane wait until its turn has come or there is memory again.
func (r *Reader) park(l *lane) {
	if !l.parked {
		l.parked = true
		r.parked++
	}
}

// resume ends the waiting of a lane and runs it.
func (r *Reader) resume(l *lane) {
	if l.parked {
		l.parked = false
		r.parked--
	}
	r.run(l)
}

// unpark runs one lane that waits for memory, the first in the order, if there is memory for an answer.
func (r *Reader) unpark() {
	if r.parked == 0 {
		return
	}
	var nearest *lane
	for _, l := range r.lanes {
		if l.parked && l != r.giving && l.wants() && (nearest == nil || compare(l, nearest) < 0) {
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
