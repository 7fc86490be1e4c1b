package histories
import ("os";"runtime")
func dumpStacks() { if os.Getenv("DUMP") == "" { return }; b := make([]byte, 1<<22); os.WriteFile("/tmp/stacks", b[:runtime.Stack(b, true)], 0o600) }
