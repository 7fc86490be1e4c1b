package doctor

import (
	"fmt"
	"io"

	"oriel/cmd/internal/exit"
	"oriel/pipeline/kafka"
)

// report prints a line for each check, and counts the problems.
type report struct {
	w                      io.Writer
	checks, wrong, warning int
}

func (r *report) line(verdict, check, text string) {
	r.checks++
	fmt.Fprintf(r.w, "%-8s %s: %s\n", verdict, check, text)
}

// ok reports a check that found nothing wrong.
func (r *report) ok(check, format string, args ...any) {
	r.line("ok", check, fmt.Sprintf(format, args...))
}

// skipped reports why a check was not made.
func (r *report) skipped(check, format string, args ...any) {
	r.line("-", check, fmt.Sprintf(format, args...))
}

// warn reports a problem with which the service can still run.
func (r *report) warn(check, format string, args ...any) {
	r.warning++
	r.line("warning", check, fmt.Sprintf(format, args...))
}

// refuse prints each problem, with advice, on a line of its own. It reports whether there is any problem.
func (r *report) refuse(check string, err error) bool {
	if err == nil {
		return false
	}
	for _, problem := range exit.Problems(err) {
		text, remedy := exit.Plain(problem), exit.Remedy(problem)
		if refused := kafka.Refused(problem); refused != nil && remedy == "" {
			text, remedy = refused.Error(), exit.Remedy(refused)
		}
		if remedy != "" {
			text += "; " + remedy
		}
		r.wrong++
		r.line("wrong", check, text)
	}
	return true
}

// summary prints the last line. If unsettled, the returned error has the exit code of wrong settings.
func (r *report) summary(unsettled bool) error {
	fmt.Fprintf(r.w, "%d checks: %d wrong, %d warnings\n", r.checks, r.wrong, r.warning)
	const text = "checks that failed: %d; see the lines that begin with \"wrong\""
	switch {
	case unsettled:
		return exit.WrongUse(text, r.wrong)
	case r.wrong > 0:
		return fmt.Errorf(text, r.wrong)
	}
	return nil
}
