package outbound

import (
	"context"
	"errors"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/fetch"
)

// place is a repository: the URLs of its index and of the folder that locations are
// relative to.
type place struct{ index, root *url.URL }

// place returns the repository at a permitted URL. For "" it returns the default one,
// or the zero place if none is configured.
func (s *Examples) place(address string) (place, error) {
	if address == "" && len(s.Allowed) > 0 {
		address = s.Allowed[0]
	}
	if address == "" {
		return place{}, nil
	}
	u, err := url.Parse(address)
	if err != nil || !slices.Contains(s.Allowed, address) {
		return place{}, fault.New(fault.Invalid, codeIndex, "the address is not one of those permitted").Because(err)
	}
	root := *u
	root.RawQuery, root.Fragment = "", ""
	if path.Ext(u.Path) == ".json" {
		return place{index: u, root: root.JoinPath("..")}, nil
	}
	return place{index: root.JoinPath("repository.json"), root: &root}, nil
}

// index returns the entries of an index: a list, or lists by group.
func (s *Examples) index(ctx context.Context, from place) (out []*doc.Node, err error) {
	n, err := s.node(ctx, from.index)
	if err != nil {
		if errors.Is(err, notFound) {
			err = fault.New(fault.Invalid, codeIndex, "there is no index at the address")
		}
		return nil, err
	}
	groups := []*doc.Node{n.Get("examples")}
	for _, group := range n.Get("examples").Members() {
		groups = append(groups, group)
	}
	for _, group := range groups {
		for _, e := range group.Items() {
			if plain(e.Get("location").Text()) {
				out = append(out, e)
			}
		}
	}
	return out, nil
}

func (s *Examples) node(ctx context.Context, at *url.URL) (*doc.Node, error) {
	text, err := s.read(ctx, at)
	if err != nil {
		return nil, err
	}
	if err := doc.Check(text, maxDepth); err != nil {
		return nil, fault.New(fault.Invalid, codeIndex, "the repository holds a file that is not JSON").Because(err)
	}
	return doc.ParseNode(text)
}

// Status codes of responses.
const (
	statusOK       = 200
	statusNotFound = 404
)

func (s *Examples) read(ctx context.Context, at *url.URL) ([]byte, error) {
	answer, err := s.Fetcher.Fetch(ctx, fetch.Request{URL: at.String(), Trusted: true})
	switch {
	case err == nil && answer.Status == statusNotFound:
		return nil, notFound
	case err == nil && answer.Status != statusOK:
		return nil, fault.New(fault.Unavailable, codeFetch, "the repository answered with status %d", answer.Status)
	case err != nil:
		return nil, fault.New(fault.Unavailable, codeFetch, "the repository could not be read").Because(err)
	}
	return answer.Body, nil
}

// plain reports whether a name is a relative path that does not leave its folder.
func plain(name string) bool {
	return name != "" && name != "." && path.Clean("/"+name) == "/"+name && !strings.ContainsAny(name, "\\%?#")
}

// either returns the first of two members that is not empty.
func either(n *doc.Node, first, second string) string {
	if s := n.Get(first).Text(); s != "" {
		return s
	}
	return n.Get(second).Text()
}
