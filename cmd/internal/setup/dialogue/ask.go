package dialogue

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"oriel/cmd/internal/exit"
)

// MostQuestions is the largest number of questions that a user must answer.
const MostQuestions = 9

// Asker obtains the answer to a question: from its flag, or else from a person, or else from its proposal.
type Asker struct {
	In    *bufio.Reader
	Out   io.Writer
	Asks  bool // ask a person; otherwise only flags and proposals answer
	Takes bool // --yes: proposals answer if no person does

	asked   int
	missing []string // flags of unanswered questions
}

// Question is a question to the user, with the flag that answers it in advance.
type Question struct {
	Flag     string // name of the flag, without dashes
	Given    string // value of the flag; empty: not set
	Text     string
	Proposal string                    // answer that an empty line accepts; empty: none
	Expected string                    // form of an answer, in words; needed where an empty line is no answer
	Confirm  bool                      // a person or a flag must answer, because --yes does not suffice
	Take     func(answer string) error // checks an answer and stores it
}

// Ask obtains the answer to a question. If Take refuses the answer of a person, the person is asked again. If it
// refuses the value of a flag, Ask returns an error.
func (a *Asker) Ask(q Question) error {
	flagged := func(answer string) error {
		if err := q.Take(answer); err != nil {
			return exit.WrongUse("--%s: %w", q.Flag, err)
		}
		return nil
	}
	if q.Given != "" {
		return flagged(q.Given)
	}
	if !a.Asks {
		if !a.Takes || q.Confirm || q.Proposal == "" {
			a.missing = append(a.missing, "--"+q.Flag)
		}
		if q.Confirm {
			fmt.Fprintf(a.Out, "\n--%s: %s\n", q.Flag, q.Text)
		}
		if q.Proposal == "" {
			return nil
		}
		return flagged(q.Proposal)
	}
	a.asked++
	fmt.Fprintf(a.Out, "\n%d of %d at most. %s\n", a.asked, MostQuestions, q.Text)
	for {
		prompt := "> "
		if q.Proposal != "" {
			prompt = "[" + q.Proposal + "] > "
		}
		fmt.Fprintf(a.Out, "%s", prompt)
		line, err := a.In.ReadString('\n')
		answer := cmp.Or(strings.TrimSpace(line), q.Proposal)
		switch {
		case line == "" && err != nil:
			return errors.New("the answers have ended")
		case answer == "":
			fmt.Fprintf(a.Out, "This question has no default, so please answer: %s\n", q.Expected)
			continue
		}
		if err = q.Take(answer); err == nil {
			return nil
		}
		fmt.Fprintln(a.Out, err)
	}
}

// Missing returns an error that lists the flags of unanswered questions, or nil.
func (a *Asker) Missing() error {
	if len(a.missing) == 0 {
		return nil
	}
	hint := "; --yes takes proposals where there are any"
	if a.Takes {
		hint = "; --yes cannot answer which values are public"
	}
	return fmt.Errorf("%s: missing, and standard input is no terminal, so nothing is asked%s", strings.Join(a.missing, ", "), hint)
}
