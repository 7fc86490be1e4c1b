package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"oriel/state/keys"
)

// keyCommandTimeout limits the run time of the command in ORIEL_MASTER_KEY_COMMAND, which may ask a server.
const keyCommandTimeout = 30 * time.Second

// MasterKey reads the deployment's master key from its file or, if there is one, from the command that prints it.
// Errors name the setting and the rule, and quote nothing that the file or the command contains.
func MasterKey(ctx context.Context, file, command string) (*keys.MasterKey, error) {
	words := strings.Fields(command)
	if len(words) == 0 {
		key, err := keys.LoadMasterKey(file)
		if err != nil {
			return nil, fmt.Errorf("ORIEL_MASTER_KEY_FILE: %w", err)
		}
		return key, nil
	}
	text, err := printed(ctx, words, keyCommandTimeout)
	var key *keys.MasterKey
	if err == nil {
		key, err = keys.ParseMasterKey(text)
	}
	if err != nil {
		return nil, fmt.Errorf("ORIEL_MASTER_KEY_COMMAND: %w", err)
	}
	return key, nil
}

// printed runs a program without a shell and returns its standard output. The program has Oriel's environment and an
// empty standard input. Its standard error is dropped, because it may contain what the program read.
func printed(ctx context.Context, words []string, timeout time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	out := &bounded{most: keys.MaxMasterKeyText}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Stdout, cmd.WaitDelay = out, time.Second
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, fmt.Errorf("%s: not done after %v", words[0], timeout)
	case errors.As(err, &exit):
		return nil, fmt.Errorf("%s: %v; run it by hand to see its output", words[0], exit.ProcessState)
	case err != nil:
		return nil, err
	}
	return out.text.Bytes(), nil
}

// bounded keeps the first bytes that are written, and drops the others.
type bounded struct {
	text bytes.Buffer
	most int
}

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	b.text.Write(p[:min(len(p), b.most-b.text.Len())])
	return len(p), nil
}
