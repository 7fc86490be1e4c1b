package main

import (
	"context"
	"testing"

	"oriel/cmd/internal/servicetest"
)

func TestMain(m *testing.M) {
	servicetest.Main(m, func(ctx context.Context) int { return execute(ctx, root()) })
}
