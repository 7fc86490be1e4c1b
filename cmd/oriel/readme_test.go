package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Tests run what README.md shows and hold its figures to what comes out.

// modulePath is that of a file of the module, whichever package's folder a test runs in.
func modulePath(name string) string {
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, name)
		}
		above := filepath.Dir(dir)
		if above == dir {
			panic("no go.mod above the working directory")
		}
		dir = above
	}
}

func readme(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile(modulePath("README.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// blocksOf are the blocks of commands and of output of a text.
func blocksOf(text string) (blocks []string) {
	for i, part := range strings.Split("\n"+text, "\n```") {
		if i%2 == 1 {
			_, body, _ := strings.Cut(part, "\n")
			blocks = append(blocks, body+"\n")
		}
	}
	return blocks
}

// blockOfReadme returns the block that has a command.
func blockOfReadme(t *testing.T, command string) string {
	t.Helper()
	for _, block := range blocksOf(readme(t)) {
		if strings.Contains(block, command) {
			return block
		}
	}
	t.Fatalf("README.md has no %s", command)
	return ""
}

// operatorOfReadme returns the section of an operator and its block of commands.
func operatorOfReadme(t *testing.T, operator string) (text, commands string) {
	t.Helper()
	_, text, found := strings.Cut(readme(t), "\n### "+operator+": ")
	text, _, _ = strings.Cut(text, "\n##")
	blocks := blocksOf(text)
	if !found || len(blocks) != 1 {
		t.Fatalf("README.md has no section of %s with one block of commands", operator)
	}
	return text, blocks[0]
}

// settingsIn are the settings that commands have, as a shell reads them.
func settingsIn(commands string) map[string]string {
	env := map[string]string{}
	for _, set := range regexp.MustCompile(`(ORIEL_\w+)=('[^']*'|\S+)`).FindAllStringSubmatch(commands, -1) {
		env[set[1]] = strings.Trim(set[2], "'")
	}
	return env
}

// onOneLine puts lines together, which may break anywhere.
func onOneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
