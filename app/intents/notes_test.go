package intents_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// TestNotes states that the notes of a step survive when the process dies in the next
// step, and that an ID that another system chose is lost if the step does not have
// Notes.
func TestNotes(t *testing.T) {
	for noting, want := range map[bool]string{true: "chosen 1", false: "chosen 2"} {
		inWorld(t, func(w *world) {
			chosen := 0
			program := func(holder string) program {
				tools := crud.Tools{Store: w.db, Now: time.Now, Log: slog.New(slog.NewTextHandler(&w.log, nil)), PageSize: 10, NewID: func() string { w.ids++; return fmt.Sprintf("%024d", w.ids) }}
				p := program{Service: intents.New(intents.Settings{Holder: holder, Alone: true}, tools, w.keys)}
				p.put = intents.Add(p.Service, intents.Action[job]{Name: "things.choose", Plan: func(_ tenant.ID, d *job) intents.Plan {
					return intents.Plan{Steps: []intents.Step{
						{Name: "choose", Notes: noting, Do: func(context.Context) error {
							if d.Value == "" {
								chosen++
								d.Value = fmt.Sprint("chosen ", chosen)
							}
							return nil
						}},
						{Name: "use", Do: func(ctx context.Context) error {
							return w.shelf.call(ctx, "use", func() { w.shelf.things["a"] = d.Value })
						}},
					}, Told: func() any { return nil }}
				}})
				return p
			}
			w.shelf.faults(dying("use"), nil)
			func() {
				defer func() {
					if _, ok := recover().(died); !ok {
						t.Error("it did not die")
					}
				}()
				_ = program("one").put.Run(w.Context(), w.scope, about, &job{})
			}()
			w.shelf.faults(nil, nil)
			stop := w.start(program("two"))
			time.Sleep(5 * time.Second)
			stop()
			if have := w.shelf.things["a"]; have != want {
				t.Errorf("noting %t: %q, want %q", noting, have, want)
			}
		})
	}
}

// dying returns a function that panics before the call with a name.
func dying(name string) func(string) error {
	return func(call string) error {
		if call == name {
			panic(died{})
		}
		return nil
	}
}
