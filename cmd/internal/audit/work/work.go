package work

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"
)

// Progress shows the progress of a long stage of an audit; total is 0 if it is not known.
type Progress func(what string, total int) (set func(done int), finish func())

// Job describes runs to be played on all processors. Each worker has its own goroutine.
type Job struct {
	What string
	Runs uint64
	// zero: no deadline. The deadline does not depend on results, so confidence statements stay valid
	Deadline time.Time
	Progress Progress
}

// LeastRuns is the number of runs that are played even after the deadline.
const LeastRuns = 2

// Do calls take with the results of runs 0, 1, 2, …, in order, without a gap and one at a time. Each worker plays with
// its own play function.
func Do[R any](
	ctx context.Context, j Job, worker func() (func(number uint64) (R, error), error), take func(R),
) error {
	plays := make([]func(uint64) (R, error), runtime.GOMAXPROCS(0))
	for i := range plays {
		var err error
		if plays[i], err = worker(); err != nil {
			return err
		}
	}
	set, finish := j.Progress(j.What, int(j.Runs))
	defer finish()
	q := &queue[R]{job: j, waiting: map[uint64]R{}, take: take, set: set}
	var group sync.WaitGroup
	for _, play := range plays {
		group.Go(func() {
			for number, ok := q.claim(ctx); ok; number, ok = q.claim(ctx) {
				result, err := play(number)
				q.put(number, result, err)
			}
		})
	}
	group.Wait()
	if ctx.Err() != nil {
		return errors.New("interrupted")
	}
	return q.failed
}

// queue hands out the runs of a job, and takes their results in order.
type queue[R any] struct {
	job  Job
	take func(R)
	set  func(done int)

	mutex     sync.Mutex
	next, due uint64       // the next run to play, and the next one to take
	waiting   map[uint64]R // results of later runs than due
	failed    error
}

// claim returns the number of the next run to play, or false if no further run is to be played.
func (q *queue[R]) claim(ctx context.Context) (number uint64, ok bool) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	late := !q.job.Deadline.IsZero() && q.next >= LeastRuns && time.Now().After(q.job.Deadline)
	if late || q.failed != nil || q.next == q.job.Runs || ctx.Err() != nil {
		return 0, false
	}
	q.next++
	return q.next - 1, true
}

// put takes the result of a run as soon as the results of all earlier runs are taken. After an error it takes no more.
func (q *queue[R]) put(number uint64, result R, err error) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if q.failed = errors.Join(q.failed, err); q.failed != nil {
		return
	}
	q.waiting[number] = result
	for result, ok := q.waiting[q.due]; ok; result, ok = q.waiting[q.due] {
		delete(q.waiting, q.due)
		q.take(result)
		if q.due++; q.due%64 == 0 {
			q.set(int(q.due))
		}
	}
}
