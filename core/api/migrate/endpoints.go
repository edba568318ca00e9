package migrate

import (
	"slices"

	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// splitMethodActions turns each entry of the three access lists into one entry
// per method. Entries without actions vanish; an action that is more than a mark
// becomes a mock response, unless there is one already (docs/wire/migration.md#method-actions).
func splitMethodActions(v *doc.Node) {
	paths := v.Get("extended_paths")
	mocks := paths.Get("mock_response").Items()
	had := len(mocks)
	for _, list := range []string{"ignored", "black_list", "white_list"} {
		if !paths.Get(list).Is(doc.TypeArray) {
			continue
		}
		entries := doc.NewArray()
		for _, entry := range paths.Get(list).Items() {
			actions := entry.Get("method_actions")
			methods := actions.Names()
			slices.Sort(methods)
			for _, method := range methods {
				one := entry.Clone()
				one.Set("method", doc.NewString(method))
				one.Delete("method_actions")
				entries.Append(one)
				if action := actions.Get(method); action.Get("action").Text() != "no_action" {
					mocks = mock(mocks, one, action)
				}
			}
		}
		paths.Set(list, entries)
	}
	if len(mocks) > had {
		paths.Set("mock_response", doc.NewArray(mocks...))
	}
}

// mock adds the response of an action to those of a version, unless the endpoint of its
// entry has one.
func mock(mocks []*doc.Node, entry, action *doc.Node) []*doc.Node {
	if slices.ContainsFunc(mocks, func(m *doc.Node) bool {
		return m.Get("path").Equal(entry.Get("path")) && m.Get("method").Equal(entry.Get("method"))
	}) {
		return mocks
	}
	m := doc.NewObject()
	m.Set("disabled", doc.NewBool(entry.Get("disabled").True() || action.Get("action").Text() != "reply"))
	m.Set("path", doc.NewString(entry.Get("path").Text()))
	m.Set("method", entry.Get("method"))
	m.Set("ignore_case", doc.NewBool(entry.Get("ignore_case").True()))
	m.Set("code", doc.NewInt(action.Get("code").Int()))
	m.Set("body", doc.NewString(action.Get("data").Text()))
	headers := doc.NewObject()
	for name, value := range action.Get("headers").Members() {
		headers.Set(name, value)
	}
	m.Set("headers", headers)
	return append(mocks, m)
}

// cacheTimeout is how long responses are kept when the API does not say it, in
// seconds.
const cacheTimeout = 60

// expandCacheList makes advanced cache entries out of the plain list of cached
// paths (docs/wire/migration.md#cache-list).
func expandCacheList(v, cache *doc.Node) {
	paths := v.Get("extended_paths")
	listed := paths.Get("cache").Texts()
	if !v.Get("use_extended_paths").True() || len(listed) == 0 {
		return
	}
	timeout := cache.Get("cache_timeout").Int()
	if timeout <= 0 {
		timeout = cacheTimeout
	}
	entries := doc.NewArray()
	for _, path := range listed {
		for _, method := range []string{"GET", "HEAD", "OPTIONS"} {
			e := doc.NewObject()
			e.Set("disabled", doc.NewBool(!cache.Get("enable_cache").True()))
			e.Set("method", doc.NewString(method))
			e.Set("path", doc.NewString(path))
			e.Set("timeout", doc.NewInt(timeout))
			if codes := cache.Get("cache_response_codes"); codes.Len() > 0 {
				e.Set("cache_response_codes", codes.Clone())
			}
			entries.Append(e)
		}
	}
	entries.Append(paths.Get("advance_cache_config").Items()...)
	paths.Set("advance_cache_config", entries)
	paths.Delete("cache")
}

func spell(object *doc.Node, name string) {
	if object.Is(doc.TypeObject) {
		object.Set(name, doc.NewString(oas.FormatDuration(oas.ParseDuration(object.Get(name).Text()))))
	}
}
