package http

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
)

// piece is a part of a description that may occur more than once: with its name as a
// component, and a function that replaces it by a reference.
type piece struct {
	name, text string
	value      any
	put        func(ref object)
}

// shared makes components of the pieces that occur more than once, so that the
// description stays small. If different pieces have the same name, the most frequent one
// gets it. The names of the others end in a hash of their content, so that they do not
// change when another piece does.
func shared(kind string, parts []piece) object {
	count, first := map[string]int{}, map[string]*piece{}
	for i := range parts {
		p := &parts[i]
		if count[p.text]++; first[p.text] == nil {
			first[p.text] = p
		}
	}
	out, names := object{}, map[string]string{}
	texts := slices.SortedFunc(maps.Keys(first), func(a, b string) int {
		return cmp.Or(cmp.Compare(first[a].name, first[b].name), cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
	for _, text := range texts {
		if count[text] < 2 {
			continue
		}
		name := first[text].name
		if _, taken := out[name]; taken {
			sum := fnv.New64a()
			_, _ = sum.Write([]byte(text)) // Write of a hash never fails
			name += fmt.Sprintf("-%x", sum.Sum64())
		}
		names[text], out[name] = name, first[text].value
	}
	for _, p := range parts {
		if name, ok := names[p.text]; ok {
			p.put(ref(kind, name))
		}
	}
	return out
}

// pieceOf returns a piece for a member of an object, or an entry of a list.
func pieceOf(name string, value any, put func(ref object)) piece {
	text, err := json.Marshal(value)
	if err != nil { // then encoding the whole description fails too, and that error is returned
		text = fmt.Appendf(nil, "%p", put)
	}
	return piece{strings.Map(plain, name), string(text), value, put}
}

// compact replaces repeated parts of operations by references: first the examples of
// errors, then the errors that contain them, and parameters.
func (d *describer) compact() (components object) {
	var examples, responses, parameters []piece
	for _, path := range slices.Sorted(maps.Keys(d.paths)) {
		item := d.paths[path].(object)
		for _, method := range slices.Sorted(maps.Keys(item)) {
			o := item[method].(object)
			replies, _ := o["responses"].(object)
			for _, status := range slices.Sorted(maps.Keys(replies)) {
				reply, _ := replies[status].(object)
				if status < "4" && status != "304" {
					continue
				}
				content, _ := reply["content"].(object)
				for _, media := range slices.Sorted(maps.Keys(content)) {
					examples = append(examples, examplesOf(media, content[media])...)
				}
				name := capital(d.surfaces[o["operationId"].(string)]) + status
				responses = append(responses, piece{name: name, value: reply, put: func(r object) { replies[status] = r }})
			}
			list, _ := o["parameters"].([]any)
			for i, p := range list {
				name, _ := p.(object)["name"].(string)
				parameters = append(parameters, pieceOf(name, p, func(r object) { list[i] = r }))
			}
		}
	}
	components = object{"examples": shared("examples", examples), "parameters": shared("parameters", parameters)}
	for i, r := range responses { // the examples in it are references by now
		responses[i] = pieceOf(r.name, r.value, r.put)
	}
	components["responses"] = shared("responses", responses)
	return components
}

func examplesOf(media string, content any) (out []piece) {
	all, _ := content.(object)["examples"].(object)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		as := name
		if media == problemType {
			as += "-problem"
		}
		out = append(out, pieceOf(as, all[name], func(r object) { all[name] = r }))
	}
	return out
}
