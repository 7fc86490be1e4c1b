package service

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Interruption is done when the process is told to end. A signal that comes a second later or more ends the process at
// once; one before that is the same: timeout(1) and others signal a process and then its group, and mean one. So
// signals are heard to the very end.
func Interruption() context.Context {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() { time.AfterFunc(time.Second, stop) })
	return ctx
}
