package migrate

import (
	"slices"

	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// splitMethodActions splits each entry of the three access lists into one entry per method.
// Entries without actions are removed. An action with a response becomes a mock response,
// unless there is one already (docs/wire/migration.md#method-actions).
func splitMethodActions(v *doc.Node) {
	paths := v.Get("extended_paths")
	mocks := answers{list: paths.Get("mock_response").Items(), of: map[string]bool{}}
	for _, m := range mocks.list {
		mocks.of[endpoint(m)] = true
	}
	had := len(mocks.list)
	for _, list := range accessLists {
		if !paths.Get(list).Is(doc.TypeArray) {
			continue
		}
		entries := doc.NewArray()
		for _, entry := range paths.Get(list).Items() {
			actions := entry.Get("method_actions")
			methods := actions.Names()
			slices.Sort(methods)
			bare := entry.Clone()
			bare.Delete("method_actions") // an entry may have thousands of actions: they are not copied each time
			for _, method := range methods {
				one := bare.Clone()
				one.Set("method", doc.NewString(method))
				entries.Append(one)
				if action := actions.Get(method); action.Get("action").Text() != "no_action" {
					mocks.add(one, action)
				}
			}
		}
		paths.Set(list, entries)
	}
	if len(mocks.list) > had {
		paths.Set("mock_response", doc.NewArray(mocks.list...))
	}
}

// accessLists are the endpoint lists with an action for each method in an entry.
var accessLists = []string{"ignored", "black_list", "white_list"}

// answers are the mock responses of a version, and the set of endpoints that have one.
type answers struct {
	list []*doc.Node
	of   map[string]bool
}

func endpoint(entry *doc.Node) string {
	return entry.Get("path").Canonical() + "\n" + entry.Get("method").Canonical()
}

// add adds the response of an action, unless the endpoint of entry has one.
func (a *answers) add(entry, action *doc.Node) {
	of := endpoint(entry)
	if a.of[of] {
		return
	}
	a.of[of] = true
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
	a.list = append(a.list, m)
}

// cacheTimeout is how long responses are cached when the API does not set it, in seconds.
const cacheTimeout = 60

// cachedMethods are the methods with responses that the plain list caches.
var cachedMethods = []string{"GET", "HEAD", "OPTIONS"}

// expandCacheList converts the plain list of cached paths to advanced cache entries
// (docs/wire/migration.md#cache-list).
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
		for _, method := range cachedMethods {
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

// repeats estimates how many bytes migration adds by repeating parts of a version: the
// response codes of the API for each cached path, and an endpoint's entry for each of its
// methods.
func repeats(def *doc.Node) (size int) {
	v := def.Get("version_data", "versions", "")
	paths := v.Get("extended_paths")
	if v.Get("use_extended_paths").True() {
		size = len(paths.Get("cache").Texts()) * len(cachedMethods) * def.Get("cache_options", "cache_response_codes").Weight(MaxRepeated)
	}
	for _, list := range accessLists {
		for _, entry := range paths.Get(list).Items() {
			for name, said := range entry.Members() {
				if name != "method_actions" {
					size += entry.Get("method_actions").Len() * said.Weight(MaxRepeated)
				}
			}
		}
	}
	return size
}

func spell(object *doc.Node, name string) {
	if object.Is(doc.TypeObject) {
		object.Set(name, doc.NewString(oas.FormatDuration(oas.ParseDuration(object.Get(name).Text()))))
	}
}
