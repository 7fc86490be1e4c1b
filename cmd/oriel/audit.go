package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/settings"
	"oriel/mechanisms/audit"
	"oriel/mechanisms/dp"
	"oriel/state"
)

// auditOptions are the flags of `oriel audit`.
type auditOptions struct {
	runs     int
	time     time.Duration
	position uint64
	steps    uint64
	alpha    float64
	epsilon  float64
	seed     string
	scores   string
	json     bool
}

func auditCommand() *cobra.Command {
	var o auditOptions
	cmd := &cobra.Command{
		Use:   "audit [--runs N | --time D] [--steps A] [--position P] [--epsilon E] [--scores FILE] [--json]",
		Short: "Try to catch the configured machine losing more privacy than it claims",
		Long: "Audit runs the machine that the settings configure many times, on two neighbouring streams that differ in one event,\n" +
			"the canary (at user level: in all events of one user in a window), made to move the private sum as far as the clip\n" +
			"allows. It then guesses from the released sums which stream each run had. How often it is right bounds the privacy\n" +
			"loss from below; a bound above the claim refutes the claim, and the command fails. The bounds trust no formula: they\n" +
			"are exact binomial limits (Clopper-Pearson), read as Gaussian DP (µ) and as (ε, δ).\n\n" +
			"It needs the settings of `oriel run` about learning and privacy, and no brokers. It reads no events: all but the canary\n" +
			"are null. Every run has noise of its own, under a key that no service uses.\n\n" +
			"A bound is never above what N runs can show: ε near ln N, and with δ = 1e-6 the bound on ε that trusts no Gaussian shape stays\n" +
			"far below the claim, so read µ. At ε = 1 nine tenths of the claim takes some 200 000 runs;\n" +
			"--epsilon 20 audits the same machine at another budget with far fewer, and is more sensitive to faults. Runs of blt and of\n" +
			"tree-gaussian at --position 1 can come to the claim itself; a later event of a tree loses less than is claimed, and pure noise\n" +
			"comes to its ε in few dimensions only. --steps below the window makes runs cheaper, and shows the loss up to that age.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runAudit(cmd, o) },
	}
	f := cmd.Flags()
	f.IntVar(&o.runs, "runs", 0, "number of runs; 0: as many as nine tenths of the claim need, within --time")
	f.DurationVar(&o.time, "time", time.Minute, "stop after so long, whatever the scores are; not with --runs")
	f.Uint64Var(&o.position, "position", 1, "step of the canary, from 1")
	f.Uint64Var(&o.steps, "steps", 0, "releases from the canary's step on; 0: the window, at most 1024")
	f.Float64Var(&o.alpha, "alpha", 0.001, "probability of a false alarm, at most")
	f.Float64Var(&o.epsilon, "epsilon", 0, "audit the machine of this budget in place of ORIEL_EPSILON")
	f.StringVar(&o.seed, "seed", "", "secret of all runs, 64 hex digits, to repeat an audit (with --runs); random when empty")
	f.StringVar(&o.scores, "scores", "", "write a line canary,score for each run, for other auditors: 1 with the canary, log-likelihood ratio in nats")
	f.BoolVar(&o.json, "json", false, "print JSON")
	cmd.MarkFlagsMutuallyExclusive("runs", "time")
	return cmd
}

// maxAuditRuns bounds what is planned, and so the memory for scores.
const maxAuditRuns = 1 << 22

func (o auditOptions) validate() error {
	var errs []error
	bad := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	bad(o.runs == 0 || o.runs >= 2 && o.runs <= maxAuditRuns, "--runs %d: not 0, nor within 2 to %d", o.runs, maxAuditRuns)
	bad(o.time > 0, "--time %v: not positive", o.time)
	bad(o.position >= 1, "--position 0: not at least 1")
	bad(o.alpha > 0 && o.alpha < 1, "--alpha %g: not between 0 and 1", o.alpha)
	bad(o.epsilon >= 0, "--epsilon %g: negative", o.epsilon)
	return errors.Join(errs...)
}

func runAudit(cmd *cobra.Command, o auditOptions) error {
	s, err := settings.Load(os.Environ(), settings.Events, settings.Operator)
	if err = errors.Join(err, o.validate()); err != nil {
		return err
	}
	if o.epsilon > 0 {
		s.Epsilon = o.epsilon
	}
	secret := state.NewSecret()
	if o.seed != "" {
		raw, err := hex.DecodeString(o.seed)
		if err != nil || len(raw) != len(secret) {
			return errors.New("--seed: not 64 hex digits")
		}
		secret = state.Secret(raw)
	}
	subject, err := newAuditSubject(s, o)
	if err != nil {
		return err
	}
	result, err := subject.audit(cmd.Context(), cmd.ErrOrStderr(), o, secret)
	if err != nil {
		return err
	}
	if o.scores != "" {
		if err := writeScores(o.scores, result.all); err != nil {
			return err
		}
	}
	if o.json {
		err = result.printJSON(cmd.OutOrStdout())
	} else {
		err = result.print(cmd.OutOrStdout())
	}
	return errors.Join(err, result.verdict())
}

