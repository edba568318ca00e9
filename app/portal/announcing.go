package portal

import "context"

// Announcing adds to hooks a function that runs after a write is stored.
func Announcing[T any](hooks Hooks[T], tell func(context.Context, *Change[T])) Hooks[T] {
	turn := hooks.Turn
	if turn == nil {
		turn = func(ctx context.Context, _ *Change[T], write func(context.Context) error) error {
			return write(ctx)
		}
	}
	hooks.Turn = func(ctx context.Context, c *Change[T], write func(context.Context) error) error {
		err := turn(ctx, c, write)
		if err == nil {
			tell(ctx, c)
		}
		return err
	}
	if hooks.Prepare == nil {
		hooks.Prepare = func(context.Context, *Change[T]) error { return nil }
	}
	return hooks
}
