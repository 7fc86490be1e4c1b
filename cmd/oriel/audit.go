package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/audit"
	"oriel/cmd/internal/audit/attack"
	"oriel/cmd/internal/audit/subject"
	"oriel/cmd/internal/audit/work"
	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/program"
	"oriel/cmd/internal/settings"
	"oriel/state/keys"
)

type auditOptions struct {
	runs      int
	time      time.Duration
	position  uint64
	steps     uint64
	alpha     float64
	epsilon   float64
	seed      string
	scores    string
	component int
	json      bool
}

func auditCommand() *cobra.Command {
	var o auditOptions
	cmd := &cobra.Command{
		Use:   "audit [--runs N | --time D] [--steps A] [--position P] [--epsilon E] [--scores FILE] [--json]",
		Short: "Try to catch the configured machine losing more privacy than it claims",
		Long: "Audit runs the machine that the settings configure many times and looks at everything that leaves it. It needs the settings of\n" +
			"`oriel run` about learning and privacy, and no brokers; events are its own, and every run has noise of its own, under\n" +
			"a key that no service uses. The command fails when anything is refuted.\n\n" +
			"Neighbours: pairs of streams that differ in one event, or in all events of a user, are recorded and replayed over the\n" +
			"same noise. Control flow, decisions and the public state must be the same, contributions as near as is claimed.\n" +
			"Attack: two neighbouring streams differ in one event, the canary (at user level: in all events of one user in a window),\n" +
			"made to move the private sum as far as the clip allows, in a random direction; at step 1 and in the middle of the second\n" +
			"block. How often releases show which stream a run had bounds the privacy loss from below, by exact binomial limits\n" +
			"(Clopper-Pearson), read as Gaussian DP (µ) and as (ε, δ). A bound above the claim refutes it, whatever the cause.\n" +
			"Feedback on actions waits, and contexts wait for their rewards, as configured.\n" +
			"Checks: the same records have one noise, and the least change of one gives another; a restart anywhere changes no byte;\n" +
			"decisions are computed from releases alone; a step adds its contributions and nothing more; draws of any size reach the release;\n" +
			"no coordinate escapes the clip; nothing passes the reset of a memory.\n" +
			"Residuals: events of all kinds, whose contributions are known; the noise, rebuilt draw by draw, is tested for law, tails, and\n" +
			"independence across steps, coordinates and runs.\n\n" +
			"A bound is never above the most that N runs can show: ε near ln N, and with δ = 1e-6 the bound on ε that trusts no Gaussian shape stays\n" +
			"far below the claim, so read µ. At ε = 1 nine tenths of the claim takes some 250 000 runs;\n" +
			"--epsilon 20 audits the same machine at another budget with far fewer, and is more sensitive to faults. Runs of blt and of\n" +
			"tree-gaussian at step 1 can come to the claim itself; a later event of a tree loses less than is claimed, and pure noise\n" +
			"comes to its ε in few dimensions only. --steps below the window makes runs cheaper, and shows the loss up to that age.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runAudit(cmd, o) },
	}
	f := cmd.Flags()
	program.Var(f, &o.runs, "runs", 0, "number of runs of each attack and of the residuals; 0: as many as --time allows")
	program.Var(f, &o.time, "time", 3*time.Minute, "time for pairs of streams, exact checks and all runs. Attacks get a fifth of the time for runs, or less if nine tenths of the claim are shown sooner; not with --runs")
	program.Var(f, &o.position, "position", 0, "step of the canary, from 1; 0: step 1, and the middle of the second block")
	program.Var(f, &o.steps, "steps", 0, "releases from the canary's step on; 0: the window, at most 1024")
	program.Var(f, &o.alpha, "alpha", 0.001, "probability of a false alarm, at most")
	program.Var(f, &o.epsilon, "epsilon", 0, "audit the machine of this budget in place of ORIEL_EPSILON")
	f.StringVar(&o.seed, "seed", "", "secret of all runs, 64 hex digits, to repeat an audit (with --runs); random when empty")
	f.StringVar(&o.scores, "scores", "", "write a line canary,score for each run of the first attack, for other auditors: 1 with the canary, log-likelihood ratio in nats")
	program.Var(f, &o.component, "component", subject.AllComponents, "component of the contribution to attack, from 0, of operators whose records add to several sums; -1: all at once")
	f.BoolVar(&o.json, "json", false, "print JSON")
	cmd.MarkFlagsMutuallyExclusive("runs", "time")
	return cmd
}

func (o auditOptions) validate() error {
	var errs []error
	bad := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, exit.WrongUse(format, args...))
		}
	}
	bad(o.runs == 0 || o.runs >= 2 && o.runs <= attack.MaxRuns,
		"--runs %d: not 0, nor within 2 to %d", o.runs, attack.MaxRuns)
	bad(o.time > 0, "--time %v: not positive", o.time)
	bad(o.alpha > 0 && o.alpha < 1, "--alpha %g: not between 0 and 1", o.alpha)
	bad(o.epsilon >= 0, "--epsilon %g: negative", o.epsilon)
	return errors.Join(errs...)
}

func runAudit(cmd *cobra.Command, o auditOptions) error {
	environ := program.Environ(cmd.Context())
	if o.epsilon > 0 {
		environ = combinations(environ, nil, epsilonLines([]float64{o.epsilon}))[0]
	}
	s, err := settings.Load(environ, settings.Events, settings.Operator)
	if err = errors.Join(err, o.validate()); err != nil {
		return err
	}
	secret := [32]byte(keys.NewSecret())
	if o.seed != "" {
		raw, err := hex.DecodeString(o.seed)
		if err != nil || len(raw) != len(secret) {
			return exit.WrongUse("--seed: not 64 hex digits")
		}
		secret = [32]byte(raw)
	}
	a, err := subject.New(s, secret, o.component)
	if err != nil {
		return err
	}
	result, err := audit.Run(cmd.Context(), a, audit.Options{
		Runs: o.runs, Time: o.time, Position: o.position, Steps: o.steps, Alpha: o.alpha,
		Progress: progressOn(cmd.ErrOrStderr()),
	})
	if err != nil {
		return err
	}
	if o.scores != "" {
		if err := os.WriteFile(o.scores, result.Scores(), 0o666); err != nil {
			return err
		}
	}
	if o.json {
		err = result.PrintJSON(cmd.OutOrStdout())
	} else {
		err = result.Print(cmd.OutOrStdout())
	}
	return errors.Join(err, result.Verdict())
}

// progressOn shows the progress of one stage after another: on a terminal as a bar, elsewhere as a line at the start of
// each stage with the seconds so far. There is no total, because the number of runs that fit into a time is not known.
func progressOn(w io.Writer) work.Progress {
	start := time.Now()
	return func(what string, total int) (set func(int), finish func()) {
		if total == 0 || total > attack.MaxRuns {
			total = -1
		}
		if !program.IsTerminal(w) {
			_, _ = fmt.Fprintf(w, "%5.0f s: %s\n", time.Since(start).Seconds(), what)
		}
		bar := program.NewBar(w, int64(total), what, false)
		_ = bar.RenderBlank()
		return func(done int) { _ = bar.Set(done) }, func() { _ = bar.Finish() }
	}
}
