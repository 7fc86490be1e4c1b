package envfile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
)

// Read sets those variables of a file that the environment lacks. Each line is NAME=value. A value without quotes is
// everything after the first =, as in `docker run --env-file`. A value with quotes is read as a POSIX shell reads it,
// so that `. FILE` and --env-file agree. Empty lines and lines that start with # are skipped.
func Read(path string) error {
	if path == "" {
		return nil
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("--env-file: %w", err)
	}
	seen := map[string]bool{}
	for i, line := range bytes.Split(content, []byte("\n")) {
		text := strings.TrimSpace(string(line))
		if text == "" || text[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(text, "=")
		switch {
		case !ok || name == "" || strings.ContainsAny(name, " \t"):
			return fmt.Errorf("--env-file: %s line %d: not NAME=value", path, i+1)
		case seen[name]:
			return fmt.Errorf("--env-file: %s line %d: %s is given twice", path, i+1, name)
		}
		seen[name] = true
		if value, err = Unquote(value); err != nil {
			return fmt.Errorf("--env-file: %s line %d: %s: %w", path, i+1, name, err)
		}
		if _, given := os.LookupEnv(name); given {
			continue
		}
		if err := os.Setenv(name, value); err != nil {
			return fmt.Errorf("--env-file: %s line %d: %w", path, i+1, err)
		}
	}
	return nil
}

// Unquote reads a quoted value as a POSIX shell reads a word. It refuses a value that a shell would expand or split.
func Unquote(value string) (string, error) {
	if !strings.ContainsAny(value, `'"`) {
		return value, nil
	}
	var word []byte
	for i := 0; i < len(value); i++ {
		switch c := value[i]; c {
		case '\'':
			end := strings.IndexByte(value[i+1:], '\'')
			if end < 0 {
				return "", errors.New("a ' has no end on its line")
			}
			word = append(word, value[i+1:][:end]...)
			i += 1 + end
		case '"':
			inner, length, err := doubleQuoted(value[i+1:])
			if err != nil {
				return "", err
			}
			word = append(word, inner...)
			i += length
		case '\\':
			if i++; i == len(value) {
				return "", errors.New("a \\ ends the line")
			}
			word = append(word, value[i])
		case ' ', '\t':
			if rest := strings.TrimLeft(value[i:], " \t"); rest != "" && rest[0] != '#' {
				return "", errors.New("text follows a space outside of quotes: put the whole value within quotes")
			}
			return string(word), nil
		case '$', '`', ';', '&', '|', '<', '>', '(', ')':
			return "", fmt.Errorf("%c outside of quotes means something to a shell: put the whole value within ' and '", c)
		default:
			word = append(word, c)
		}
	}
	return string(word), nil
}

// doubleQuoted reads the text after a double quote up to the closing one. It returns the unescaped text, and the number
// of bytes read, including the closing quote.
func doubleQuoted(text string) (inner []byte, length int, err error) {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return inner, i + 1, nil
		case c == '$' || c == '`':
			return nil, 0, fmt.Errorf("%c within \" means something to a shell: take ' in place of \"", c)
		case c == '\\' && i+1 < len(text) && strings.IndexByte("$`\"\\", text[i+1]) >= 0:
			i++
			inner = append(inner, text[i])
		default:
			inner = append(inner, c)
		}
	}
	return nil, 0, errors.New("a \" has no end on its line")
}

// Quote returns a value in the form that Unquote reads.
func Quote(value string) string {
	if !strings.ContainsAny(value, `'"`) && strings.TrimSpace(value) == value {
		return value
	}
	return "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
}
