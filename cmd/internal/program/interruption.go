package program

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Interruption returns a context that is cancelled when the process gets SIGINT or SIGTERM. Another signal within a
// second counts as the same request, because timeout(1) and some supervisors signal a process and then its group. A
// later signal ends the process at once. Therefore the process must receive signals until it exits.
func Interruption() context.Context {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() { time.AfterFunc(time.Second, stop) })
	return ctx
}
