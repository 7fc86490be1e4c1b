package main

import (
	"context"
	"testing"
)

func TestMain(m *testing.M) {
	runTests(m, func(ctx context.Context) int { return execute(ctx, root()) })
}
