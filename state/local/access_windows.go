package local

// access leaves it to the first file, because Windows has no such call.
func access(string) error { return nil }
