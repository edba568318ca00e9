package sync

// Apply returns the state that steps lead to.
func Apply(s State, steps ...Step) State {
	policies, records := editor[Policy]{list: s.Policies, key: Policy.key}, editor[Record]{list: s.Records, key: Record.Key}
	policies.open()
	records.open()
	for _, step := range steps {
		switch step.Action {
		case Replace, Create:
			policies.put(step.Policy)
		case Remove:
			policies.remove(step.Policy)
		case Store:
			records.put(step.Record)
		case Forget:
			records.remove(step.Record)
		}
	}
	s.Policies, s.Records = policies.close(), records.close()
	return s
}

// editor changes a list by key.
type editor[T any] struct {
	list []T
	key  func(T) string
	at   map[string]int
	gone map[int]bool
}

func (e *editor[T]) open() {
	e.at, e.gone = make(map[string]int, len(e.list)), map[int]bool{}
	e.list = append([]T(nil), e.list...)
	for i, v := range e.list {
		e.at[e.key(v)] = i
	}
}

func (e *editor[T]) put(v T) {
	i, ok := e.at[e.key(v)]
	if !ok {
		e.at[e.key(v)] = len(e.list)
		e.list = append(e.list, v)
		return
	}
	e.list[i] = v
}

func (e *editor[T]) remove(v T) {
	if i, ok := e.at[e.key(v)]; ok {
		e.gone[i] = true
		delete(e.at, e.key(v))
	}
}

func (e *editor[T]) close() (out []T) {
	for i, v := range e.list {
		if !e.gone[i] {
			out = append(out, v)
		}
	}
	return out
}
