package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"oriel/state"
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

// writeKeyFile makes the file and what it says last before it returns; a file that could not be written whole is gone.
func writeKeyFile(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o400)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("--out: %s exists, and a master key is never overwritten; use it, or name another file", path)
	}
	if err != nil {
		return err
	}
	secret := state.NewSecret()
	_, err = f.WriteString(hex.EncodeToString(secret[:]) + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}
