package setup

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// MostQuestions is the largest number of questions that a user must answer.
const MostQuestions = 8

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
	Check    func(answer string) error // checks an answer; nil: any answer is valid
}

// Ask returns the answer to a question. If Check refuses the answer of a person, the person is asked again. If it
// refuses the value of a flag, Ask returns an error.
func (a *Asker) Ask(q Question) (string, error) {
	check := func(answer string) error {
		if q.Check == nil {
			return nil
		}
		return q.Check(answer)
	}
	switch {
	case q.Given != "":
		if err := check(q.Given); err != nil {
			return "", fmt.Errorf("--%s: %w", q.Flag, err)
		}
		return q.Given, nil
	case !a.Asks && a.Takes && !q.Confirm && q.Proposal != "":
		return q.Proposal, nil
	case !a.Asks:
		a.missing = append(a.missing, "--"+q.Flag)
		if q.Confirm {
			fmt.Fprintf(a.Out, "\n--%s: %s\n", q.Flag, q.Text)
		}
		return q.Proposal, nil
	}
	a.asked++
	fmt.Fprintf(a.Out, "\n%d of %d at most. %s\n", a.asked, MostQuestions, q.Text)
	for {
		prompt := "> "
		if q.Proposal != "" && !q.Confirm {
			prompt = "[" + q.Proposal + "] > "
		}
		fmt.Fprintf(a.Out, "%s", prompt)
		line, err := a.In.ReadString('\n')
		answer := strings.TrimSpace(line)
		if answer == "" && err != nil {
			return "", errors.New("the answers have ended")
		}
		if answer == "" && !q.Confirm {
			answer = q.Proposal
		}
		if answer == "" {
			fmt.Fprintf(a.Out, "This question has no default, so please answer: %s\n", q.Expected)
			continue
		}
		if err := check(answer); err != nil {
			fmt.Fprintf(a.Out, "%s\n", err)
			continue
		}
		return answer, nil
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
