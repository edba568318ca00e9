package audit

import "context"

// Prune forgets what is due, for tests.
func (s *Service) Prune(ctx context.Context) error { return s.prune(ctx) }

// Cell shows a member as a cell, for tests.
func Cell(v string) string { return cell([]byte(v)) }

// Answering bounds an answer by n bytes, for tests.
func (s *Service) Answering(n int) { s.most = n }
