package auditor

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"
)

// Progress shows the progress of a long stage of an audit; total is 0 if it is not known.
type Progress func(what string, total int) (set func(done int), finish func())

// stage runs a stage of an audit that plays no statistical runs, and shows the stage as active.
func (o Options) stage(what string, do func() error) error {
	_, finish := o.Progress(what, 0)
	defer finish()
	return do()
}

// repeatedRuns describes runs to be played on all processors. Each worker has its own goroutine.
type repeatedRuns struct {
	what string
	runs uint64
	// zero: no deadline. The deadline does not depend on results, so confidence statements stay valid
	deadline time.Time
	progress Progress
}

// leastRuns is the number of runs that are played even after the deadline.
const leastRuns = 2

// do calls take with the results of runs 0, 1, 2, …, in order and without a gap. Each worker plays with its own play
// function.
func do[R any](
	ctx context.Context, w repeatedRuns, worker func() (func(number uint64) (R, error), error), take func(R),
) error {
	type numbered struct {
		number uint64
		result R
		err    error
	}
	var next struct {
		sync.Mutex
		number uint64
		failed bool
	}
	claim := func() (number uint64, ok bool) {
		next.Lock()
		defer next.Unlock()
		late := !w.deadline.IsZero() && next.number >= leastRuns && time.Now().After(w.deadline)
		if late || next.failed || next.number == w.runs || ctx.Err() != nil {
			return 0, false
		}
		next.number++
		return next.number - 1, true
	}
	done := make(chan numbered, 64)
	plays := make([]func(uint64) (R, error), runtime.GOMAXPROCS(0))
	for i := range plays {
		var err error
		if plays[i], err = worker(); err != nil {
			return err
		}
	}
	var group sync.WaitGroup
	for _, play := range plays {
		group.Go(func() {
			for {
				number, ok := claim()
				if !ok {
					return
				}
				r := numbered{number: number}
				if r.result, r.err = play(number); r.err != nil {
					next.Lock()
					next.failed = true
					next.Unlock()
				}
				if done <- r; r.err != nil {
					return
				}
			}
		})
	}
	go func() {
		group.Wait()
		close(done)
	}()
	set, finish := w.progress(w.what, int(w.runs))
	defer finish()
	var failed error
	waiting, due := map[uint64]R{}, uint64(0)
	for r := range done {
		if failed = errors.Join(failed, r.err); failed != nil {
			continue
		}
		waiting[r.number] = r.result
		for result, ok := waiting[due]; ok; result, ok = waiting[due] {
			delete(waiting, due)
			take(result)
			if due++; due%64 == 0 {
				set(int(due))
			}
		}
	}
	if ctx.Err() != nil {
		return errors.New("interrupted")
	}
	return failed
}
