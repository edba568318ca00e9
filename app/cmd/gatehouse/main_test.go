package main

import (
	"os"
	"testing"

	"github.com/gatehouse-io/gatehouse/e2e/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Run(m)) }
