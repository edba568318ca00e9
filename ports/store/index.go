package store

// Index derives searchable values.
type Index[T any] struct {
	Name   string
	Noun   string // in messages about a taken value: "ID"
	Unique bool
	Across bool // with Unique: across organisations
	Sorted bool // lists can be made in order of its values; a resource has at most one
	Values func(T) []string
}

// Unique makes an index of one value that no two resources share; a resource
// whose value is empty is not in it.
func Unique[T any](name, noun string, value func(T) string) Index[T] {
	ix := Lookup(name, value)
	ix.Noun, ix.Unique = noun, true
	return ix
}

// Lookup makes an index of one value that resources may share.
func Lookup[T any](name string, value func(T) string) Index[T] {
	return Index[T]{Name: name, Values: func(v T) []string {
		if s := value(v); s != "" {
			return []string{s}
		}
		return nil
	}}
}

// Sorted makes a Lookup by whose values lists can be ordered.
func Sorted[T any](name string, value func(T) string) Index[T] {
	ix := Lookup(name, value)
	ix.Sorted = true
	return ix
}
