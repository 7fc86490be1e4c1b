package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// readEnvFile sets the variables that a file gives and the environment lacks. Each line is NAME=value, as
// `docker run --env-file` takes it: the value is all that follows the first =, without quotes or expansion; lines that
// are empty or start with # do not count.
func readEnvFile(path string) error {
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
		if _, given := os.LookupEnv(name); given {
			continue
		}
		if err := os.Setenv(name, value); err != nil {
			return fmt.Errorf("--env-file: %s line %d: %w", path, i+1, err)
		}
	}
	return nil
}
