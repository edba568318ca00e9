package dashboard

import (
	"context"
	"fmt"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
)

// Created returns the identifiers of a policy that was made: those that the dashboard shows
// when the policy is read back, since it may keep no custom one. answer is what it has
// answered to the document that was sent.
func Created(ctx context.Context, d Policies, answer []byte, sent *doc.Node) (sync.Ref, error) {
	n, err := doc.ParseNode(answer)
	id := n.Get("Message").Text()
	if err != nil || id == "" {
		return Find(ctx, d, sent)
	}
	p, err := d.Policy(ctx, sync.Ref{ObjectID: id})
	return p.Ref(), err
}

// Find returns the identifiers of the policy that says all that was sent to make one. Names
// are unique at a dashboard, so there is one at most; the error is ErrGone without one.
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

// says reports whether a document says what another one does. It may say more, and say
// nothing for what is empty: dashboards fill in members and leave empty ones out.
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
