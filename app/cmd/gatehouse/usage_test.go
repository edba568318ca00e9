package main

import "testing"

// TestWrongCommandLines states that a wrong command line fails, also below a group of
// commands, and that the error says what is wrong and what to do.
func TestWrongCommandLines(t *testing.T) {
	s := newShell(t)
	for pattern, args := range map[string][]string{
		"gatehouse: there is no command `gatehouse serv` (did you mean `gatehouse serve`?); `gatehouse --help` lists the commands": {"serv"},
		"there is no command `gatehouse audit verfy` (did you mean `gatehouse audit verify`?); `gatehouse audit --help`":           {"audit", "verfy"},
		"there is no command `gatehouse keys doctor`; `gatehouse keys --help`":                                                     {"keys", "doctor"},
		"there is no command `gatehouse config x`":                                                                                 {"config", "x"},
		"there is no command `gatehouse rules x`":                                                                                  {"rules", "x"},
		"there is no command `gatehouse portal drfit` (did you mean `gatehouse portal drift`?)":                                    {"portal", "drfit"},
		"received 0; usage: gatehouse backup FILE [flags]; `gatehouse backup --help` says more":                                    {"backup"},
		"--prot; usage: gatehouse serve [flags]; `gatehouse serve --help` says more":                                               {"serve", "--prot", "1"},
		"\"extra\"…usage: gatehouse check [flags]":                                                                                 {"check", "extra"},
	} {
		s.says(1, pattern, args...)
	}
	for _, group := range [][]string{nil, {"audit"}, {"keys"}, {"config"}, {"rules"}} {
		s.says(0, "Available Commands:…", group...)
	}
	s.says(0, "--public-key NAME:BASE64 …\"gatehouse audit checkpoints --keys\" prints it", "audit", "verify", "--help")
}
