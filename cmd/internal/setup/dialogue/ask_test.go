package dialogue

import (
	"bufio"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestAsker checks that a person is asked again after a refused answer. Without a person, --yes must accept proposals
// but confirm nothing.
func TestAsker(t *testing.T) {
	var got []string
	take := func(text string) error {
		if text == "bad" {
			return fmt.Errorf("is bad")
		}
		got = append(got, text)
		return nil
	}
	var out strings.Builder
	a := &Asker{In: bufio.NewReader(strings.NewReader("bad\n\n\nyes\n")), Out: &out, Asks: true}
	for _, q := range []Question{
		{Flag: "a", Proposal: "p", Take: take},
		{Flag: "b", Confirm: true, Take: take, Expected: "yes or no"},
		{Flag: "e", Given: "flag", Take: take},
	} {
		if err := a.Ask(q); err != nil {
			t.Error(err)
		}
	}
	if !slices.Equal(got, []string{"p", "yes", "flag"}) {
		t.Error(got)
	}
	if want := "This question has no default, so please answer: yes or no\n> "; strings.Count(out.String(), want) != 1 {
		t.Errorf("%s\nlacks %s", out.String(), want)
	}
	if err := a.Ask(Question{Flag: "c", Take: take}); err == nil {
		t.Error("an answer after the end")
	}
	if err := a.Ask(Question{Flag: "d", Given: "bad", Take: take}); err == nil || err.Error() != "--d: is bad" {
		t.Error(err)
	}
	for _, takes := range []bool{false, true} {
		var shown strings.Builder
		a := &Asker{Takes: takes, Out: &shown}
		got = nil
		for _, q := range []Question{
			{Flag: "a", Proposal: "p", Take: take},
			{Flag: "b", Text: "0:1?", Confirm: true, Take: take},
			{Flag: "c", Text: "which?", Take: take},
		} {
			if err := a.Ask(q); err != nil {
				t.Error(err)
			}
		}
		want := map[bool]string{false: "--a, --b, --c", true: "--b, --c"}[takes]
		if err := a.Missing(); err == nil || !strings.HasPrefix(err.Error(), want+": missing") {
			t.Error(err)
		}
		if shown.String() != "\n--b: 0:1?\n" { // only the question that needs confirmation is asked
			t.Errorf("%q", shown.String())
		}
		if !slices.Equal(got, []string{"p"}) { // a proposal answers so that later questions can be asked
			t.Errorf("takes %q", got)
		}
	}
}
