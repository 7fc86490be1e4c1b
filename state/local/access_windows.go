package local

// access returns nil, because Windows has no such call; creating the first file shows an error.
func access(string) error { return nil }