// auditResult is what an audit found, and about what.
type auditResult struct {
	subject   *auditSubject
	guarantee dp.Guarantee
	report    audit.Report
	all       []audit.Run
	took      time.Duration
	needed    int  // runs for nine tenths of Reach
	reachable bool // needed is a number of runs
}

// audit checks the history of noise, then plays runs on all processors. Runs are counted in order, so that a seed repeats an audit.
func (a *auditSubject) audit(ctx context.Context, progress io.Writer, o auditOptions, secret [32]byte) (auditResult, error) {
	r := auditResult{subject: a}
	key := sha256.Sum256(append([]byte("oriel audit: machine"), secret[:]...))
	first, err := a.open(key)
	if err != nil {
		return r, err
	}
	start := time.Now()
	if err := audit.CheckHistory(first.play, a.canary); err != nil {
		return r, err
	}
	each := time.Since(start) / 4 // it plays four runs
	if r.guarantee = first.stream.Guarantee(); math.IsInf(r.guarantee.Epsilon, 1) {
		return r, fmt.Errorf("audit: %s proves no finite epsilon at delta %g: there is no claim to refute", r.guarantee.Mechanism, r.guarantee.Delta)
	}
	r.needed, r.reachable = a.law.RunsFor(0.9, r.guarantee.Delta, o.alpha)
	runs := o.runs
	if runs == 0 {
		possible := int(o.time / max(1, each/time.Duration(runtime.GOMAXPROCS(0))))
		runs = max(2, min(r.needed, possible, maxAuditRuns))
	}
	count, err := audit.New(a.law, r.guarantee, runs, o.alpha)
	if err != nil {
		return r, err
	}
	players := []*auditPlayer{first}
	for len(players) < runtime.GOMAXPROCS(0) {
		p, err := a.open(key)
		if err != nil {
			return r, err
		}
		players = append(players, p)
	}
	start = time.Now()
	work := auditWork{players: players, law: a.law, secret: secret, runs: uint64(runs)}
	if o.runs == 0 {
		work.deadline = start.Add(o.time)
	}
	bar := newBar(progress, int64(runs), "runs", false)
	err = work.do(ctx, func(run audit.Run) {
		count.Add(run)
		r.all = append(r.all, run.WithoutReleases())
		if len(r.all)%64 == 0 {
			_ = bar.Set(len(r.all))
		}
	})
	_ = bar.Finish()
	r.took, r.report = time.Since(start), count.Report()
	return r, err
}

// auditWork is runs to be played by several players, each in a goroutine of its own.
type auditWork struct {
	players  []*auditPlayer
	law      *audit.Law
	secret   [32]byte
	runs     uint64
	deadline time.Time // zero: none. It is looked at without regard to scores, and so costs no confidence
}

// do hands runs 0, 1, 2, … to take, in order, without a gap.
func (w auditWork) do(ctx context.Context, take func(audit.Run)) error {
	type numbered struct {
		number uint64
		run    audit.Run
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
		late := !w.deadline.IsZero() && next.number >= 2 && time.Now().After(w.deadline)
		if late || next.failed || next.number == w.runs || ctx.Err() != nil {
			return 0, false
		}
		next.number++
		return next.number - 1, true
	}
	done := make(chan numbered, 64)
	var group sync.WaitGroup
	for _, player := range w.players {
		group.Go(func() {
			observer := w.law.Observe()
			for {
				number, ok := claim()
				if !ok {
					return
				}
				coin := audit.Coin(w.secret, number)
				if err := player.play(number, coin, observer.Release); err != nil {
					next.Lock()
					next.failed = true
					next.Unlock()
					done <- numbered{number: number, err: err}
					return
				}
				done <- numbered{number: number, run: observer.Result(coin)}
			}
		})
	}
	go func() {
		group.Wait()
		close(done)
	}()
	var failed error
	waiting, turn := map[uint64]audit.Run{}, uint64(0)
	for r := range done {
		if failed = errors.Join(failed, r.err); failed != nil {
			continue
		}
		waiting[r.number] = r.run
		for run, ok := waiting[turn]; ok; run, ok = waiting[turn] {
			delete(waiting, turn)
			take(run)
			turn++
		}
	}
	if ctx.Err() != nil {
		return errors.New("interrupted")
	}
	return failed
}

// writeScores writes the scores of all runs as CSV.
func writeScores(path string, runs []audit.Run) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	b := []byte("canary,score\n")
	for _, r := range runs {
		bit := byte('0')
		if r.Canary {
			bit = '1'
		}
		b = strconv.AppendFloat(append(b, bit, ','), r.Score, 'g', -1, 64)
		b = append(b, '\n')
	}
	_, err = f.Write(b)
	return err
}
