package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/setup"
)

func keyCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "key --out FILE",
		Short: "Make a master key",
		Long: "Key draws a master key and writes it to a new file that only its owner can read (mode 0400), for ORIEL_MASTER_KEY_FILE.\n" +
			"It never overwrites: a deployment whose key is lost cannot go on.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := writeKeyFile(out); err != nil {
				return err
			}
			cmd.Println("wrote", out+"; keep a copy in a safe place")
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "file to make")
	_ = cmd.MarkFlagRequired("out")
	return cmd
}

// writeKeyFile creates a file with a new key.
func writeKeyFile(path string) error {
	err := setup.WriteNew(path, setup.NewKey(), 0o400)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("--out: %s exists, and a master key is never overwritten; use it, or name another file", path)
	}
	return err
}
