package lint

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// maxWords is the greatest number of words in a sentence of a page or comment. A reader who has to hold more than that
// in mind reads the sentence twice.
const maxWords = 40

var (
	sentenceEnd = regexp.MustCompile(`[.!?]["')*_]*(\s+|$)`)
	listItem    = regexp.MustCompile(`^\s*([-*]|\d+\.) `)
	codeSpan    = regexp.MustCompile("`[^`]*`")
)

// sentencesIn finds long sentences in Markdown and in comments. A list item and a cell of a table end the sentence
// before them, and quoted code counts as one word.
func sentencesIn(name string, content []byte) []Finding {
	s := sentences{name: name}
	switch {
	case strings.Contains(name, "testdata/") || isGenerated(content):
	case path.Ext(name) == ".md":
		s.markdown(string(content))
	case path.Ext(name) == ".go":
		s.comments(string(content))
	}
	return s.found
}

// isItem reports whether a line starts an item of a list. It runs the expression only where it may match.
func isItem(line string) bool {
	text := strings.TrimLeft(line, " \t\n\f\r")
	return text != "" && strings.IndexByte("-*0123456789", text[0]) >= 0 && listItem.MatchString(line)
}

// sentences collects the lines of a paragraph.
type sentences struct {
	name   string
	lines  []string
	number int // line at which the paragraph begins
	found  []Finding
}

func (s *sentences) markdown(text string) {
	fenced, number := false, 0
	for line := range strings.Lines(text) {
		number++
		switch line = strings.TrimRight(line, "\n"); {
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			fenced = !fenced
			s.end()
		case fenced || line == "" || line[0] == '#' || strings.HasPrefix(line, "    "):
			s.end()
		case line[0] == '|':
			for cell := range strings.SplitSeq(line, " | ") {
				s.end()
				s.add(number, cell)
			}
			s.end()
		default:
			if isItem(line) {
				s.end()
			}
			s.add(number, line)
		}
	}
	s.end()
}

func (s *sentences) comments(text string) {
	number := 0
	for line := range strings.Lines(text) {
		number++
		comment, ok := strings.CutPrefix(strings.TrimSpace(line), "// ")
		if item := isItem(comment); !ok || item || comment != strings.TrimLeft(comment, " \t") {
			s.end() // also before indented text, which may continue an item
			if ok = item; !ok {
				continue
			}
		}
		s.add(number, comment)
	}
	s.end()
}

func (s *sentences) add(number int, line string) {
	if len(s.lines) == 0 {
		s.number = number
	}
	s.lines = append(s.lines, listItem.ReplaceAllString(line, ""))
}

// end reports the long sentences of the paragraph.
func (s *sentences) end() {
	text := strings.Join(s.lines, " ")
	s.lines = nil
	if len(strings.Fields(text)) <= maxWords {
		return // most paragraphs: none of their sentences is too long
	}
	text = codeSpan.ReplaceAllString(text, "code")
	for _, sentence := range sentenceEnd.Split(text, -1) {
		if words := strings.Fields(sentence); len(words) > maxWords {
			start := strings.Join(words[:5], " ")
			s.found = append(s.found, Finding{
				fmt.Sprintf("%s:%d", s.name, s.number),
				fmt.Sprintf("%d words from %q on: at most %d in a sentence", len(words), start, maxWords),
			})
		}
	}
}
