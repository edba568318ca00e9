package audit

import "context"

// Prune deletes old records, for tests.
func (s *Service) Prune(ctx context.Context) error { return s.prune(ctx) }

// Cell formats a field as a cell of a table, for tests.
func Cell(v string) string { return cell([]byte(v)) }

// Answering bounds a response to n bytes, for tests.
func (s *Service) Answering(n int) { s.most = n }
