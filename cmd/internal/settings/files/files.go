package files

import (
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"oriel/state/keys"
)

// mostFile is the largest size of a file that a setting may name, bytes.
const mostFile = 64 << 20

// Read reads a file that a setting names.
func Read(name string) ([]byte, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) && !filepath.IsAbs(name) {
		err = fmt.Errorf("%w; the path is from the folder that oriel runs in", err)
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var content bytes.Buffer
	if n, err := io.Copy(&content, io.LimitReader(f, mostFile+1)); err != nil || n > mostFile {
		if err == nil {
			err = fmt.Errorf("%s: longer than %d bytes", name, mostFile)
		}
		return nil, err
	}
	return content.Bytes(), nil
}

// Authorities reads the certificates of the PEM file that a setting names. It returns nil if file is "".
func Authorities(setting, file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", setting, err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s: %s: no PEM certificate in it", setting, file)
	}
	return pool, nil
}

// Password reads a file with one line.
func Password(file string) (string, error) {
	const mostPassword = 64 << 10
	secret, err := keys.ReadSecretFile(file, mostPassword)
	return strings.TrimRight(string(secret), "\r\n"), err
}
