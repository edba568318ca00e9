package dashboard

import (
	"context"
	"fmt"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
)

// Created returns the identifiers of a policy that was created. It reads the policy back,
// because a dashboard may drop a custom identifier. answer is the response to the document
// that was sent.
func Created(ctx context.Context, d Policies, answer []byte, sent *doc.Node) (sync.Ref, error) {
	n, err := doc.ParseNode(answer)
	id := n.Get("Message").Text()
	if err != nil || id == "" {
		return Find(ctx, d, sent)
	}
	p, err := d.Policy(ctx, sync.Ref{ObjectID: id})
	return p.Ref(), err
}

// Find returns the identifiers of the policy that has all members of a document that was sent.
// Names are unique in a dashboard, so at most one policy matches; without one the error is
// ErrGone.
func Find(ctx context.Context, d Policies, sent *doc.Node) (sync.Ref, error) {
	list, err := d.Policies(ctx)
	if err != nil {
		return sync.Ref{}, err
	}
	for _, n := range list {
		if says(n, sent) {
			return Policy{Document: n}.Ref(), nil
		}
	}
	return sync.Ref{}, fmt.Errorf("find the policy %s: %w", sent.Get("name").Text(), ErrGone)
}

// says reports whether n contains every value of want. n may contain more, and may lack a
// value that is empty in want: dashboards add members and leave empty ones out.
func says(n, want *doc.Node) bool {
	empty := n == nil || n.IsNull()
	switch {
	case want.Is(doc.TypeObject) && (empty || n.Is(doc.TypeObject)):
		for name, v := range want.Members() {
			if !says(n.Get(name), v) {
				return false
			}
		}
		return true
	case want.Is(doc.TypeArray) && n.Is(doc.TypeArray) && n.Len() == want.Len():
		for i, v := range want.Items() {
			if !says(n.Item(i), v) {
				return false
			}
		}
		return true
	case empty:
		return want.Len() == 0 && want.Text() == "" && want.Float() == 0 && !want.True()
	}
	return n.Equal(want)
}
